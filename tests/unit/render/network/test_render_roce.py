"""RDMA devices of RoCE ports, shared by pods with the host network."""

from __future__ import annotations

import json

import pytest

from components.inputs.slice_inputs import inputs
from components.lookups.charts import needed_charts
from components.lookups.slices import slices
from components.render.network.tenant_network import TenantNetworkInput
from components.reports.offerings import offerings
from components.specs.environment import Environment
from components.specs.struct import replace
from tests.support.network.on_roce import NAME, sharing_roce


@pytest.fixture(scope="module")
def region() -> Environment:
    return sharing_roce()


@pytest.fixture(scope="module")
def network(region: Environment) -> TenantNetworkInput:
    every = (item for part in slices(region) for item in inputs(region, part))
    [found] = [one for one in every if isinstance(one, TenantNetworkInput) and one.cluster == "solstice-lab"]
    return found


def test_a_cluster_that_shares_ports_has_the_device_plugin(region: Environment, network: TenantNetworkInput) -> None:
    *_, namespace, release, policy = network.render()

    assert [item.kind for item in (namespace, release, policy)] == ["Namespace", "HelmRelease", "NicNodePolicy"]
    assert (policy.name, policy.cluster) == ("h100-eth-8", "solstice-lab")
    plugin = policy.body["spec"]["rdmaSharedDevicePlugin"]
    assert "{repository}/{image}@{version}".format(**plugin) == str(region.versions.tool(NAME))
    [resource] = json.loads(plugin["config"])["configList"]
    assert resource["selectors"] == {"vendors": ["15b3"], "deviceIDs": ["1021"], "linkTypes": ["ether"]}
    assert "network-operator" in needed_charts(region)
    [offer] = [one for one in offerings(region).rdma if one.cluster == "solstice-lab"]
    assert offer.resource == f"{resource['resourcePrefix']}/{resource['resourceName']}"
    assert (offer.host_network, offer.networks, offer.ports) == (True, None, 8)


def test_an_operator_installed_for_infiniband_is_not_installed_twice(network: TenantNetworkInput) -> None:
    assert network.roce is not None
    beside = replace(network, roce=replace(network.roce, has_operator=True))

    assert [item.kind for item in network.render() if item not in beside.render()] == ["Namespace", "HelmRelease"]
