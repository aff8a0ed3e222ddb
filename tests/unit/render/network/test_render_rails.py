"""RoCE virtual functions with rail addresses: cases without an example environment, and plug-in configuration."""

from __future__ import annotations

import json
from typing import get_type_hints

import pytest

from components.render.manifest import Manifest
from components.render.network.rails import Attachment, Ipam, Plugin, Rails, block_of, gateway, render, subnet
from components.specs.base import Network
from components.specs.hosts.instance_types import InstanceType, RdmaSpec
from components.specs.struct import replace
from tests.support.data.small_region import changed
from tests.support.network.with_rails import CLUSTER, rails_of_reference


@pytest.fixture(scope="module")
def rails() -> Rails:
    return rails_of_reference()


def _of(kind: str, rails: Rails) -> list[Manifest]:
    return [item for item in render(rails, CLUSTER, "wisent") if item.kind == kind]


def test_each_rail_has_a_separate_subnet_and_all_objects_for_pods(rails: Rails) -> None:
    pools, attachments, policies = (
        _of(kind, rails) for kind in ("IPPool", "NetworkAttachmentDefinition", "SriovNetworkNodePolicy")
    )

    subnets = [Network(pool.body["spec"]["subnet"]) for pool in pools]
    assert len(set(subnets)) == len(subnets) == rails.fabric.rails
    assert all(one.subnet_of(rails.prefix) and one.prefixlen == subnets[0].prefixlen for one in subnets)
    for pool, attachment, policy in zip(pools, attachments, policies, strict=True):
        config = json.loads(attachment.body["spec"]["config"])
        assert config["plugins"][0]["ipam"]["poolName"] == pool.name == config["name"] == attachment.name
        resource = attachment.body["metadata"]["annotations"]["k8s.v1.cni.cncf.io/resourceName"]
        assert resource == f"nvidia.com/{policy.body['spec']['resourceName']}"
        assert policy.body["spec"]["mtu"] == 9000


def test_attachments_only_have_fields_of_their_plugins(rails: Rails) -> None:
    for attachment in _of("NetworkAttachmentDefinition", rails):
        config = json.loads(attachment.body["spec"]["config"])
        assert config.keys() == get_type_hints(Attachment).keys()
        for plugin in config["plugins"]:
            assert plugin.keys() <= get_type_hints(Plugin).keys()
            assert plugin.get("ipam", {}).keys() <= get_type_hints(Ipam).keys()
        assert [plugin["type"] for plugin in config["plugins"]] == ["sriov", "sbr", "rdma"]


def test_the_source_routing_plugin_is_installed_with_attachments_that_use_it(rails: Rails) -> None:
    [policy] = _of("NicClusterPolicy", rails)
    [older] = _of("NicClusterPolicy", replace(rails, cni_plugins=None))

    assert policy.body["spec"]["secondaryNetwork"]["cniPlugins"]["image"] == "cni-plugins"
    assert "cniPlugins" not in older.body["spec"]["secondaryNetwork"]
    for attachment in _of("NetworkAttachmentDefinition", replace(rails, cni_plugins=None)):
        plugins = json.loads(attachment.body["spec"]["config"])["plugins"]
        assert [plugin["type"] for plugin in plugins] == ["sriov", "rdma"]


def test_rdma_devices_are_kept_in_the_node_if_all_namespaces_share_them(rails: Rails) -> None:
    kinds = tuple(changed(kind, rdma=RdmaSpec()) for kind in rails.instance_types)

    for attachment in _of("NetworkAttachmentDefinition", replace(rails, instance_types=kinds)):
        plugins = json.loads(attachment.body["spec"]["config"])["plugins"]
        assert [plugin["type"] for plugin in plugins] == ["sriov", "sbr"]


def test_a_type_with_fewer_ports_is_on_the_first_rails_only(rails: Rails) -> None:
    [kind] = rails.instance_types
    narrow = changed(kind, name="narrow", roce_ports=2, roce_interfaces=kind.roce_interfaces[:2])

    pools = _of("IPPool", replace(rails, instance_types=(kind, narrow)))

    named = [
        pool.body["spec"]["nodeSelector"]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"] for pool in pools
    ]
    assert named == [[kind.name, "narrow"]] * 2 + [[kind.name]] * 6
    assert len(_of("SriovNetworkNodePolicy", replace(rails, instance_types=(kind, narrow)))) == 10


@pytest.mark.parametrize(("functions", "block"), [(1, 4), (4, 4), (5, 8), (16, 16), (33, 64)])
@pytest.mark.parametrize("length", [22, 25])
def test_the_gateway_is_in_no_block_of_a_node(rails: Rails, functions: int, block: int, length: int) -> None:
    kind: InstanceType = changed(
        rails.instance_types[0], dpu=changed(rails.instance_types[0].dpu, virtual_functions=functions)
    )
    assert block_of([kind]) == block

    addresses = subnet(Network(f"10.0.0.0/{length - 3}"), 8, 5)
    # The IPAM allocates blocks from the first address on, and none that contains the broadcast address.
    blocks = (addresses.num_addresses - 2) // block

    assert addresses.prefixlen == length
    assert int(gateway(addresses)) > int(addresses.network_address) + blocks * block
    assert blocks == addresses.num_addresses // block - 1
