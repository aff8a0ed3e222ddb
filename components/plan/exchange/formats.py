"""The formats there are, by the name a person gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from components.plan.exchange import bare_metal_hosts, eks_a_csv, netbox, nico
from components.plan.exchange.records import Record
from components.specs.inventory import HostSpec
from components.specs.problems import Problem


class TargetFormat(StrEnum):
    """Formats that are written; all of them are read too."""

    EKS_A_CSV = "eks-a-csv"
    NETBOX = "netbox"
    NICO = "nico"


class SourceFormat(StrEnum):
    """Formats that are read."""

    EKS_A_CSV = "eks-a-csv"
    NETBOX = "netbox"
    NICO = "nico"
    BARE_METAL_HOSTS = "bare-metal-hosts"


Values = Mapping[str, Mapping[str, str]]
"""By host, then by column of a format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """How a format is read."""

    read: Callable[[str, str], tuple[list[Record], list[Problem]]]
    """From a file's name and its text."""
    keys: Mapping[str, tuple[str, ...]]
    """By our column, where a record says it: the first that does."""
    addresses: tuple[str, ...] = ()
    """Where it says the address of a BMC without its driver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """How a format is written."""

    title: str
    write: Callable[[Iterable[HostSpec], Values], str]
    own: tuple[str, ...]
    """Columns that say what an inventory here does not know."""
    required: tuple[str, ...]
    """Those of ``own`` that the other system refuses when they are empty."""
    defaults: tuple[str, ...] = ()
    """Those of ``own`` that are written all the same."""
    drives_bmcs: bool = True
    """Whether it logs in to BMCs itself, for which it wants their addresses, user names and passwords."""


SOURCES: Mapping[SourceFormat, Source] = {
    SourceFormat.EKS_A_CSV: Source(
        read=eks_a_csv.read_eks_a_csv, keys=eks_a_csv.SOURCES, addresses=eks_a_csv.ADDRESSES
    ),
    SourceFormat.NETBOX: Source(read=netbox.read_netbox, keys=netbox.SOURCES, addresses=netbox.ADDRESSES),
    SourceFormat.NICO: Source(read=nico.read_nico, keys=nico.SOURCES, addresses=nico.ADDRESSES),
    SourceFormat.BARE_METAL_HOSTS: Source(read=bare_metal_hosts.read_bare_metal_hosts, keys=bare_metal_hosts.SOURCES),
}
TARGETS: Mapping[TargetFormat, Target] = {
    TargetFormat.EKS_A_CSV: Target(
        title="EKS Anywhere", write=eks_a_csv.write_eks_a_csv, own=eks_a_csv.OWN, required=eks_a_csv.REQUIRED
    ),
    TargetFormat.NETBOX: Target(
        title="NetBox",
        write=netbox.write_netbox,
        own=netbox.OWN,
        required=netbox.REQUIRED,
        defaults=netbox.DEFAULTS,
        drives_bmcs=False,
    ),
    TargetFormat.NICO: Target(title="NICo", write=nico.write_nico, own=nico.OWN, required=nico.REQUIRED),
}
