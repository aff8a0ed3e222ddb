"""What all specs share: a closed, frozen base model and the scalar types of the field.

A spec is data: no Pulumi, no clock, no network, no secrets (error texts echo values).
Defaults live in specs only.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from components.specs.cron_text import cron
from components.specs.mac_text import MAC, mac
from components.specs.network_text import cidr

SCHEMA_VERSION = 1
DEDICATED = "dedicated"
"""What a cluster writes instead of a data store's name to get one of its own."""
PLACED = "auto"
"""What a cluster writes as its data store, or leaves out, to have one found."""
DEFAULT_SERVICE_DOMAIN = "cluster.local"
Network = ipaddress.IPv4Network
Address = ipaddress.IPv4Address


class Spec(BaseModel):
    """Base of every spec: immutable, closed to unknown keys, documented under each field."""

    model_config = ConfigDict(
        defer_build=True,
        frozen=True,
        extra="forbid",
        validate_default=True,
        ser_json_inf_nan="constants",
        serialize_by_alias=True,
    )
    REFUSED_KEYS: ClassVar[Mapping[str, str]] = {}
    """Keys that nobody may write and somebody will, each with the reason and what to do instead."""


MISFIT = "misfit"
"""Type of the error that pydantic carries for a `Misfit`."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """Values of one spec that do not fit together."""

    text: str
    """Rule and remedy, with ``; `` between them."""
    path: tuple[str | int, ...] = ()
    """Keys from the spec down to the value that is to be corrected or added; empty for the spec itself."""
    got: object = None
    """Value at ``path``; None when there is none, or when the text says it all."""


class CheckedSpec(Spec):
    """A spec whose values must fit together. It looks at nothing but itself."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        errors = [
            InitErrorDetails(
                type=PydanticCustomError(MISFIT, "{text}", {"text": misfit.text}), loc=misfit.path, input=misfit.got
            )
            for misfit in self.misfits()
        ]
        if errors:
            raise ValidationError.from_exception_data(type(self).__name__, errors)
        return self

    def misfits(self) -> Iterator[Misfit]:
        """Yield all that does not fit together."""
        raise NotImplementedError


class DataFile(Spec):
    """A spec that is one file of an environment."""

    FORMAT: ClassVar[int] = SCHEMA_VERSION
    """Version that files of this kind have now."""

    schema_version: int = Field(ge=SCHEMA_VERSION, le=SCHEMA_VERSION)
    """Version of the file format; ``jacquard migrate`` moves older files on."""


class Stage(StrEnum):
    """How strict policies are, and whether hardware is real."""

    REHEARSAL = "rehearsal"
    """Hardware is simulated, and state is a local file."""
    DEVELOPMENT = "development"
    """Hardware is real, and nobody depends on it."""
    STAGING = "staging"
    """Changes are tried here before they reach production."""
    PRODUCTION = "production"
    """Tenants depend on the region, so policy rules are at their strictest (``docs/reference/policies.md``)."""


class StackLayout(StrEnum):
    """Whether one stack applies a whole environment or each slice has its own."""

    WHOLE = "whole"
    """One stack, called like the environment, applies everything."""
    SLICED = "sliced"
    """Each slice has a stack of its own, ``<environment>.<slice>``."""


_PERCENT = re.compile(r"(100|[1-9]?[0-9])%")
_SHARE = re.compile(r"0?\.([0-9]{1,2})")
_PERCENT_IN_WORDS = re.compile(r"(100|[1-9]?[0-9])(?: %| ?percent| ?pct)")
_LENGTH = re.compile(r"(?:[0-9.]+/)?([1-9]|[12][0-9]|3[0-2])")
"""Length of a prefix without its slash, or behind a network."""
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}")


def _host_name(value: str) -> str:
    if _UUID.fullmatch(value):
        msg = "must not be a UUID, which Metal3 takes for Ironic's own name of a host; write another name"
        raise ValueError(msg)
    return value


