"""Hosts of a region. A host holds identity only; whatever else differs is another instance type."""

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
"""What stands in a machine whose maker wrote no serial number, or in a row that nobody filled in."""
_SHORTENED = re.compile(r"[0-9]([.,][0-9]+)?[eE]\+[0-9]+")
"""Form in which a spreadsheet shows a long number, the last digits of which are gone."""


def _serial(value: str) -> str:
    if _FILLERS.fullmatch(value):
        msg = "must be a machine's own serial number, and this stands in any; write what its label says"
        raise ValueError(msg)
    if _SHORTENED.fullmatch(value):
        msg = "must be as the BMC reports it, and a spreadsheet rounded this; write all digits, in a column of text"
        raise ValueError(msg)
    if value.isascii() and " " not in value:
        return value
    plain = "".join(unicodedata.normalize("NFKC", value).split())
    remedy = f"write {plain}" if plain.isascii() and plain else "correct it"
    msg = f"must be plain letters, digits and marks without blanks, as the BMC reports it; {remedy}"
    raise ValueError(msg)


Serial = Annotated[Text, AfterValidator(_serial)]
"""Serial number, in ASCII: what only looks like another one would be another machine."""


class HostSpec(Spec):
    """One row of ``inventory/hall-<hall>.csv``: who a machine is and where it stands."""

    rack: Label
    """Rack the host stands in. For an instance type of rack scale it is the NVLink domain too."""
    slot: int = Field(ge=1, le=60)
    """Place of the host in its rack, counted from 1."""
    host: HostName
    """Name of the host, unique in the region. It is no UUID, which Metal3 takes for Ironic's own name of a host."""
    instance_type: Label
    """Hardware class of the host, an entry of ``catalog/instance_types.yaml``."""
    serial: Serial
    """Serial number of the chassis, as the BMC reports it."""
    bmc: Annotated[str, Field(pattern=BMC_ADDRESS), AfterValidator(bmc_address)]
    """Address of the BMC in Metal3's form, with the driver as scheme. An address is one machine's, at any port.
    ``+http`` sends the login in clear text and is for BMCs that know no TLS."""
    bmc_secret: DnsLabel
    """Secret with username and password in the host's namespace. It is a reference, never a value."""
    boot_mac: MacAddress
    """MAC address of the port that the host boots from, in quotes."""
    dpu_serial: Serial
    """Serial number of the DPU, as DPF finds it."""
    leaf: Label
    """Leaf switch that the host's DPU ports are connected to."""
    dpu_bmc: IpAddress | None = None
    """Address of the BMC of the DPU, in an optional column; an empty cell says that it has none. Hosts with and without
    one may share a file, since DPF knows a DPU by its serial number."""
    port_guids: PortGuids = ()
    """GUIDs of the InfiniBand ports of the host, all of them in the order of its ports, as ``ibstat`` prints them, in
    an optional column; an empty cell says that they are not known. Partitions have them as members."""

    hall: Label
    """Hall of the host, taken from the file's name, ``inventory/hall-<hall>.csv``; it is not a column."""

    def domain(self, kind: FailureDomain) -> str:
        """Return the name of the failure domain of ``kind`` that the host is in."""
        match kind:
            case FailureDomain.RACK:
                return self.rack
            case FailureDomain.HALL:
                return self.hall
            case FailureDomain.LEAF:
                return self.leaf
