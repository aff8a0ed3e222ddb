"""The address plan of a region, and the numbers taken from it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from components.plan.allocation import prefixes
from components.plan.pools import problem, tenant_file
from components.plan.rules.references import REGION
from components.specs.base import Network
from components.specs.environment import Environment
from components.specs.loader import ALLOCATIONS
from components.specs.problems import Problem
from components.specs.storage import NfsClassSpec
from components.specs.tenant_network import Isolation

MAX_VNI = 16_777_215
MAX_ASN = 4_294_967_295
TWO_BYTES = 65_535
SERVICE_PREFIXES = range(12, 29)
"""Kubernetes takes none wider than /12; a narrower one than /28 has no tenth address for the cluster's DNS."""


def networks_disjoint(environment: Environment) -> Iterator[Problem]:
    """Report networks of a region that overlap."""
    networks = environment.region.networks
    single = ("management", "bmc", "storage", "control_plane_vips", "dpu_loopbacks", "tenants")
    named: list[tuple[tuple[str | int, ...], str, Network]] = [
        (("networks", key), f"networks.{key}", getattr(networks, key)) for key in single
    ]
    for index, network in enumerate(networks.public):
        named.append((("networks", "public", index), f"networks.public[{index}]", network))
    for (other_path, other, first), (path, _, second) in combinations(named, 2):
        if first.overlaps(second):
            line = environment.positions.line(REGION, other_path)
            text = (
                f"{second} overlaps {other} ({first}, {REGION}:{line}); networks of a region must be disjoint, move one"
            )
            yield problem(environment, REGION, path, text)


def number_ranges(environment: Environment) -> Iterator[Problem]:
    """Report ranges beyond what the protocols can count."""
    networks = environment.region.networks
    vnis = (MAX_VNI, "the VNIs there are")
    if networks.asn.last > TWO_BYTES:
        vnis = (TWO_BYTES, "the VNIs that a route target has room for beside an ASN of four bytes")
    for key, most, what in (("vni", *vnis), ("asn", MAX_ASN, "the ASNs there are")):
        numbers = getattr(networks, key)
        if numbers.first < 1 or numbers.last > most:
            text = f"{numbers} leaves 1-{most}, {what}; write a range within"
            yield problem(environment, REGION, ("networks", key), text)


def asn_capacity(environment: Environment) -> Iterator[Problem]:
    """Report too few ASNs: VPCs take them from the first upwards, DPUs from the last downwards by their loopback."""
    networks = environment.region.networks
    asns, vpcs = networks.asn, sum(len(tenant.vpcs) for tenant in environment.tenants)
    count, needed = asns.last - asns.first + 1, networks.dpu_loopbacks.num_addresses + vpcs
    if count < needed:
        text = (
            f"{asns} has {count} numbers, {needed} are needed: one for each address of networks.dpu_loopbacks"
            f" ({networks.dpu_loopbacks}) and each of {vpcs} VPCs; write a wider range"
        )
        yield problem(environment, REGION, ("networks", "asn"), text)


def service_prefixes(environment: Environment) -> Iterator[Problem]:
    """Report prefixes that Kubernetes cannot number services from."""
    widest, narrowest = SERVICE_PREFIXES[0], SERVICE_PREFIXES[-1]
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            if vpc.services not in SERVICE_PREFIXES:
                text = f"/{vpc.services} is no size for services; write one from /{widest} to /{narrowest}"
                yield problem(environment, tenant_file(tenant), ("vpcs", index, "services"), text)


def loopbacks(environment: Environment) -> Iterator[Problem]:
    """Report a loopback network with fewer addresses than DPUs."""
    network, count = environment.region.networks.dpu_loopbacks, len(environment.hosts)
    usable = max(0, network.num_addresses - 2)
    if usable < count:
        text = f"{network} has {usable} addresses for {count} DPUs; write a wider prefix"
        yield problem(environment, REGION, ("networks", "dpu_loopbacks"), text)


