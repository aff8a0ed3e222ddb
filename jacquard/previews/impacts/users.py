"""Clusters of tenants that use a shared object of the management cluster: charts, control planes and data stores."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from components.lookups.control_planes import taken_stores
from components.lookups.effects.changes import Change
from components.lookups.effects.effect import Effect, Subject
from components.lookups.pools import clusters
from components.render.backends import CONTROL_PLANES
from components.render.control_planes.etcd_restore import restored_etcd
from components.render.control_planes.kamaji_etcd import CHART, MAIN_STORE, NAMESPACE
from components.render.manifest import MANAGEMENT
from components.render.region import operators
from components.reports.moved_charts import moved_charts
from components.specs.environment import Environment
from components.specs.struct import replace
from jacquard.previews.snapshots import Part

_RELEASE, _SOURCE = "helm.toolkit.fluxcd.io/HelmRelease", "source.toolkit.fluxcd.io/OCIRepository"
_JOB = "batch/Job"
_STORE, _PROVIDER = "kamaji.clastix.io/DataStore", "operator.cluster.x-k8s.io/ControlPlaneProvider"


class Users:
    """Clusters of the base, by the shared objects that they use."""

    def __init__(self, base: Environment, head: Environment) -> None:
        self._tenants = {placed.cluster.name: placed.tenant.tenant for placed in clusters(base)}
        operator = CONTROL_PLANES[base.region.control_planes.backend].versions_by
        self._operators = {operator, CHART} if operator else set()
        self._charts: dict[str, list[str]] = defaultdict(list)
        for moved in moved_charts(base, head):
            self._charts[moved.chart].append(moved.cluster)
        self._stores: dict[str, list[str]] = defaultdict(list)
        for cluster, stores in taken_stores(base).items():
            for store in stores:
                self._stores[store].append(cluster)

    def by_cluster(self, part: Part, changes: Iterable[Change]) -> Iterator[tuple[Part, str | None, list[Change]]]:
        """Yield the changes of ``part`` by affected cluster, with the cluster's tenant; first those of no cluster."""
        shared: Mapping[str, list[Change]] = defaultdict(list)
        others: list[Change] = []
        for change in changes:
            names, subject = self._of(change)
            if not names:
                others.append(change)
                continue
            row = change.row and change.row.model_copy(update={"falls_on": subject})
            for name in names:
                shared[name].append(replace(change, row=row))
        yield part, None, others
        for name, same in shared.items():
            yield replace(part, label=name), self._tenants[name], same

    def _of(self, change: Change) -> tuple[Collection[str], Subject]:
        """Return the clusters that a change interrupts, and the affected subject."""
        manifest = change.manifest
        if change.effect.severity < Effect.RESTARTED.severity or manifest.cluster != MANAGEMENT:
            return (), Subject.PLATFORM
        if change.kind == _PROVIDER or _chart(change) in self._operators:
            return self._tenants, Subject.CONTROL_PLANES
        if change.kind == _STORE or (change.kind in (_RELEASE, _JOB) and manifest.namespace == NAMESPACE):
            etcd = restored_etcd(manifest.name) if change.kind == _JOB else manifest.name
            return self._stores.get(etcd.removesuffix(f"-{MAIN_STORE}"), ()), Subject.CONTROL_PLANES
        if change.kind == _SOURCE and manifest.namespace == operators.NAMESPACE:
            return self._charts.get(manifest.name, ()), Subject.PODS
        return (), Subject.PLATFORM


def _chart(change: Change) -> str | None:
    """Return the chart that an operator's source or release installs; None for other objects."""
    is_operator = change.manifest.namespace == operators.NAMESPACE and change.kind in (_RELEASE, _SOURCE)
    return change.manifest.name if is_operator else None
