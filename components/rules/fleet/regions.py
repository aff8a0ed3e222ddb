"""Rules between regions: separate machines, GUIDs, management clusters, state and names, and backbone numbers."""

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
from components.rules.storage.buckets import PlacedBucket, in_stores
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.network.fabrics import LAST_GUID, GuidNumbers
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, dotted

Found = tuple[Environment, Problem]
"""Problem, and the environment with the file of the problem."""
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
                mine, theirs = (getattr(region.region.networks, key) for region in (environment, other))
                free = max(last for _, last, _ in ranges) + 1
                text = (
                    f"{mine} overlaps {other.name} ({theirs}, {_elsewhere(other, REGION, ('networks', key))}) on the"
                    f" shared backbone '{backbone}'; {what} ranges of regions that share a backbone must be disjoint;"
                    f" use {free}-{free + mine.last - mine.first}"
                )
                yield environment, problem(environment, REGION, ("networks", key), text)


def guid_ranges(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report fabrics of two regions with overlapping GUID ranges: a GUID identifies one port worldwide.

    Rehearsals have no ports.
    """
    ranges = [
        (environment, index, fabric, fabric.guids)
        for environment in environments
        for index, fabric in enumerate(environment.region.fabrics)
        if fabric.guids and environment.region.stage is not Stage.REHEARSAL
    ]
    free = max((guids.last for *_, guids in ranges), default=0) + 1
    for (other, there, theirs, their_guids), (environment, index, _, guids) in overlaps(
        (entry[3].first, entry[3].last, entry) for entry in ranges
    ):
        if other is not environment:  # Otherwise, the check of the region itself reports the problem.
            where = _elsewhere(other, REGION, ("fabrics", there, "guids"))
            last = free + guids.last - guids.first
            remedy = f"use {GuidNumbers(first=free, last=last)}" if last <= LAST_GUID else "move one"
            text = (
                f"{guids} overlaps {theirs.name} of {other.name} ({their_guids}, {where}), but a GUID identifies one"
                f" port worldwide; {remedy}"
            )
            yield environment, problem(environment, REGION, ("fabrics", index, "guids"), text)


def borders(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report route targets of a network edge that VPCs or the edge of another region on the backbone may have.

    A VPC or router that imports such a route target would get routes of the other region.
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
                        f" the shared backbone '{backbone}', so VPCs would get routes of the other network edge; pick"
                        " another asn or number"
                    )
                    yield environment, problem(environment, REGION, path, text)


def _numbers_of_vpcs(environment: Environment, backbone: str, members: Sequence[Environment]) -> Iterator[Found]:
    """Yield problems if the ASN of a network edge is in the range for VPCs of another region."""
    border = environment.region.networks.border
    asn = None if border is None else border.asn
    for other in members:
        taken = other.region.networks.asn
        if other is not environment and asn is not None and asn in taken:
            text = (
                f"{asn} is in networks.asn of {other.name} ({taken}, {_elsewhere(other, REGION, ('networks', 'asn'))})"
                f" on the shared backbone '{backbone}', so a VPC there could have a route target of this network edge;"
                " pick another outside it"
            )
            yield environment, problem(environment, REGION, ("networks", "border", "asn"), text)


def _border_targets(environment: Environment) -> Iterator[tuple[DataPath, str]]:
    """Yield the route targets of a region's network edge, each with the path of its number."""
    if targets := border_targets(environment.region.networks):
        for key, target in zip(("services", "internet"), targets, strict=True):
            yield ("networks", "border", key), target


def networks(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report networks of regions that overlap on one backbone."""
    for backbone, members in _backbones(environments).items():
        named = [(environment, *entry) for environment in members for entry in region_networks(environment)]
        for (other, there, name, theirs), (environment, path, _, mine) in overlaps(
            (*bounds(entry[3]), entry) for entry in named
        ):
            if other is not environment:  # Otherwise, the check of the region itself reports the problem.
                text = (
                    f"{mine} overlaps {name} of {other.name} ({theirs}, {_elsewhere(other, REGION, there)}) on the"
                    f" shared backbone '{backbone}'; networks of regions that share a backbone must be disjoint,"
                    " move one"
                )
                yield environment, problem(environment, REGION, path, text)


def behind_borders(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report networks behind a network edge that are networks of another region on the backbone.

    Every VPC would reach such a network. Regions may have the same networks behind their network edges.
    """
    for backbone, members in _backbones(environments).items():
        for environment, other in permutations(members, 2):
            for (path, _, mine), (there, name, theirs) in product(behind_border(environment), region_networks(other)):
                if mine.overlaps(theirs):
                    text = (
                        f"{mine} overlaps {name} of {other.name} ({theirs}, {_elsewhere(other, REGION, there)}) on the"
                        f" shared backbone '{backbone}', and every VPC of {environment.name} would reach it; remove it,"
                        " or write networks outside all regions"
                    )
                    yield environment, problem(environment, REGION, path, text)


def ownership(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report management clusters and Pulumi states that two environments share."""
    first: dict[tuple[str, str], Environment] = {}
    for environment in environments:
        region = environment.region
        owned = [(("context",), region.context), (("state", "backend"), region.state and region.state.backend)]
        for path, value in owned:
            other = first.setdefault((path[0], value), environment) if value else environment
            if other is not environment:
                text = (
                    f"'{value}' is also used by {other.name} ({_elsewhere(other, REGION, path)}), but environments must"
                    " not share it; write another"
                )
                yield environment, problem(environment, REGION, path, text)


def zones(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report nested DNS zones of regions: clusters of one region would have names in the zone of the other region.

    Rehearsals create no DNS records.
    """
    named = [
        (environment, dns.zone)
        for environment in environments
        if (dns := environment.region.dns) and environment.region.stage is not Stage.REHEARSAL
    ]
    for (other, theirs), (environment, mine) in combinations(named, 2):
        if f".{mine}".endswith(f".{theirs}") or f".{theirs}".endswith(f".{mine}"):
            text = (
                f"'{mine}' and the zone of {other.name} ({theirs}, {_elsewhere(other, REGION, ('dns', 'zone'))}) are"
                " nested, so clusters of one would have names in the other; pick another zone"
            )
            yield environment, problem(environment, REGION, ("dns", "zone"), text)


def buckets(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report buckets of one object store that two regions declare. Rehearsals use no object store."""
    first: dict[tuple[str, str], tuple[Environment, PlacedBucket]] = {}
    real = (environment for environment in environments if environment.region.stage is not Stage.REHEARSAL)
    for environment, bucket in ((region, bucket) for region in real for bucket in in_stores(region)):
        other, theirs = first.setdefault(bucket.place, (environment, bucket))
        if other is not environment:  # Otherwise, the check of the region itself reports the problem.
            text = (
                f"'{bucket.bucket}' at {bucket.endpoint} is also {dotted(theirs.path)} of {other.name}"
                f" ({_elsewhere(other, theirs.file, theirs.path)}), but regions must not share buckets; pick another"
                " name"
            )
            yield environment, problem(environment, bucket.file, bucket.path, text)


def hosts(environments: Sequence[Environment]) -> Iterator[Found]:
    """Report hardware in the inventories of two regions. Rehearsals have no hardware."""
    first: dict[tuple[str, str], tuple[Environment, str, str]] = {}
    for environment, host, column, identity in _marked(environments):
        here = (environment, inventory_file(host.hall), host.host)
        other, file, name = first.setdefault((column, identity.upper()), here)
        if other is not environment:
            there = f"{other.name} ({_elsewhere(other, file, (name,))})"
            yield environment, _shared(environment, host, column, identity, there)


def identities(environment: Environment) -> dict[str, set[str]]:
    """Return the upper-case identities of the real machines of ``environment`` by column of the inventory."""
    found = defaultdict[str, set[str]](set)
    for _, _, column, identity in _marked([environment]):
        found[column].add(identity.upper())
    return found


def neighbours(environment: Environment, marks: Mapping[tuple[str, str], str]) -> Iterator[Problem]:
    """Report hardware of ``environment`` that ``marks`` list for another region. Used if only one region is checked."""
    for _, host, column, identity in _marked([environment]):
        if (there := marks.get((column, identity.upper()))) is not None:
            problem = _shared(environment, host, column, identity, there)
            yield replace(problem, rule="regions.hosts")


OF_REGION_FILES: tuple[RegionsRule, ...] = (
    number_ranges,
    guid_ranges,
    borders,
    networks,
    behind_borders,
    ownership,
    zones,
)
"""Rules between regions that read ``region.yaml`` only. They also apply if a single region is checked."""
RULES: tuple[RegionsRule, ...] = (*OF_REGION_FILES, buckets, hosts)
"""All rules between regions."""


def _marked(environments: Sequence[Environment]) -> Iterator[tuple[Environment, HostSpec, str, str]]:
    """Yield the identities of real machines in ``environments``, as in the data."""
    for environment in environments:
        if environment.region.stage is not Stage.REHEARSAL:
            for host in environment.hosts:
                for column in HARDWARE:
                    yield environment, host, column, getattr(host, column)
                for guid in host.port_guids:
                    yield environment, host, port_guids.COLUMN, guid


def _shared(environment: Environment, host: HostSpec, column: str, identity: str, there: str) -> Problem:
    text = f"'{identity}' is also in {there}, but a machine is in one region; remove it from the other"
    return host_problem(environment, host, column, text)


def _backbones(environments: Sequence[Environment]) -> dict[str, list[Environment]]:
    members = defaultdict(list)
    for environment in environments:
        if environment.region.networks.backbone:
            members[environment.region.networks.backbone].append(environment)
    return members


def _elsewhere(environment: Environment, file: str, path: DataPath) -> str:
    """Return the place of a value in another environment, relative to the folder of an environment."""
    return f"../{environment.name}/{place(environment, file, path)}"
