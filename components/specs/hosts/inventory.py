"""Hosts of a region. A host has only an identity; all other properties belong to its instance type."""

import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema

from components.specs.base import BMC_ADDRESS, DnsLabel, HostName, IpAddress, Label, MacAddress, Spec, Text
from components.specs.hosts.bmc import bmc_address
from components.specs.reading.remedy import FormError
from components.specs.region.region import FailureDomain

_FILLERS = re.compile(
    r"to ?be ?filled ?(by ?o\.?e\.?m\.?)?|default ?string|(system|chassis|board|product)? ?serial ?(number|no\.?)?|"
    r"not ?(specified|available|applicable|present|set)|n/?a|none|null|nil|unknown|invalid|empty|tbd|todo|o\.?e\.?m\.?"
    r"|[-.?_*]|(?P<one>.)(?P=one){3,}|0?123456789(0)?",
    re.IGNORECASE,
)
"""Placeholder serial numbers of vendors, and filler values of inventory rows."""
_SHORTENED = re.compile(r"[0-9]([.,][0-9]+)?[eE]\+[0-9]+")
"""Notation of long numbers in spreadsheets, which omits the last digits."""
_GUID = re.compile(r"0x[0-9a-f]{16}")
_OTHER_FORM = re.compile(r"(?i)(?:0x)?([0-9a-f]{16}|[0-9a-f]{4}(?::[0-9a-f]{4}){3}|[0-9a-f]{2}(?::[0-9a-f]{2}){7})")
"""Forms printed by ibstat, ibdev2netdev and sysfs, by UFM, and by Linux as addresses."""
_BETWEEN_GUIDS = re.compile(r"[\s,;|]+")
_GUID_RULE = "each port GUID must be 0x and 16 lower-case hex digits, separated by single spaces"
_GUID_EXAMPLE = "0x946dae0300a10000"


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
"""Serial number in ASCII. Look-alike characters would identify a different machine."""


def _guids(value: object) -> object:
    if not isinstance(value, str):
        return tuple(value) if isinstance(value, list) else value
    guids = tuple(value.split(" "))
    if all(map(_GUID.fullmatch, guids)):
        return guids
    forms = [_OTHER_FORM.fullmatch(part) for part in _BETWEEN_GUIDS.split(value.strip())]
    if all(forms):
        raise FormError(_GUID_RULE, " ".join(f"0x{form[1].lower().replace(':', '')}" for form in forms if form))
    msg = f"{_GUID_RULE}, like {_GUID_EXAMPLE}"
    raise ValueError(msg)


def _cell(guids: tuple[str, ...]) -> str:
    # pydantic reads the signature of a method of `str` from its docstring, which takes longer than all hosts of a hall.
    return " ".join(guids)


PortGuids = Annotated[
    tuple[str, ...],
    BeforeValidator(_guids),
    PlainSerializer(_cell, return_type=str),
    WithJsonSchema(
        {"type": "array", "items": {"type": "string", "pattern": f"^{_GUID.pattern}$", "examples": [_GUID_EXAMPLE]}}
    ),
]
"""GUIDs of InfiniBand ports in port order; in a cell, ``0x946dae0300a10000 0x946dae0300a10001``."""


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
    """Address of the BMC in Metal3's form, with the driver as scheme. Two machines must not have the same address, even
    with different ports. ``+http`` sends the credentials unencrypted and is for BMCs without TLS."""
    bmc_secret: DnsLabel
    """Secret with username and password in the namespace of the host. The field is a reference, never a value."""
    boot_mac: MacAddress
    """MAC address of the host's boot port, in quotes."""
    dpu_serial: Serial
    """Serial number of the DPU, as DPF reports it."""
    leaf: Label
    """Leaf switch of the host's DPU ports."""
    dpu_bmc: IpAddress | None = None
    """Address of the DPU's BMC, in an optional column. The cell is empty for a DPU without a BMC. One file can contain
    both kinds of hosts, because DPF identifies a DPU by its serial number."""
    port_guids: PortGuids = ()
    """GUIDs of all InfiniBand ports of the host in port order, as printed by ``ibstat``, in an optional column. The
    cell is empty if the GUIDs are unknown. GUIDs are the members of partitions."""

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
