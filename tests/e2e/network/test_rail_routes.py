"""Rail selection of packets from a pod, by the kernel's routing with routes that plug-ins create for rendered objects.

The test implements the plug-ins from their sources: nv-ipam and sriov-cni (containernetworking/plugins:pkg/ipam and
vishvananda/netlink, which adds a route before equal ones), and sbr (containernetworking/plugins:plugins/meta/sbr).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from components.render.network.rails import Rails, render
from components.specs.base import Address, Network
from components.specs.struct import replace
from tests.support.machine.namespaces import Namespace
from tests.support.network.with_rails import CLUSTER, rails_of_reference

pytestmark = pytest.mark.e2e
_FIRST_TABLE = 100


@dataclass(frozen=True)
class Interface:
    """A rail in a pod: the result of nv-ipam, and the chained plug-ins."""

    name: str
    subnet: Network
    gateway: Address
    routes: tuple[Network, ...]
    plugins: list[dict[str, Any]]

    @property
    def address(self) -> Address:
        return self.subnet[5]

    @property
    def neighbour(self) -> Address:
        """Return an address on the rail of another node."""
        return self.subnet[9]


@pytest.fixture(scope="module")
def rails() -> Rails:
    return rails_of_reference()


@pytest.fixture
def pod() -> Iterator[Namespace]:
    space = Namespace("ip link add eth0 type veth peer name cluster && ip link set eth0 up && ip link set cluster up")
    space.ip("address add 10.64.0.5/24 dev eth0")
    space.ip("route add default via 10.64.0.1 dev eth0")
    yield space
    space.close()


def _interfaces(rails: Rails) -> list[Interface]:
    items = render(rails, CLUSTER, "wisent")
    configs = [json.loads(one.body["spec"]["config"]) for one in items if one.kind == "NetworkAttachmentDefinition"]
    pools = [one.body["spec"] for one in items if one.kind == "IPPool"]
    return [
        Interface(
            name=f"net{index}",
            subnet=Network(pool["subnet"]),
            gateway=Address(pool["gateway"]),
            routes=tuple(Network(route["dst"]) for route in pool["routes"]),
            plugins=config["plugins"],
        )
        for index, (pool, config) in enumerate(zip(pools, configs, strict=True), start=1)
    ]


def _attach(pod: Namespace, one: Interface, *, knows_hints: bool) -> None:
    pod.ip(f"link add {one.name} type veth peer name peer-{one.name}")
    for port in (one.name, f"peer-{one.name}"):
        pod.ip(f"link set {port} up")
    pod.ip(f"address add {one.address}/{one.subnet.prefixlen} dev {one.name}")
    for route in one.routes:
        pod.ip(f"route prepend {route} via {one.gateway} dev {one.name}")
    for plugin in one.plugins:
        if plugin["type"] == "sbr":
            _route_by_source(pod, one, hints=knows_hints and plugin.get("addSourceHints", False))


def _route_by_source(pod: Namespace, one: Interface, *, hints: bool) -> None:
    table = _FIRST_TABLE + int(one.name.removeprefix("net"))
    pod.ip(f"rule add from {one.address}/32 table {table}")
    pod.ip(f"route add default via {one.gateway} dev {one.name} table {table}")
    pod.ip(f"route replace {one.subnet} dev {one.name} scope link table {table}")
    for route in one.routes:
        pod.ip(f"route replace {route} via {one.gateway} dev {one.name} table {table}")
        pod.ip(f"route del {route} via {one.gateway} dev {one.name}")
    pod.ip(f"route del {one.subnet} dev {one.name}")
    if hints:
        pod.ip(f"route add {one.subnet} dev {one.name} scope link src {one.address}")


def _way(pod: Namespace, target: Address, source: Address | None = None) -> dict[str, Any]:
    words = ("ip", "-json", "route", "get", str(target), *(("from", str(source)) if source else ()))
    done = pod.run(*words)
    assert done.returncode == 0, done.stderr
    [found] = json.loads(done.stdout)
    return dict(found)


@pytest.mark.parametrize("knows_hints", [True, False])
def test_packets_with_a_rails_address_use_that_rail(rails: Rails, pod: Namespace, *, knows_hints: bool) -> None:
    every = _interfaces(rails)
    for one in every:
        _attach(pod, one, knows_hints=knows_hints)

    for one in every:
        for other in every:
            way = _way(pod, other.neighbour, one.address)
            assert way["dev"] == one.name
            assert way.get("gateway") == (None if one is other else str(one.gateway))
        # Packets of an unbound socket use the rail of their target; up to v1.9.1 of sbr, the cluster's network.
        assert _way(pod, one.neighbour)["dev"] == (one.name if knows_hints else "eth0")
    assert _way(pod, Address("10.64.9.9"))["dev"] == "eth0"


def test_without_the_plugin_all_packets_use_the_last_rail(rails: Rails, pod: Namespace) -> None:
    every = _interfaces(replace(rails, cni_plugins=None))
    for one in every:
        _attach(pod, one, knows_hints=False)

    far = rails.fabric.rail_prefixes
    assert far is not None
    assert {_way(pod, far[-9], one.address)["dev"] for one in every} == {every[-1].name}
