"""Sink of a tenant for the metrics of its clusters, in addition to the region's store."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import CheckedSpec, ConstraintViolation, DnsLabel, HttpsUrl

METRIC_NAMES = r"^[a-zA-Z_:][a-zA-Z0-9_:]{0,199}\*?$"
MAX_METRIC_NAMES = 100
MetricNames = Annotated[str, StringConstraints(pattern=METRIC_NAMES)]
"""Name of a metric, or a prefix of names with ``*`` at its end."""


class MetricsSinkSpec(CheckedSpec):
    """Sink of a tenant, to which Prometheus of its clusters also writes their metrics."""

    endpoint: HttpsUrl
    """URL for Prometheus remote write, such as ``https://metrics.acme.example/api/v1/write``."""
    secret: DnsLabel | None = None
    """Secret in namespace ``monitoring`` of each cluster, with a bearer token as ``token``. The store of secrets
    delivers it, or else the tenant creates it. Prometheus reads it for each request. By default requests have no
    login."""
    metrics: tuple[MetricNames, ...] = Field(default=(), max_length=MAX_METRIC_NAMES)
    """Names of the metrics that are sent, or prefixes with ``*`` such as ``DCGM_*``; all metrics by default."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield names that are listed twice."""
        for name in dict.fromkeys(self.metrics):
            if self.metrics.count(name) > 1:
                yield ConstraintViolation(f"lists {name} twice; remove one of both", ("metrics",))
