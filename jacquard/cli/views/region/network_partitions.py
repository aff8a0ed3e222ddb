"""Partition members of InfiniBand fabrics as text, for the operators of the fabric manager."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from components.reports.network.partitions import FabricPartitions, PartitionMembers, PartitionsContract
from components.specs.reading.problems import listed
from jacquard.cli.console import plural


def lines(contract: PartitionsContract) -> Iterator[Text]:
    """Yield the contract: a paragraph per fabric, with some lines per partition."""
    title = f"{contract.environment}: partition members on {plural(len(contract.fabrics), 'InfiniBand fabric')}"
    yield Text(title, "bold")
    for fabric in contract.fabrics:
        yield Text()
        yield from _fabric(fabric)


def _fabric(fabric: FabricPartitions) -> Iterator[Text]:
    yield Text(fabric.fabric, "bold").append(f"   in halls {listed(fabric.halls)}, PKeys {fabric.pkeys}", "not bold")
    for partition in fabric.partitions:
        yield from _partition(partition)
    yield Text(f"  unused     {_ports(fabric.nobody)}, limited members of 0x7fff only")
    if fabric.freed:
        yield Text(f"  freed      {', '.join(fabric.freed)}, no members")


def _partition(partition: PartitionMembers) -> Iterator[Text]:
    of = f", of {listed(partition.clusters)}" if partition.clusters else ""
    yield Text(f"  {partition.request.pkey:<10} {partition.tenant}/{partition.vpc}{of}")
    if partition.hosts or not partition.unknown:
        yield Text(f"             {_ports(partition.hosts)}, full members, at index 0, with IP")
    for functions in partition.functions:
        yield Text(f"             {functions.guids}: virtual functions of {functions.cluster}, by ib-kubernetes")
    if partition.unknown:
        yield Text(f"             {_unknown(partition.unknown)}")
    yield Text("             no other GUIDs")


def _ports(hosts: Mapping[str, Sequence[str]]) -> str:
    """Return the ports of hosts; all hosts are listed, since operators enter each of them."""
    if not hosts:
        return "no host ports"
    return f"{plural(sum(map(len, hosts.values())), 'port')} of {', '.join(hosts)}"


def _unknown(hosts: Sequence[str]) -> str:
    return f"ports of {plural(len(hosts), 'host')} without port_guids in the inventory, such as {hosts[0]}"
