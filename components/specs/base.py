"""Base models and scalar types of all specs.

A spec is plain data: it does not use Pulumi, the clock or the network, and it contains no secrets, because error texts
repeat values. Defaults are defined in specs only.
"""

import ipaddress
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, ClassVar, Self, cast

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

from components.specs.formats import MAC, cidr, cron, ipv4, mac, prefix_length
from components.specs.local_hosts import with_server
from components.specs.secret_text import without_secret
from components.specs.struct import Struct

SCHEMA_VERSION = 1
DEDICATED = "dedicated"
"""Value of ``control_plane.data_store`` that requests a data store for this cluster only."""
PLACED = "auto"
"""Default value of ``control_plane.data_store``, which lets the allocator select the data store."""
DEFAULT_SERVICE_DOMAIN = "cluster.local"
Network = ipaddress.IPv4Network
Address = ipaddress.IPv4Address


class Spec(BaseModel):
    """Base of every spec: immutable, closed to unknown keys, with a docstring below each field."""

    model_config = ConfigDict(
        defer_build=True,
        frozen=True,
        extra="forbid",
        validate_default=True,
        ser_json_inf_nan="constants",
        serialize_by_alias=True,
    )
    REFUSED_KEYS: ClassVar[Mapping[str, str]] = {}
    """Forbidden keys that users are likely to try, each with the reason and the alternative."""

    @classmethod
    def defaults(cls) -> Self:
        """Return the spec with default values only.

        They need no validation, whose schema would be built at every start although only the schemas of files are used.
        """
        return cast("Self", cls.model_construct())

    def __copy__(self) -> Self:
        """Copy without values of `functools.cached_property`, because the fields of a copy may differ."""
        copied = super().__copy__()
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied


MISFIT = "misfit"
"""Type of the pydantic error that carries a `ConstraintViolation`."""


class ConstraintViolation(Struct, kw_only=False):
    """Constraint violation: values of one spec that contradict each other."""

    text: str
    """Rule and remedy, separated by ``; ``."""
    path: tuple[str | int, ...] = ()
    """Path of keys from the spec to the value to correct or add; empty for the spec itself."""
    got: object = None
    """Value at ``path``; None if the value is missing or ``text`` already contains it."""


