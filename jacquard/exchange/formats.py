"""Supported formats, by their name on the command line."""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum

from components.specs.hosts.inventory import HostSpec
from components.specs.reading.problems import Problem
from components.specs.struct import Struct
from jacquard.exchange import bare_metal_hosts, eks_a_csv, nautobot, netbox, nico
from jacquard.exchange.records import Record


class TargetFormat(StrEnum):
    """Formats that can be written; all these formats can also be read."""

    EKS_A_CSV = "eks-a-csv"
    NETBOX = "netbox"
    NICO = "nico"


class SourceFormat(StrEnum):
    """Formats that can be read."""

    EKS_A_CSV = "eks-a-csv"
    NETBOX = "netbox"
    NAUTOBOT = "nautobot"
    NICO = "nico"
    BARE_METAL_HOSTS = "bare-metal-hosts"


Values = Mapping[str, Mapping[str, str]]
"""Values by host, then by column of a format."""


class Source(Struct):
    """Reader of a format."""

    name: SourceFormat
    read: Callable[[str, str], tuple[list[Record], list[Problem]]]
    """Function that returns records and problems for a file's name and text."""
    keys: Mapping[str, tuple[str, ...]]
    """Record keys of each inventory column; the first key with a value is used."""
    addresses: tuple[str, ...] = ()
    """Record keys with the address of a BMC without its driver."""
    ports: tuple[str, ...] = ()
    """Record keys with the port of a BMC."""


class Target(Struct):
    """Writer of a format."""

    title: str
    write: Callable[[Iterable[HostSpec], Values], str]
    own: tuple[str, ...]
    """Columns with values that the inventory does not contain."""
    required: tuple[str, ...]
    """Columns of ``own`` for which the other system rejects empty values."""
    defaults: tuple[str, ...] = ()
    """Columns of ``own`` that have a default value."""
    drives_bmcs: bool = True
    """Whether the other system logs in to BMCs, which requires addresses, user names and passwords."""


_SOURCES = (
    Source(
        name=SourceFormat.EKS_A_CSV,
        read=eks_a_csv.read_eks_a_csv,
        keys=eks_a_csv.SOURCES,
        addresses=eks_a_csv.ADDRESSES,
        ports=("bmc_port",),
    ),
    Source(
        name=SourceFormat.NETBOX,
        read=netbox.read_netbox,
        keys=netbox.SOURCES,
        addresses=netbox.ADDRESSES,
        ports=("cf_bmc_port", "bmc_port"),
    ),
    Source(
        name=SourceFormat.NAUTOBOT,
        read=nautobot.read_nautobot,
        keys=nautobot.SOURCES,
        ports=("cf_bmc_port",),
    ),
    Source(
        name=SourceFormat.NICO,
        read=nico.read_nico,
        keys=nico.SOURCES,
        addresses=nico.ADDRESSES,
        ports=("labels.bmc_port",),
    ),
    Source(
        name=SourceFormat.BARE_METAL_HOSTS,
        read=bare_metal_hosts.read_bare_metal_hosts,
        keys=bare_metal_hosts.SOURCES,
    ),
)
SOURCES: Mapping[SourceFormat, Source] = {source.name: source for source in _SOURCES}
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