def _percent_or_count(value: int | str) -> int | str:
    if isinstance(value, str) and not _PERCENT.fullmatch(value):
        share, percent = _SHARE.fullmatch(value), _PERCENT_IN_WORDS.fullmatch(value)
        meant = f"{int(share[1].ljust(2, '0'))}%" if share else f"{percent[1]}%" if percent else ""
        meant = f"; is {meant} meant?" if meant else ""
        msg = f"must be a count or a percentage like 5%{meant}"
        raise ValueError(msg)
    if isinstance(value, int) and value < 0:
        msg = "must not be negative"
        raise ValueError(msg)
    return value


def _ip(value: object, parse: Callable[[object], object]) -> object:
    try:
        return parse(value if isinstance(value, str | Address) else "")
    except ValueError:
        msg = "must be an address like 10.0.0.20"
        raise ValueError(msg) from None


def _prefix_length(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"/([0-9]|[12][0-9]|3[0-2])", value):
        return int(value[1:])
    length = _LENGTH.fullmatch(str(value))
    meant = f"; is /{length[1]} meant?" if length else ""
    msg = f"must be a prefix length like /20{meant}"
    raise ValueError(msg)


DNS_LABEL = r"^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$"
SHORT_NAME = r"^[a-z]([-a-z0-9]{0,13}[a-z0-9])?$"
CLUSTER_NAME = r"^[a-z]([-a-z0-9]{0,28}[a-z0-9])?$"
LABEL = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
VERSION_NAME = r"^[a-z0-9]([-.a-z0-9]{0,61}[a-z0-9])?$"
KUBERNETES_VERSION = r"^v1\.[0-9]{1,2}\.[0-9]{1,2}$"
KUBERNETES_MINOR = r"^v1\.[0-9]{1,2}$"
SHA256 = r"^[0-9a-f]{64}$"
QUANTITY = r"^[1-9][0-9]{0,8}(Ki|Mi|Gi|Ti|Pi)$"
HTTPS_URL = r"^https://[^\s]+$"
OCI_URL = r"^oci://[^\s/:@]+(:[0-9]{1,5})?/[^\s:@]+$"
OCI_DIGEST = r"^sha256:[0-9a-f]{64}$"
BMC_ADDRESS = (
    r"^(ipmi|(redfish|redfish-uefihttp|(idrac|ilo5)-redfish|(redfish|idrac|ilo5)-virtualmedia)(\+https?)?)://[^\s]+$"
)
ABSOLUTE_PATH = r"^/[^\s]*$"
RELATIVE_PATH = r"^[^/\s.][^/\s]*(/[^/\s.][^/\s]*)*$"
LABEL_VALUE = r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$"
NODE_LABEL_KEY = (
    r"^((node\.cluster\.x-k8s|node-role\.kubernetes|node-restriction\.kubernetes)\.io/)?"
    r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
)
QUALIFIED_NAME = r"^([a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
_PORT = r"([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
ENDPOINT = rf"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?:{_PORT}$"
DOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$"
REGISTRY = rf"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?(:{_PORT})?(/[^\s]+)?$"
INTERFACE = r"^[^\s/:.][^\s/:]{0,14}$"
CRON_SCHEDULE = r"^[-0-9*/,]+( [-0-9*/,]+){4}$"
PCI_SELECTOR = r"^[0-9A-F]{4}:[0-9A-F]{4}$"

