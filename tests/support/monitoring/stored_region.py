"""A region with the stores for metrics and logs, and the clusters of two tenants."""

from __future__ import annotations

from typing import Any

from components.render.backends import CONTROL_PLANES
from components.render.manifest import Manifest, objects
from components.render.region import metrics_monitors, metrics_store
from components.render.region.logs import log_store
from components.specs.base import Address
from components.specs.region.logs import LogStoreSpec
from components.specs.region.observability import MetricsStoreSpec
from components.specs.region.region import ControlPlaneBackend, RegionSpec
from tests.support.data.environment_data import reference

CLUSTERS = {"acme-train": "acme", "acme-dev": "acme", "globex-lab": "globex"}
"""Tenant of each cluster."""
RECORDS = CONTROL_PLANES[ControlPlaneBackend.KAMAJI].records
"""Filter for the control plane logs that tenants may read."""


def region(**changes: Any) -> RegionSpec:
    """Return laptop's region with both stores; ``changes`` are fields of the log store."""
    spec = reference("laptop").region
    assert spec.observability is not None
    metrics = MetricsStoreSpec(size="50Gi", storage_class="local-nvme", address=Address("10.3.0.249"))
    logs = LogStoreSpec(**{"size": "1Ti", "storage_class": "local-nvme"} | changes)
    changed: RegionSpec = spec.model_copy(
        update={"observability": spec.observability.model_copy(update={"metrics": metrics, "logs": logs})}
    )
    return changed


def stored(spec: RegionSpec) -> list[Manifest]:
    """Return the objects that the operator reads: both stores, their users, and rules of clusters; and Certificates."""
    rules = (metrics_monitors.cluster_rules(tenant, cluster, ()) for cluster, tenant in CLUSTERS.items())
    rendered = (*objects(metrics_store.render(spec, CLUSTERS, RECORDS)), *log_store.render(spec), *rules)
    return [item for item in rendered if "victoriametrics.com" in item.api_version or item.kind == "Certificate"]
