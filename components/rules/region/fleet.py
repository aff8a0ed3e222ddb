"""What two regions must not share: a machine, GUIDs, a management cluster, a state, names; on one backbone numbers.

Networks of regions that no backbone connects may repeat: nothing routes from one to the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations, product

from components.lookups.intervals import bounds, overlaps
from components.lookups.pools import DataPath, inventory_file, place, problem
from components.render.network.vpc import border_targets
from components.rules.hosts.inventory import HARDWARE
from components.rules.network import port_guids
from components.rules.network.tenant_network import behind_border, region_networks
from components.rules.references import host_problem
from components.rules.storage.buckets import Held, in_stores
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.network.fabrics import LAST_GUID, GuidNumbers
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, dotted

AREA = "regions"
"""First part of the names of these rules, as waivers and reports write them."""

Found = tuple[Environment, Problem]
"""A problem and the environment in whose file it is."""
RegionsRule = Callable[[Sequence[Environment]], Iterable[Found]]
_NUMBERS = {"vni": "VNI", "asn": "ASN", "route_targets": "route target"}


def number_ranges(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report ranges of VNIs, ASNs and route targets that overlap on one backbone."""
    for backbone, members in _backbones(environments).items():
        for key, what in _NUMBERS.items():
            ranges = [
                (numbers.first, numbers.last, environment)
                for environment in members
                if (numbers := getattr(environment.region.networks, key))
            ]
            for other, environment in overlaps(ranges):
                mine, theirs = (getattr(one.region.networks, key) for one in (environment, other))
                free = max(last for _, last, _ in ranges) + 1
                text = (
                    f"{mine} overlaps {other.name} ({theirs}, {_elsewhere(other, REGION, ('networks', key))}) on the"
                    f" shared backbone '{backbone}'; {what} ranges of regions that share a backbone must be disjoint;"
                    f" use {free}-{free + mine.last - mine.first}"
                )
                yield environment, problem(environment, REGION, ("networks", key), text)


