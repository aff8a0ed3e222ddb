"""Sink of a tenant for the logs and audit events of its clusters, in addition to the region's store."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import CheckedSpec, ConstraintViolation, DnsLabel, HttpsUrl

MAX_HEADERS = 8
HEADER = r"^[A-Za-z][A-Za-z0-9-]{0,63}$"
VARIABLE = r"^[A-Z][A-Z0-9_]{0,63}$"
HeaderName = Annotated[str, StringConstraints(pattern=HEADER)]
SecretKey = Annotated[str, StringConstraints(pattern=VARIABLE)]
"""Key of a Secret that is also the name of an environment variable."""


class LogRecords(StrEnum):
    """Records that a collector of logs reads."""

    CONTAINERS = "containers"
    """Output of containers."""
    JOURNAL = "journal"
    """Journal of nodes: kubelet, containerd, kernel."""
    EVENTS = "events"
    """Events of the API server."""
    AUDIT = "audit"
    """Audit events of the API server. A program in the cluster reads them from the region's store."""
    CONTROL_PLANE = "control-plane"
    """Logs of API server, controller manager and scheduler, which the program also reads from the region's store."""


class LogSinkSpec(CheckedSpec):
    """Sink of a tenant, to which its clusters also send their records."""

    endpoint: HttpsUrl
    """URL for OTLP over HTTP in binary form, such as ``https://otlp.acme.example/v1/logs``."""
    secret: DnsLabel | None = None
    """Secret in namespace ``logs`` of each cluster, with the values of ``headers``. The store of secrets delivers it,
    or else the tenant creates it. Collectors read it when they start. By default requests have no further headers."""
    headers: dict[HeaderName, SecretKey] = Field(default_factory=dict, max_length=MAX_HEADERS)
    """Headers of requests, each with the key of its value in ``secret``, such as ``Authorization: AUTHORIZATION``."""
    records: tuple[LogRecords, ...] = Field(default=tuple(LogRecords), min_length=1)
    """Records that are sent; all by default."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield headers without a Secret, a Secret without headers, and records that are listed twice."""
        if self.headers and self.secret is None:
            yield ConstraintViolation("is required with headers; add the Secret with their values", ("secret",))
        elif self.secret is not None and not self.headers:
            text = "is required with secret; add the headers with their keys, or remove secret"
            yield ConstraintViolation(text, ("headers",))
        for record in dict.fromkeys(self.records):
            if self.records.count(record) > 1:
                yield ConstraintViolation(f"lists {record} twice; remove one of both", ("records",))
