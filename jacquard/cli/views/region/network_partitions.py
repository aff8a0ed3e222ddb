"""Who must be in which partition of InfiniBand fabrics, as text for those who keep the fabric manager."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from components.reports.network.partitions import FabricPartitions, PartitionMembers, PartitionsContract
from components.specs.reading.problems import listed
from jacquard.cli.console import plural


def lines(found: PartitionsContract) -> Iterator[Text]:
    """Yield the contract: a paragraph a fabric, in it some lines a partition."""
    title = f"{found.environment}: members of partitions on {plural(len(found.fabrics), 'InfiniBand fabric')}"
    yield Text(title, "bold")
    for fabric in found.fabrics:
        yield Text()
        yield from _fabric(fabric)


def _fabric(found: FabricPartitions) -> Iterator[Text]:
    yield Text(found.fabric, "bold").append(f"   in halls {listed(found.halls)}, PKeys {found.pkeys}", "not bold")
    for partition in found.partitions:
        yield from _partition(partition)
    yield Text(f"  nobody     {_ports(found.nobody)}, limited members of 0x7fff and of nothing else")
    if found.freed:
        yield Text(f"  freed      {', '.join(found.freed)}, without a member")


def _partition(found: PartitionMembers) -> Iterator[Text]:
    of = f", of {listed(found.clusters)}" if found.clusters else ""
    yield Text(f"  {found.request.pkey:<10} {found.tenant}/{found.vpc}{of}")
    if found.hosts or not found.unknown:
        yield Text(f"             {_ports(found.hosts)}, full members, at index 0, with IP")
    for one in found.functions:
        yield Text(f"             {one.guids}: virtual functions of {one.cluster}, by ib-kubernetes")
    if found.unknown:
        yield Text(f"             {_unknown(found.unknown)}")
    yield Text("             no other GUID")


def _ports(hosts: Mapping[str, Sequence[str]]) -> str:
    """Return the ports of hosts, all of them by name: somebody enters each."""
    if not hosts:
        return "no port of a host"
    return f"{plural(sum(map(len, hosts.values())), 'port')} of {', '.join(hosts)}"


def _unknown(hosts: Sequence[str]) -> str:
    return f"ports of {plural(len(hosts), 'host')} without port_guids in the inventory, such as {hosts[0]}"
