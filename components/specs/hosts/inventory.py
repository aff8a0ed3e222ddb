"""Hosts of a region. A host has only an identity; all other properties belong to its instance type."""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field

from components.specs.base import BMC_ADDRESS, DnsLabel, HostName, IpAddress, Label, MacAddress, Spec, Text
from components.specs.guid_text import PortGuids
from components.specs.hosts.bmc import bmc_address
from components.specs.region.region import FailureDomain

_FILLERS = re.compile(
    r"to ?be ?filled ?(by ?o\.?e\.?m\.?)?|default ?string|(system|chassis|board|product)? ?serial ?(number|no\.?)?|"
    r"not ?(specified|available|applicable|present|set)|n/?a|none|null|nil|unknown|invalid|empty|tbd|todo|o\.?e\.?m\.?"
    r"|[-.?_*]|(?P<one>.)(?P=one){3,}|0?123456789(0)?",
    re.IGNORECASE,
)
"""Placeholder serial numbers of vendors, and filler values of inventory rows."""
_SHORTENED = re.compile(r"[0-9]([.,][0-9]+)?[eE]\+[0-9]+")
"""Notation in which a spreadsheet shows a long number, without its last digits."""


def _serial(value: str) -> str:
    if _FILLERS.fullmatch(value):
        msg = "must be the machine's own serial number, not a placeholder; write the number on its label"
        raise ValueError(msg)
    if _SHORTENED.fullmatch(value):
        msg = "must be as the BMC reports it, but a spreadsheet rounded it; write all digits, in a text column"
        raise ValueError(msg)
    if value.isascii() and " " not in value:
        return value
    plain = "".join(unicodedata.normalize("NFKC", value).split())
    remedy = f"write {plain}" if plain.isascii() and plain else "correct it"
    msg = f"must be ASCII letters, digits and punctuation without spaces, as the BMC reports it; {remedy}"
    raise ValueError(msg)


Serial = Annotated[Text, AfterValidator(_serial)]
"""Serial number in ASCII, because look-alike characters would make another machine of it."""


class HostSpec(Spec):
    """Row of ``inventory/hall-<hall>.csv``: identity and location of a machine."""

    rack: Label
    """Rack of the host. For a rack-scale instance type it is also the NVLink domain."""
    slot: int = Field(ge=1, le=60)
    """Slot of the host in its rack, counted from 1."""
    host: HostName
    """Name of the host, unique in the region. It must not be a UUID, because Metal3 interprets it as Ironic's own ID of
    a host."""
    instance_type: Label
    """Hardware class of the host, an entry of ``catalog/instance_types.yaml``."""
    serial: Serial
    """Serial number of the chassis, as the BMC reports it."""
    bmc: Annotated[str, Field(pattern=BMC_ADDRESS), AfterValidator(bmc_address)]
    """Address of the BMC in Metal3's form, with the driver as scheme. Each address belongs to one machine, whatever the
    port. ``+http`` sends the login unencrypted and is for BMCs without TLS."""
    bmc_secret: DnsLabel
    """Secret with username and password in the namespace of the host. The field is a reference, never a value."""
    boot_mac: MacAddress
    """MAC address of the host's boot port, in quotes."""
    dpu_serial: Serial
    """Serial number of the DPU, as DPF reports it."""
    leaf: Label
    """Leaf switch of the host's DPU ports."""
    dpu_bmc: IpAddress | None = None
    """Address of the DPU's BMC, in an optional column; an empty cell means that the DPU has none. Hosts with and
    without it can be in one file, because DPF identifies a DPU by its serial number."""
    port_guids: PortGuids = ()
    """GUIDs of all InfiniBand ports of the host in port order, as printed by ``ibstat``, in an optional column. An
    empty cell means that they are unknown. They are the members of partitions."""

    hall: Label
    """Hall of the host, derived from the file name ``inventory/hall-<hall>.csv``; it is not a column."""

    def domain(self, kind: FailureDomain) -> str:
        """Return the name of the host's failure domain of ``kind``."""
        match kind:
            case FailureDomain.RACK:
                return self.rack
            case FailureDomain.HALL:
                return self.hall
            case FailureDomain.LEAF:
                return self.leaf