def guid_ranges(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report GUIDs that fabrics of two regions would give: a GUID belongs to one port in the world.

    Rehearsals have no ports.
    """
    given = [
        (environment, index, fabric, fabric.guids)
        for environment in environments
        for index, fabric in enumerate(environment.region.fabrics)
        if fabric.guids and environment.region.stage is not Stage.REHEARSAL
    ]
    free = max((guids.last for *_, guids in given), default=0) + 1
    for (other, there, theirs, their_guids), (environment, index, _, guids) in overlaps(
        (entry[3].first, entry[3].last, entry) for entry in given
    ):
        if other is not environment:  # else it is told by the region's own check
            where = _elsewhere(other, REGION, ("fabrics", there, "guids"))
            last = free + guids.last - guids.first
            remedy = f"use {GuidNumbers(first=free, last=last)}" if last <= LAST_GUID else "move one"
            text = (
                f"{guids} overlaps {theirs.name} of {other.name} ({their_guids}, {where}), and a GUID belongs to one"
                f" port in the world; {remedy}"
            )
            yield environment, problem(environment, REGION, ("fabrics", index, "guids"), text)


def borders(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report route targets of a border that a VPC, or the border, of another region on the backbone has or may have.

    Whoever imports them would have the other's routes.
    """
    for backbone, members in _backbones(environments).items():
        first: dict[str, tuple[Environment, DataPath]] = {}
        for environment in members:
            yield from _numbers_of_vpcs(environment, backbone, members)
            for path, target in _border_targets(environment):
                other, theirs = first.setdefault(target, (environment, path))
                if other is not environment:
                    text = (
                        f"{target} is also {dotted(theirs)} of {other.name} ({_elsewhere(other, REGION, theirs)}) on"
                        f" the shared backbone '{backbone}', and VPCs would have routes of the other border; pick"
                        " another asn or number"
                    )
                    yield environment, problem(environment, REGION, path, text)


def _numbers_of_vpcs(environment: Environment, backbone: str, members: Sequence[Environment]) -> Iterator[Found]:
    """Yield where the ASN of a border is one that VPCs of another region may have."""
    border = environment.region.networks.border
    asn = None if border is None else border.asn
    for other in members:
        taken = other.region.networks.asn
        if other is not environment and asn is not None and asn in taken:
            text = (
                f"{asn} is in networks.asn of {other.name} ({taken},"
                f" {_elsewhere(other, REGION, ('networks', 'asn'))}) on the shared backbone '{backbone}', and a VPC"
                " there could have a route target of this border; pick another outside it"
            )
            yield environment, problem(environment, REGION, ("networks", "border", "asn"), text)


def _border_targets(environment: Environment) -> Iterator[tuple[DataPath, str]]:
    """Yield the route targets of a region's border, each with where its number stands."""
    if targets := border_targets(environment.region.networks):
        for key, target in zip(("services", "internet"), targets, strict=True):
            yield ("networks", "border", key), target


def networks(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report networks that overlap on one backbone."""
    for backbone, members in _backbones(environments).items():
        named = [(environment, *entry) for environment in members for entry in region_networks(environment)]
        for (other, there, name, theirs), (environment, path, _, mine) in overlaps(
            (*bounds(entry[3]), entry) for entry in named
        ):
            if other is not environment:  # else it is told by the region's own check
                text = (
                    f"{mine} overlaps {name} of {other.name} ({theirs}, {_elsewhere(other, REGION, there)}) on the"
                    f" shared backbone '{backbone}'; networks of regions that share a backbone must be disjoint,"
                    " move one"
                )
                yield environment, problem(environment, REGION, path, text)


def behind_borders(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report networks behind a border that are another region's on the backbone: every VPC here would reach them.

    What lies behind the borders of both may be the same.
    """
    for backbone, members in _backbones(environments).items():
        for environment, other in permutations(members, 2):
            for (path, _, mine), (there, name, theirs) in product(behind_border(environment), region_networks(other)):
                if mine.overlaps(theirs):
                    text = (
                        f"{mine} overlaps {name} of {other.name} ({theirs}, {_elsewhere(other, REGION, there)}) on the"
                        f" shared backbone '{backbone}', and every VPC of {environment.name} would reach it; remove it,"
                        " or write networks of no region"
                    )
                    yield environment, problem(environment, REGION, path, text)


def ownership(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report a management cluster or a state that two environments would write."""
    first: dict[tuple[str, str], Environment] = {}
    for environment in environments:
        region = environment.region
        owned = [(("context",), region.context), (("state", "backend"), region.state and region.state.backend)]
        for path, value in owned:
            other = first.setdefault((path[0], value), environment) if value else environment
            if other is not environment:
                text = (
                    f"'{value}' is also that of {other.name} ({_elsewhere(other, REGION, path)}), and each environment"
                    " has its own; write another"
                )
                yield environment, problem(environment, REGION, path, text)


def zones(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report zones of names that lie in one another: a cluster of the one would have names of the other.

    Rehearsals write none.
    """
    named = [
        (environment, dns.zone)
        for environment in environments
        if (dns := environment.region.dns) and environment.region.stage is not Stage.REHEARSAL
    ]
    for (other, theirs), (environment, mine) in combinations(named, 2):
        if f".{mine}".endswith(f".{theirs}") or f".{theirs}".endswith(f".{mine}"):
            text = (
                f"'{mine}' and the zone of {other.name} ({theirs}, {_elsewhere(other, REGION, ('dns', 'zone'))}) lie in"
                " one another, so that a cluster of the one would have names of the other; pick another zone"
            )
            yield environment, problem(environment, REGION, ("dns", "zone"), text)


def buckets(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report a bucket of one object store that two regions would have made. Rehearsals ask no store."""
    first: dict[tuple[str, str], tuple[Environment, Held]] = {}
    real = (environment for environment in environments if environment.region.stage is not Stage.REHEARSAL)
    for environment, held in ((one, held) for one in real for held in in_stores(one)):
        other, theirs = first.setdefault(held.place, (environment, held))
        if other is not environment:  # else it is told by the region's own check
            text = (
                f"'{held.bucket}' at {held.endpoint} is also {dotted(theirs.path)} of {other.name}"
                f" ({_elsewhere(other, theirs.file, theirs.path)}), and each region has its buckets to itself; pick"
                " another name"
            )
            yield environment, problem(environment, held.file, held.path, text)


def hosts(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report hardware that stands in the inventory of two regions. Rehearsals have none."""
    first: dict[tuple[str, str], tuple[Environment, str, str]] = {}
    for environment, host, column, given in _marked(environments):
        here = (environment, inventory_file(host.hall), host.host)
        other, file, name = first.setdefault((column, given.upper()), here)
        if other is not environment:
            there = f"{other.name} ({_elsewhere(other, file, (name,))})"
            yield environment, _shared(environment, host, column, given, there)


def neighbours(environment: Environment, marks: Mapping[tuple[str, str], str]) -> Iterator[Problem]:
    """Report hardware of ``environment`` that stands beside it, where ``marks`` say; for a region checked alone."""
    for _, host, column, given in _marked([environment]):
        if (there := marks.get((column, given.upper()))) is not None:
            problem = _shared(environment, host, column, given, there)
            yield replace(problem, rule="regions.hosts")


RULES: tuple[RegionsRule, ...] = (
    number_ranges,
    guid_ranges,
    borders,
    networks,
    behind_borders,
    ownership,
    zones,
    buckets,
    hosts,
)
"""All rules over several regions."""


def _marked(environments: Sequence[Environment]) -> Iterator[tuple[Environment, HostSpec, str, str]]:
    """Yield what tells the real machines of ``environments``, as it is written."""
    for environment in environments:
        if environment.region.stage is not Stage.REHEARSAL:
            for host in environment.hosts:
                for column in HARDWARE:
                    yield environment, host, column, getattr(host, column)
                for guid in host.port_guids:
                    yield environment, host, port_guids.COLUMN, guid


def _shared(environment: Environment, host: HostSpec, column: str, given: str, there: str) -> Problem:
    text = f"'{given}' is also in {there}, and a machine stands in one region; remove it from the other"
    return host_problem(environment, host, column, text)


def _backbones(environments: Sequence[Environment]) -> dict[str, list[Environment]]:
    members = defaultdict(list)
    for environment in environments:
        if environment.region.networks.backbone:
            members[environment.region.networks.backbone].append(environment)
    return members


def _elsewhere(environment: Environment, file: str, path: DataPath) -> str:
    """Return where a value of another environment stands, from the folder of any."""
    return f"../{environment.name}/{place(environment, file, path)}"