DnsLabel = Annotated[str, StringConstraints(pattern=DNS_LABEL)]
"""DNS-1035 label: starts with a letter, at most 63 characters."""
ShortName = Annotated[str, StringConstraints(pattern=SHORT_NAME)]
"""DNS-1035 label of at most 15 characters: a pool, a VPC, a tenant; names that are joined to others stay short."""
ClusterName = Annotated[str, StringConstraints(pattern=CLUSTER_NAME)]
"""DNS-1035 label of at most 30 characters (CoreWeave's limit; it becomes the TenantControlPlane's name)."""
Label = Annotated[str, StringConstraints(pattern=LABEL)]
"""DNS-1123 label: a rack, a hall, a host, a leaf switch."""
VersionName = Annotated[str, StringConstraints(pattern=VERSION_NAME)]
"""Name with dots, such as ``gpu-2026.11.1``."""
RuleName = Annotated[str, StringConstraints(pattern=VERSION_NAME)]
"""Name of a policy, such as ``unpinned-image``, or of a cross-check with its group, ``governance.windows``."""
KubernetesVersion = Annotated[str, StringConstraints(pattern=KUBERNETES_VERSION)]
KubernetesMinor = Annotated[str, StringConstraints(pattern=KUBERNETES_MINOR)]
Sha256 = Annotated[str, StringConstraints(pattern=SHA256)]
Quantity = Annotated[str, StringConstraints(pattern=QUANTITY)]
"""Kubernetes quantity of bytes with a binary unit, such as ``500Gi``."""
LabelValue = Annotated[str, StringConstraints(pattern=LABEL_VALUE)]
NodeLabelKey = Annotated[str, StringConstraints(pattern=NODE_LABEL_KEY)]
QualifiedName = Annotated[str, StringConstraints(pattern=QUALIFIED_NAME)]
"""Name of a label or taint, with or without a domain."""
Endpoint = Annotated[str, StringConstraints(pattern=ENDPOINT)]
Domain = Annotated[str, StringConstraints(pattern=DOMAIN, max_length=253)]
Registry = Annotated[str, StringConstraints(pattern=REGISTRY)]
Port = Annotated[int, Field(ge=1, le=65535)]
HostName = Annotated[Label, AfterValidator(_host_name)]
"""DNS-1123 label that is no UUID."""
MacAddress = Annotated[
    str,
    AfterValidator(mac),
    WithJsonSchema({"type": "string", "pattern": f"^{MAC.pattern}$", "examples": ["80:c1:00:00:01:01"]}),
]
PercentOrCount = Annotated[
    int | str,
    AfterValidator(_percent_or_count),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                {"type": "string", "pattern": f"^{_PERCENT.pattern}$", "examples": ["5%"]},
            ]
        }
    ),
]
"""A count, or a percentage like ``5%``."""
PrefixLength = Annotated[
    int,
    BeforeValidator(_prefix_length),
    PlainSerializer(lambda length: f"/{length}", return_type=str),
    WithJsonSchema({"type": "string", "pattern": "^/([0-9]|[12][0-9]|3[0-2])$", "examples": ["/20"]}),
]
"""Size of a network, ``/20``."""
Cidr = Annotated[Network, BeforeValidator(cidr)]
"""A network in a spec: ``Network`` with an error text for people."""
IpAddress = Annotated[Address, WrapValidator(_ip)]
"""An address in a spec: ``Address`` with an error text for people."""
InterfaceName = Annotated[str, StringConstraints(pattern=INTERFACE)]
"""Name of a network interface of Linux, which has at most 15 characters (``IFNAMSIZ``)."""
CronSchedule = Annotated[str, StringConstraints(pattern=CRON_SCHEDULE), AfterValidator(cron)]
"""Minute, hour, day of month, month, day of week, as cron reads them."""
AnnotationText = Annotated[str, StringConstraints(max_length=4096)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=253)]
HttpsUrl = Annotated[str, StringConstraints(pattern=HTTPS_URL, max_length=512)]


def count_of(amount: PercentOrCount, total: int) -> int:
    """Return ``amount`` as a count of ``total``; a percentage is rounded up."""
    if isinstance(amount, int):
        return amount
    return -(-int(amount.removesuffix("%")) * total // 100)


def bytes_of(quantity: Quantity) -> int:
    """Return ``quantity`` in bytes."""
    return int(quantity[:-2]) << 10 * (1 + "KMGTP".index(quantity[-2]))


def limit_of(amount: PercentOrCount, total: int) -> int:
    """Return ``amount`` as a limit on a part of ``total``; a percentage is rounded down, but not to nothing."""
    if isinstance(amount, int):
        return amount
    percent = int(amount.removesuffix("%"))
    return max(1, percent * total // 100) if percent else 0
