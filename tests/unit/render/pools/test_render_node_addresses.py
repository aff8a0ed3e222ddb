"""A host's address is the same in its DPU, node and kubelet configuration."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.hosts.inventory import dpu_name
from components.render.manifest import Manifest
from components.render.pools.node_templates import data_template_name
from components.render.pools.template_revision_1 import build
from components.specs.environment import Environment
from components.specs.network.node_addresses import NodeNetwork
from components.specs.reading.loader import load_environment
from components.specs.struct import replace
from jacquard.machine import paths
from tests.support.changes.node_intents import INTENT

NETWORK = NodeNetwork(
    interface="enp1s0f0np0", mtu_bytes=9158, dns=(IPv4Address("10.2.0.53"),), ntp=(IPv4Address("10.2.0.123"),)
)
ADDRESSED = replace(INTENT, network=NETWORK)
"""Nodes with allocated addresses."""


@pytest.fixture(scope="module")
def lab() -> Environment:
    """Return environment lab, whose region allocates addresses."""
    return load_environment("lab", paths.ROOT / "environments")


def of_kind(environment: Environment, kind: str) -> list[Manifest]:
    return [item for item in everything(environment) if isinstance(item, Manifest) and item.kind == kind]


def test_dpus_and_nodes_get_the_same_link_of_each_host(lab: Environment) -> None:
    [links] = [item.body["spec"]["ipv4Network"] for item in of_kind(lab, "DPUServiceIPAM") if item.name != "loopback"]
    addresses: dict[str, tuple[str, str]] = {}
    for pool in of_kind(lab, "IPPool"):
        gateways = {part["start"]: part["gateway"] for part in pool.body["spec"]["pools"]}
        for claim, address in pool.body["spec"]["preAllocations"].items():
            addresses[claim.removesuffix(f"-{pool.name}")] = (address, gateways[address])

    assert addresses.keys() == lab.allocations.hosts.keys()
    for host in lab.hosts:
        if host.host in addresses:
            link = IPv4Network(links["allocations"][dpu_name(host)])
            assert addresses[host.host] == (str(link[2]), str(link[links["gatewayIndex"]]))


def test_each_address_pool_has_exactly_the_hosts_of_its_pool(lab: Environment) -> None:
    for pool in of_kind(lab, "IPPool"):
        spec, key = pool.body["spec"], f"{pool.namespace}/{pool.body['metadata']['labels']['jacquard.dev/pool']}"

        hosts = {claim.removesuffix(f"-{pool.name}") for claim in spec["preAllocations"]}
        assert hosts == {host for host, owner in lab.allocations.hosts.items() if owner == key}
        assert [part["start"] for part in spec["pools"]] == [part["end"] for part in spec["pools"]]
        assert sorted(part["start"] for part in spec["pools"]) == sorted(spec["preAllocations"].values())


def test_an_unpromoted_pool_gets_no_addresses_yet(lab: Environment) -> None:
    pins = lab.image_pins
    unaddressed = {
        name: intent.model_copy(update={"network": None}) if intent.image.startswith("cpu-") else intent
        for name, intent in pins.intents.items()
    }
    older = lab.model_copy(update={"image_pins": pins.model_copy(update={"intents": unaddressed})})
    named = {item.name: at(item, "dataTemplate") for item in of_kind(older, "Metal3MachineTemplate")}
    [data] = of_kind(older, "Metal3DataTemplate")

    assert {name: value for name, value in named.items() if value} == {
        next(name for name in named if "-h100-" in name): {"name": data.name}
    }


def at(template: Manifest, key: str) -> Any:
    return template.body["spec"]["template"]["spec"].get(key)


def test_a_node_gets_address_gateway_and_name_servers_and_its_kubelet_the_address() -> None:
    before, after = build(INTENT), build(ADDRESSED)
    assert before.data is None
    assert after.data is not None
    machine, bootstrap = after.machine["template"]["spec"], after.bootstrap["template"]["spec"]
    [metadata] = after.data["metaData"]["ipAddressesFromPool"]
    [network] = after.data["networkData"]["networks"]["ipv4"]
    [link] = after.data["networkData"]["links"]["ethernets"]

    name = data_template_name("acme-train", "train", after.data)
    assert machine == {**before.machine["template"]["spec"], "dataTemplate": {"name": name}}
    assert bootstrap["ntp"] == {"enabled": True, "servers": ["10.2.0.123"]}
    registration = before.bootstrap["template"]["spec"]["joinConfiguration"]["nodeRegistration"]
    assert bootstrap["joinConfiguration"]["nodeRegistration"]["kubeletExtraArgs"] == [
        *registration["kubeletExtraArgs"],
        {"name": "node-ip", "value": f"{{{{ ds.meta_data.{metadata['key']} }}}}"},
    ]
    assert (link["macAddress"], link["mtu"]) == ({"fromHostInterface": "enp1s0f0np0"}, 9000)
    assert network["link"] == link["id"]
    assert {metadata["name"], network["ipAddressFromIPPool"], network["routes"][0]["gateway"]["fromIPPool"]} == {
        "acme-train-train"
    }
    assert after.data["networkData"]["services"] == {"dns": ["10.2.0.53"]}


def test_groups_of_a_pool_have_one_data_template_and_pools_have_their_own() -> None:
    built = {
        (pool, domain): build(replace(ADDRESSED, pool=pool, failure_domain=domain)).data
        for pool in ("train", "infer")
        for domain in ("a01", "a02")
    }

    assert built["train", "a01"] == built["train", "a02"] != built["infer", "a01"] == built["infer", "a02"]
