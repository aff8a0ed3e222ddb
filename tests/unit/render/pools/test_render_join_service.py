"""Prerequisites for joining of nodes that boot an ISO."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from components.render.manifest import MANAGEMENT, Manifest
from components.render.pools.join_service import HostIdentity
from components.render.pools.node_pool import NodePoolInput
from components.render.region.region import RegionInput
from components.specs.pools.nodes import JoinServiceSpec
from components.specs.region.catalog import BootMode
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import replace
from policies.facts import Context, object_fact
from policies.rules.access.escalating_role import find
from policies.verdict import PASS
from tests.support.data.pools import of_kind

IMAGE = f"registry.cloud.example/join@sha256:{'a' * 64}"
SERVICE = JoinServiceSpec.model_validate({"image": IMAGE, "address": "10.0.0.40"})
HOST = HostIdentity(host="a01-u01", boot_mac="80:c1:00:00:01:01", dpu_serial="MT2426X00101")


@pytest.fixture
def diskless(pool: NodePoolInput) -> NodePoolInput:
    """Return a pool whose first group boots an ISO."""
    first, *others = pool.groups
    iso = first.intent.model_copy(update={"boot": BootMode.LIVE_ISO})
    return replace(pool, groups=(replace(first, intent=iso, hosts=(HOST,)), *others))


def on_k0s(pool: NodePoolInput) -> NodePoolInput:
    moved = {"control_planes": ControlPlaneBackend.K0SMOTRON}
    groups = (replace(group, intent=group.intent.model_copy(update=moved)) for group in pool.groups)
    return replace(pool, groups=tuple(groups))


def test_the_service_gets_the_hosts_of_each_group_and_the_token_source(diskless: NodePoolInput) -> None:
    [contract] = of_kind(diskless, "ConfigMap")

    assert (contract.namespace, contract.name) == ("acme-train", "acme-train-train-a01-join")
    assert contract.body["metadata"]["labels"]["jacquard.dev/join-contract"] == "1"
    assert {key: value for key, value in contract.body["data"].items() if key != "hosts.json"} == {
        "join": "kubeadm",
        "kubeconfigSecret": "acme-train-kubeconfig",
    }
    assert json.loads(contract.body["data"]["hosts.json"]) == {
        "a01-u01": {"bootMac": "80:c1:00:00:01:01", "dpuSerial": "MT2426X00101"}
    }


def test_nodes_of_k0s_join_as_such(diskless: NodePoolInput) -> None:
    [contract] = of_kind(on_k0s(diskless), "ConfigMap")

    assert contract.body["data"]["join"] == "k0s"


def test_the_role_of_the_service_passes_the_policy_of_roles(diskless: NodePoolInput) -> None:
    [role] = of_kind(diskless, "Role")
    context = Context(stack="laptop", now=dt.datetime(2026, 12, 1, tzinfo=dt.UTC))

    assert find(object_fact(role.body, MANAGEMENT), context) == PASS


def test_the_service_may_read_a_pool_and_one_secret_of_its_cluster(diskless: NodePoolInput) -> None:
    [role], [binding] = of_kind(diskless, "Role"), of_kind(diskless, "RoleBinding")
    secrets = [rule for rule in role.body["rules"] if "secrets" in rule["resources"]]

    assert secrets == [
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["acme-train-kubeconfig"], "verbs": ["get"]}
    ]
    assert {verb for rule in role.body["rules"] for verb in rule["verbs"]} == {"get", "list", "watch"}
    assert binding.body["subjects"] == [{"kind": "ServiceAccount", "name": "join-service", "namespace": "join-service"}]
    assert binding.body["roleRef"]["name"] == role.name


def test_the_region_runs_the_image_it_names_at_its_address(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    nodes = region.spec.nodes.model_copy(update={"join_service": SERVICE})
    added = found(replace(region, spec=region.spec.model_copy(update={"nodes": nodes})))

    assert found(region) == {}
    assert set(added) == {"Namespace", "ServiceAccount", "IPAddressPool", "L2Advertisement", "Service", "Deployment"}
    assert added["IPAddressPool"].body["spec"]["addresses"] == ["10.0.0.40/32"]
    assert added["Service"].body["metadata"]["annotations"]["metallb.io/loadBalancerIPs"] == "10.0.0.40"
    pod = added["Deployment"].body["spec"]["template"]
    assert [container["image"] for container in pod["spec"]["containers"]] == [IMAGE]
    assert added["Service"].body["spec"]["selector"].items() <= pod["metadata"]["labels"].items()


def found(region: RegionInput) -> dict[str, Manifest]:
    return {item.kind: item for item in region.render() if item.name == "join-service"}