class CheckedSpec(Spec):
    """Spec with constraints between its fields. The constraints do not use other specs."""

    @model_validator(mode="after")
    def _check_constraints(self) -> Self:
        errors = [
            InitErrorDetails(
                type=PydanticCustomError(MISFIT, "{text}", {"text": violation.text}),
                loc=violation.path,
                input=violation.got,
            )
            for violation in self.incompatibilities()
        ]
        if errors:
            raise ValidationError.from_exception_data(type(self).__name__, errors)
        return self

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield all constraint violations of the spec."""
        raise NotImplementedError


class DataFile(Spec):
    """Spec for the content of one file of an environment."""

    FORMAT: ClassVar[int] = SCHEMA_VERSION
    """Current format version of files of this kind."""
    HAS_PLACEHOLDERS: ClassVar[bool] = False
    """Whether values may contain text that looks like an unfilled placeholder."""
    WRITTEN_BY_COMMAND: ClassVar[bool] = False
    """Whether commands write the file, which may then have more values."""

    schema_version: int = Field(ge=SCHEMA_VERSION, le=SCHEMA_VERSION)
    """Version of the file format. ``jacquard migrate`` upgrades older files."""

    @classmethod
    def empty(cls) -> Self:
        """Return the content of a file that does not exist; not validated for the reason of `defaults`."""
        return cast("Self", cls.model_construct(schema_version=cls.FORMAT))


class Stage(StrEnum):
    """Stage of an environment, which sets the strictness of policies and whether hardware is real."""

    REHEARSAL = "rehearsal"
    """Hardware is simulated, and Pulumi state is a local file."""
    DEVELOPMENT = "development"
    """Hardware is real, and no users depend on it."""
    STAGING = "staging"
    """Changes are tested here before they are applied to production."""
    PRODUCTION = "production"
    """Tenants depend on the region, and policies are at their strictest (``docs/reference/policies.md``)."""


_PERCENT = re.compile(r"(100|[1-9]?[0-9])%")
_SHARE = re.compile(r"0?\.([0-9]{1,2})")
_PERCENT_IN_WORDS = re.compile(r"(100|[1-9]?[0-9])(?: %| ?percent| ?pct)")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}")


def _host_name(value: str) -> str:
    if _UUID.fullmatch(value):
        msg = "must not be a UUID, because Metal3 interprets it as Ironic's own ID of a host; write another name"
        raise ValueError(msg)
    return value


def _percent_or_count(value: int | str) -> int | str:
    if isinstance(value, str) and not _PERCENT.fullmatch(value):
        share, percent = _SHARE.fullmatch(value), _PERCENT_IN_WORDS.fullmatch(value)
        suggestion = f"{int(share[1].ljust(2, '0'))}%" if share else f"{percent[1]}%" if percent else ""
        suggestion = f"; is {suggestion} meant?" if suggestion else ""
        msg = f"must be a count or a percentage like 5%{suggestion}"
        raise ValueError(msg)
    if isinstance(value, int) and value < 0:
        msg = "must not be negative"
        raise ValueError(msg)
    return value


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
"""DNS-1035 label of at most 15 characters for pools, VPCs and tenants. It is short because it becomes part of longer
names."""
ClusterName = Annotated[str, StringConstraints(pattern=CLUSTER_NAME)]
"""DNS-1035 label of at most 30 characters (CoreWeave's limit); it becomes the name of the TenantControlPlane."""
Label = Annotated[str, StringConstraints(pattern=LABEL)]
"""DNS-1123 label for racks, halls, hosts and leaf switches."""
VersionName = Annotated[str, StringConstraints(pattern=VERSION_NAME)]
"""Name that may contain dots, such as ``gpu-2026.11.1``."""
RuleName = Annotated[str, StringConstraints(pattern=VERSION_NAME)]
"""Name of a policy, such as ``unpinned-image``, or of a cross-check with its group, such as ``governance.windows``."""
KubernetesVersion = Annotated[str, StringConstraints(pattern=KUBERNETES_VERSION)]
KubernetesMinor = Annotated[str, StringConstraints(pattern=KUBERNETES_MINOR)]
Sha256 = Annotated[str, StringConstraints(pattern=SHA256)]
Quantity = Annotated[str, StringConstraints(pattern=QUANTITY)]
"""Kubernetes quantity of bytes with a binary unit, such as ``500Gi``."""
LabelValue = Annotated[str, StringConstraints(pattern=LABEL_VALUE)]
NodeLabelKey = Annotated[str, StringConstraints(pattern=NODE_LABEL_KEY)]
QualifiedName = Annotated[str, StringConstraints(pattern=QUALIFIED_NAME)]
"""Name of a label or taint, with or without a domain."""
SERVER = AfterValidator(with_server)
"""Part of the type of each URL from which programs fetch: rejects hosts that are no servers."""
Endpoint = Annotated[str, StringConstraints(pattern=ENDPOINT), SERVER]
Domain = Annotated[str, StringConstraints(pattern=DOMAIN, max_length=253)]
NO_SECRET = AfterValidator(without_secret)
"""Part of the type of each URL: rejects a login, a signature and other secrets in it."""
Registry = Annotated[str, StringConstraints(pattern=REGISTRY), NO_SECRET, SERVER]
Port = Annotated[int, Field(ge=1, le=65535)]
HostName = Annotated[Label, AfterValidator(_host_name)]
"""DNS-1123 label that is not a UUID."""
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
    BeforeValidator(prefix_length),
    PlainSerializer(lambda length: f"/{length}", return_type=str),
    WithJsonSchema({"type": "string", "pattern": "^/([0-9]|[12][0-9]|3[0-2])$", "examples": ["/20"]}),
]
"""Size of a network, such as ``/20``."""
Cidr = Annotated[Network, BeforeValidator(cidr)]
"""IPv4 network in a spec: ``Network`` with a readable error text."""
IpAddress = Annotated[Address, WrapValidator(ipv4)]
"""IPv4 address in a spec: ``Address`` with a readable error text."""
InterfaceName = Annotated[str, StringConstraints(pattern=INTERFACE)]
"""Name of a Linux network interface, at most 15 characters (``IFNAMSIZ``)."""
CronSchedule = Annotated[str, StringConstraints(pattern=CRON_SCHEDULE), AfterValidator(cron)]
"""Cron schedule: minute, hour, day of month, month, day of week."""
AnnotationText = Annotated[str, StringConstraints(max_length=4096)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=253)]
HttpsUrl = Annotated[str, StringConstraints(pattern=HTTPS_URL, max_length=512), NO_SECRET, SERVER]
PinnedUrl = Annotated[str, StringConstraints(pattern=HTTPS_URL, max_length=512)]
"""URL in a lock file. It may contain a secret of older data until a promotion replaces the pin."""
OciUrl = Annotated[str, StringConstraints(pattern=OCI_URL, max_length=253), NO_SECRET, SERVER]
"""URL of an OCI artefact, without a tag."""


def count_of(amount: PercentOrCount, total: int) -> int:
    """Return ``amount`` as a count out of ``total``; percentages are rounded up."""
    if isinstance(amount, int):
        return amount
    return -(-int(amount.removesuffix("%")) * total // 100)


GIBIBYTE = 1 << 30


def bytes_of(quantity: Quantity) -> int:
    """Return ``quantity`` in bytes."""
    return int(quantity[:-2]) << 10 * (1 + "KMGTP".index(quantity[-2]))


def limit_of(amount: PercentOrCount, total: int) -> int:
    """Return ``amount`` as a limit out of ``total``; percentages are rounded down, to at least 1 unless they are 0%."""
    if isinstance(amount, int):
        return amount
    percent = int(amount.removesuffix("%"))
    return max(1, percent * total // 100) if percent else 0
