"""No host can announce another host's address or a default route, from the HBN configuration of arbitrary tenants."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from ipaddress import IPv4Network
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from components.allocate.allocation import allocate
from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.network.tenant_network import TenantNetworkInput
from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.network.tenant_network import Ingress, Isolation
from components.specs.reading.loader import load_environment
from components.specs.region.tenant import TenantSpec
from tests.support.data.environment_data import ENVIRONMENTS

_TENANTS = ("ant", "bee", "cat")
_EMPTY = {"allocations": AllocationsLock(schema_version=1), "image_pins": ImagesLock(schema_version=1)}
ANYWHERE = IPv4Network("0.0.0.0/0")
REGION_WIDE = ("management", "bmc", "storage", "tenants", "control_plane_vips", "dpu_loopbacks")

tenants = st.fixed_dictionaries(
    {name: st.tuples(st.integers(18, 24), st.sampled_from(list(Ingress)), st.integers(0, 2)) for name in _TENANTS}
)
"""Pod prefix length, ingress, and VMs with a public address, by tenant."""


@cache
def _laptop() -> Environment:
    return load_environment("laptop", ENVIRONMENTS)


def _region(order: dict[str, tuple[int, Ingress, int]]) -> Environment:
    made = tuple(_tenant(name, *wish) for name, wish in order.items())
    region = _laptop().model_copy(update=_EMPTY | {"tenants": made})
    numbers, pins = allocate(region)
    return region.model_copy(update={"allocations": numbers, "image_pins": pins})


def _tenant(name: str, pods: int, ingress: Ingress, addresses: int) -> TenantSpec:
    model = next(one for one in _laptop().tenants if one.vms and one.vms.platform)
    vpc, cluster, vms = model.vpcs[0], model.clusters[0], model.vms
    assert vms is not None
    changes: dict[str, Any] = {"name": name, "pods": pods, "ingress": ingress, "isolation": Isolation.DPF_HBN}
    pool = cluster.pools[0].model_copy(update={"nodes": 1, "labels": {}})
    machine = vms.platform[0].model_copy(update={"public_ip": True})
    machines = tuple(machine.model_copy(update={"name": f"vm-{number}"}) for number in range(addresses))
    return model.model_copy(
        update={
            "tenant": name,
            "vpcs": (vpc.model_copy(update=changes),),
            "clusters": (cluster.model_copy(update={"name": f"{name}-one", "vpc": name, "pools": (pool,)}),),
            "vms": vms.model_copy(update={"cluster": f"{name}-one", "platform": machines}),
        }
    )


def _loaded(environment: Environment) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the settings that HBN loads on DPUs of each VPC, with its name."""
    concepts = (item for part in slices(environment) for item in inputs(environment, part))
    for concept in concepts:
        for item in concept.render() if isinstance(concept, TenantNetworkInput) else ():
            if item.kind == "DPUServiceConfiguration":
                text = item.body["spec"]["serviceConfiguration"]["helmChart"]["values"]["configuration"][
                    "startupYAMLJ2"
                ]
                yield concept.vpc.spec.name, yaml.safe_load(re.sub(r"\{\{.*?\}\}", "X", text))[1]["set"]


def _takes(settings: dict[str, Any], vpc: str, route: IPv4Network) -> bool:
    """Return whether a DPU accepts ``route`` from its host by FRR's semantics of prefix lists: the first match decides.

    A neighbor without a route map accepts everything; with a route map, only routes that a rule permits. A list denies
    routes that match no rule. A rule matches its prefix; with ``le``, it also matches contained prefixes up to that
    length.
    """
    bgp = settings["vrf"][vpc]["router"]["bgp"]
    taken = []
    for neighbor in bgp["neighbor"].values():
        group = bgp["peer-group"][neighbor["peer-group"]]
        families = {**group, **neighbor}.get("address-family", {})
        chosen = families.get("ipv4-unicast", {}).get("policy", {}).get("inbound", {}).get("route-map")
        if chosen is None:
            return True
        policies = settings["router"]["policy"]
        for rule in policies["route-map"][chosen]["rule"].values():
            assert set(rule["action"]) == {"permit"}
            listed = policies["prefix-list"][rule["match"]["ip-prefix-list"]]["rule"]
            taken.append(_passes(listed, route))
    return any(taken)


def _passes(rules: dict[str, Any], route: IPv4Network) -> bool:
    for _, rule in sorted(rules.items(), key=lambda item: int(item[0])):
        for prefix, lengths in rule["match"].items():
            network = IPv4Network(prefix)
            longest = lengths.get("max-prefix-len", network.prefixlen)
            if route.subnet_of(network) and route.prefixlen <= longest:
                return bool(rule["action"] == "permit")
    return False


def _inside(environment: Environment, vpc: str) -> list[IPv4Network]:
    numbers = environment.allocations.vpcs[vpc]
    return [numbers.pods, numbers.services, numbers.load_balancers]


def _public(environment: Environment, vpc: str) -> list[IPv4Network]:
    addresses = environment.allocations.public_ips.items()
    return [IPv4Network(address) for key, address in addresses if key.startswith(f"{vpc}-one/")]


def _around(network: IPv4Network) -> Iterator[IPv4Network]:
    """Yield ``network``, its supernet, its halves, and its first and last address."""
    yield network
    if network.prefixlen:
        yield network.supernet()
    if network.prefixlen < 32:
        yield from network.subnets()
    yield from (IPv4Network(address) for address in (network[0], network[-1]))


@given(tenants)
@settings(max_examples=60)
def test_no_host_announces_anothers_address_or_a_default_route(order: dict[str, tuple[int, Ingress, int]]) -> None:
    environment = _region(order)
    networks = environment.region.networks
    every = [network for vpc in order for network in (*_inside(environment, vpc), *_public(environment, vpc))]
    links = [environment.allocations.vpcs[vpc].hosts for vpc in order]
    region_wide = [getattr(networks, name) for name in REGION_WIDE] + [*networks.public]
    routes = [route for network in (*every, *links, *region_wide) for route in _around(network)]
    loaded = dict(_loaded(environment))
    for vpc, (_, ingress, _) in order.items():
        own = _inside(environment, vpc) + (_public(environment, vpc) if ingress is Ingress.PUBLIC else [])
        taken = [route for route in (ANYWHERE, *routes) if _takes(loaded[vpc], vpc, route)]
        assert taken == [route for route in routes if any(route.subnet_of(one) for one in own)]
        assert {*own} <= {*taken}