def service_addresses(environment: Environment) -> Iterator[Problem]:
    """Report addresses of shared services that two have, or outside the network they are reached through."""
    region = environment.region
    management, storage = region.networks.management, region.networks.storage
    first: dict[object, str] = {}
    for key in ("vip", "ovn_central", "management_api"):
        address = getattr(region.dpus, key)
        if address and address not in management:
            text = f"{address} is outside networks.management ({management}); pick an address in it"
            yield problem(environment, REGION, ("dpus", key), text)
        if address and first.setdefault(address, key) != key:
            text = f"{address} is also dpus.{first[address]}; pick another address"
            yield problem(environment, REGION, ("dpus", key), text)
    for index, entry in enumerate(region.storage):
        server = entry.server if isinstance(entry, NfsClassSpec) else None
        if isinstance(server, ipaddress.IPv4Address) and server not in storage:
            text = f"{server} is outside networks.storage ({storage}); pick an address in it"
            yield problem(environment, REGION, ("storage", index, "server"), text)


def ovn_central(environment: Environment) -> Iterator[Problem]:
    """Report VPCs on OVN in a region that has no OVN database."""
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            if vpc.isolation is Isolation.DPF_OVN and environment.region.dpus.ovn_central is None:
                line = environment.positions.line(REGION, ("dpus",))
                text = f"{vpc.isolation} needs dpus.ovn_central in {REGION}:{line}; add it there or write dpf-hbn"
                yield problem(environment, tenant_file(tenant), ("vpcs", index, "isolation"), text)


def vpc_prefixes(environment: Environment) -> Iterator[Problem]:
    """Report allocated prefixes outside the tenants' network, and such that overlap."""
    tenants = environment.region.networks.tenants
    seen: list[tuple[str, Network]] = []
    for name, vpc in environment.allocations.vpcs.items():
        for key, network in prefixes(vpc).items():
            path = ("vpcs", name, key)
            if not network.subnet_of(tenants):
                text = f"{network} is outside networks.tenants ({tenants}); {_redo(environment, f'vpcs.{name}')}"
                yield problem(environment, ALLOCATIONS, path, text)
            for other, taken in seen:
                if network.overlaps(taken):
                    text = f"{network} overlaps vpcs.{other} ({taken}); {_redo(environment, f'vpcs.{name}')}"
                    yield problem(environment, ALLOCATIONS, path, text)
            seen.append((f"{name}.{key}", network))


def vpc_sizes(environment: Environment) -> Iterator[Problem]:
    """Report a size that was edited after its prefix had been given."""
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            given = environment.allocations.vpcs.get(vpc.name)
            for key, network in prefixes(given).items() if given else ():
                wanted: int = getattr(vpc, key)
                if wanted != network.prefixlen:
                    line = environment.positions.line(ALLOCATIONS, ("vpcs", vpc.name))
                    text = (
                        f"/{wanted} wanted, {network} is given ({ALLOCATIONS}:{line}) and a VPC keeps its prefixes;"
                        f" write /{network.prefixlen}, or move to a new VPC"
                    )
                    yield problem(environment, tenant_file(tenant), ("vpcs", index, key), text)


def numbers_unique(environment: Environment) -> Iterator[Problem]:
    """Report numbers and addresses in lock files that are out of range or given twice."""
    used: dict[tuple[str, object], str] = {}
    for kind, path, number in _given(environment):
        allowed = getattr(environment.region.networks, kind)
        entry = ".".join(path[:2])
        again = _redo(environment, entry)
        if not any(number in part for part in (allowed if isinstance(allowed, tuple) else (allowed,))):
            size = ", ".join(map(str, allowed)) if isinstance(allowed, tuple) else allowed
            line = environment.positions.line(REGION, ("networks", kind))
            text = (
                f"{number} is outside networks.{kind} ({size or 'empty'}, {REGION}:{line}); widen it there, or {again}"
            )
            yield problem(environment, ALLOCATIONS, path, text)
        if (kind, number) in used:
            yield problem(environment, ALLOCATIONS, path, f"{number} is also given to {used[kind, number]}; {again}")
        used.setdefault((kind, number), path[1])


def _given(environment: Environment) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Yield the key of the range, the path in the lock file and the number of all that is given."""
    lock = environment.allocations
    for name, vpc in lock.vpcs.items():
        yield "vni", ("vpcs", name, "vni"), vpc.vni
        yield "asn", ("vpcs", name, "asn"), vpc.asn
    for name, cluster in lock.clusters.items():
        yield "control_plane_vips", ("clusters", name, "vip"), cluster.vip
    for name, address in lock.public_ips.items():
        yield "public", ("public_ips", name), address


def _redo(environment: Environment, entry: str) -> str:
    return f"remove {entry} and run jacquard allocate {environment.name}"
