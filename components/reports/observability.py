"""Report on the observation of a region: monitors, alerts, dashboards and receivers of each component."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from components.inputs.slice_inputs import made
from components.lookups.monitor_targets import MONITORS, targets
from components.lookups.observed_components import (
    RELEASES,
    Monitor,
    ObservedComponent,
    ObservedPart,
    Release,
    alert_rules,
    declared_row,
    selected,
    table,
)
from components.lookups.receivers import tenant_receivers
from components.lookups.slices import SliceKind, slices
from components.render.manifest import MANAGEMENT, Manifest, objects
from components.render.region.monitors import Audience
from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.region.observability import ReceiverSpec
from components.specs.region.versions import ObservedSpec

CONCEPT, CLUSTERS = "concept", "clusters"
_INPUT = "Input"
_OF_RELEASES = ("ReleaseNotReady",)
_WITHOUT_STORE = "only regions with a store of metrics have its monitor"
_UNKNOWN = "neither the library nor a row in versions.yaml describes it"


class ObservedRow(Spec):
    """Observation of one component."""

    component: str
    """Name of the concept, the chart or the manifest artefact."""
    place: str
    """``concept``, or where the release runs: ``management`` or ``clusters``."""
    instances: int
    """Number of instances in the region."""
    monitor: Monitor
    monitored: int
    """Number of instances with a monitor."""
    without: dict[ObservedPart, str]
    """Reason for each part that the component does not have, by part."""
    alerts: tuple[str, ...]
    """Alerts that the region renders."""
    dashboards: tuple[str, ...]
    operators: tuple[str, ...]
    """Receivers of the operators that get at least one of the alerts."""
    tenants: tuple[str, ...]
    """Tenants that get at least one of the alerts."""
    inside: bool
    """Whether one of the alerts is evaluated in tenant clusters; it reaches the Alertmanager of the cluster only."""


class Observability(Spec):
    """Observation of all components of a region."""

    environment: str
    rows: tuple[ObservedRow, ...]


@dataclass(slots=True)
class _Instances:
    """Instances of one component."""

    instances: int = 0
    monitored: int = 0
    alerts: dict[str, None] = field(default_factory=dict)


def observability(environment: Environment) -> Observability:
    """Return the observation of each component of ``environment``.

    Raises:
        KeyError: the lock files do not match the data.
        SpecError: code of extension components fails.
    """
    concepts: dict[str, _Instances] = {}
    items: list[Manifest] = []
    for part in slices(environment):
        for entry in made(environment, part):
            name = type(entry.concept).__name__.removesuffix(_INPUT)
            counted = concepts.setdefault(name, _Instances())
            counted.instances += 1
            if part.kind is not SliceKind.INVENTORY:
                of_concept = list(objects(entry.rendered))
                items += of_concept
                counted.monitored += any(item.kind in MONITORS for item in of_concept)
                counted.alerts |= dict.fromkeys(rule["alert"] for item in of_concept for rule in alert_rules(item))
    rules = [(item.cluster, rule) for item in items for rule in alert_rules(item)]
    found = _Found(environment, rules)
    rows = [found.row(CONCEPT, name, _of(table().concepts, name), entry) for name, entry in concepts.items()]
    declared = environment.versions.observed
    return Observability(environment=environment.name, rows=(*rows, *_releases(items, found, declared)))


def _releases(
    items: Iterable[Manifest], found: "_Found", declared: Mapping[str, ObservedSpec]
) -> Iterator[ObservedRow]:
    items = list(items)
    places = selected((item for item in items if item.kind in MONITORS), targets(items))
    counted: dict[tuple[str, str], _Instances] = {}
    rows: dict[tuple[str, str], ObservedComponent | None] = {}
    for release in (Release.of(item.body["spec"], str(item.namespace)) for item in items if item.kind in RELEASES):
        key = (MANAGEMENT if release.cluster == MANAGEMENT else CLUSTERS, release.name)
        entry, rows[key] = counted.setdefault(key, _Instances(alerts=dict.fromkeys(_OF_RELEASES))), release.row
        if rows[key] is None and release.name in declared:
            rows[key] = declared_row(release.name, declared[release.name])
        entry.instances += 1
        entry.monitored += _is_monitored(release, places)
    for (place, name), entry in sorted(counted.items(), key=lambda row: (row[0][0] != MANAGEMENT, row[0][1])):
        yield found.row(place, name, rows[place, name], entry)


def _is_monitored(release: Release, places: frozenset[tuple[str, str]]) -> bool:
    row = release.row
    if row is None or row.monitor is Monitor.RENDERED:
        return (release.cluster, release.namespace) in places
    return row.monitor is Monitor.CHART and not release.unset()


def _of(rows: Iterable[ObservedComponent], name: str) -> ObservedComponent | None:
    return next((row for row in rows if row.name == name), None)


class _Found:
    """Rendered alerts of a region, and their receivers."""

    def __init__(self, environment: Environment, rules: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        self._operators = environment.region.observability.receivers if environment.region.observability else ()
        self._tenants = tenant_receivers(environment)
        self._rules: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
        for cluster, rule in rules:
            self._rules.setdefault(rule["alert"], []).append((cluster, rule["labels"]))

    def row(self, place: str, name: str, row: ObservedComponent | None, entry: _Instances) -> ObservedRow:
        """Return the row of a component with the alerts that the region renders."""
        names = dict.fromkeys((*entry.alerts, *(row.alerts if row else ())))
        alerts = tuple(alert for alert in names if alert in self._rules)
        sent = [labels for alert in alerts for cluster, labels in self._rules[alert] if cluster == MANAGEMENT]
        inside = any(cluster != MANAGEMENT for alert in alerts for cluster, _ in self._rules[alert])
        monitor, without = _observed(row, entry)
        return ObservedRow(
            component=name,
            place=place,
            instances=entry.instances,
            monitor=monitor,
            monitored=entry.monitored,
            without=without,
            alerts=alerts,
            dashboards=row.dashboards if row else (),
            operators=tuple(receiver.name for receiver in self._operators if _gets(receiver, sent)),
            tenants=tuple(self._of_tenants(sent)),
            inside=inside,
        )

    def _of_tenants(self, sent: list[Mapping[str, str]]) -> Iterator[str]:
        for tenant, receivers in self._tenants.items():
            about = [
                labels
                for labels in sent
                if labels["audience"] == Audience.TENANT and labels.get("tenant", tenant) == tenant
            ]
            if any(_gets(receiver, about) for receiver in receivers):
                yield tenant


def _observed(row: ObservedComponent | None, entry: _Instances) -> tuple[Monitor, dict[ObservedPart, str]]:
    """Return the monitor of a component of the region, and the reasons for the parts that it does not have."""
    if row is None:
        return Monitor.NONE, dict.fromkeys(ObservedPart, _UNKNOWN)
    if row.stored and not entry.monitored:
        return Monitor.NONE, {ObservedPart.MONITOR: _WITHOUT_STORE, **row.without}
    return row.monitor, row.without


def _gets(receiver: ReceiverSpec, sent: Iterable[Mapping[str, str]]) -> bool:
    return any(labels["severity"] in receiver.severities for labels in sent)
