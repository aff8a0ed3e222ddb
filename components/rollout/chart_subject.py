"""Promotion of a chart in tenant clusters: first in clusters of canary tenants, then in all others."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from components.intents.charts import chart_objections, clusters_of_charts, unpinned_charts
from components.lookups.pools import DataPath, clusters, place, problem
from components.lookups.versions.version_limits import unsupported
from components.render.add_ons.node_agents import restarts
from components.rollout.chart_values import set_in_vain
from components.rollout.limits import CLUSTERS, Excess, RolloutLimits
from components.rollout.soak import too_short
from components.rollout.subject import DATA, DeclaredIntent
from components.rollout.waves import MAX_GROUPS, PlannedGroup
from components.specs.base import limit_of
from components.specs.environment import Environment
from components.specs.keys import chart_key, charts_key, cluster_of, domain_of
from components.specs.locks import Wave
from components.specs.natural import natural, naturally
from components.specs.pools.intents import ChartIntent, Intent, IntentName
from components.specs.reading.loader import REGION, VERSIONS
from components.specs.reading.problems import ArgumentError, SpecError, listed, suggestion
from components.specs.region.evidence import ChartEvidence, Evidence
from components.specs.region.versions import Chart


class ChartSubject:
    """A chart in all tenant clusters that install it.

    Raises:
        SpecError: No cluster has this chart.
    """

    section = "charts"
    intent_section = "chart_intents"

    def __init__(self, environment: Environment, promoted: str) -> None:
        self._environment, self._chart = environment, domain_of(promoted)
        self._rules, chart_clusters = environment.region.chart_rollouts, clusters_of_charts(environment)
        self.place = (VERSIONS, ("charts",))
        if self._chart not in chart_clusters:
            self._refuse_unknown(promoted, [charts_key(chart) for chart in naturally(chart_clusters)])
        self._releases = environment.versions.releases(self._chart)
        pins, unpinned = environment.image_pins, unpinned_charts(environment, {self._chart})
        keys = [chart_key(self._chart, cluster) for cluster in chart_clusters[self._chart]]
        self.groups = {key: pins.charts[key] if key in pins.charts else unpinned[key].name for key in keys}
        self.intents: Mapping[IntentName, ChartIntent] = {
            **{intent.name: intent for intent in unpinned.values()},
            **pins.chart_intents,
        }
        self._nodes = Counter[str]()
        for key, group in environment.allocations.groups.items():
            self._nodes[chart_key(self._chart, cluster_of(key))] += group.nodes
        self._canary_keys = {
            chart_key(self._chart, placed.cluster.name)
            for placed in clusters(environment)
            if placed.tenant.tenant in self._rules.canary_tenants
        } & self.groups.keys()

    @property
    def canary(self) -> int:
        """Return the number of clusters in the canary waves."""
        return len(self._canary_keys)

    @property
    def canary_rule(self) -> str:
        """Return the rule that requires a separate canary wave, with its clusters, as message text."""
        where = place(self._environment, REGION, ("chart_rollouts", "canary_tenants"))
        clusters_first = listed(naturally(map(domain_of, self._canary_keys)))
        return f"canary_tenants ({where}) requires a first wave of {clusters_first}"

    def declared_intent(self, version: str, today: dt.date | None) -> DeclaredIntent:
        """Return the intent for release ``version`` of the chart; `DATA` selects the channel's newest release.

        Raises:
            SpecError: The release is unknown, not allowed in this region, or older than the release of a cluster.
        """
        environment, channel = self._environment.name, self._environment.region.image_channel
        newest = self._environment.versions.newest(self._chart, channel)
        chart = newest if version == DATA else self._environment.versions.release_of(self._chart, version)
        if chart is None:
            known = [release.version for release in self._releases]
            text = f"{self._chart} has no such release in {VERSIONS} (declared: {listed(known)}); add it below these"
            if version != DATA:
                raise ArgumentError(environment, f"--to {version}", text + suggestion(version, known))
            self._refuse([f"channel {channel} has no release of this chart"])
            raise AssertionError
        intent = ChartIntent.of(chart)
        reasons = [*self.unfit(intent, today), *self._older(chart), *set_in_vain(self._environment, chart)]
        if fault := unsupported(chart.name, chart.version):
            reasons.append(f"{chart.name} {chart.version} {fault}")
        if reasons and version != DATA:
            texts = (f"{reason}{self._remedy(chart, reason)}" for reason in reasons)
            raise ArgumentError(environment, f"--to {version} for {charts_key(self._chart)}", *texts)
        self._refuse(reasons)
        return DeclaredIntent(at=lambda _: intent, newest=1)

    def unfit(self, intent: Intent, today: dt.date | None) -> Iterable[str]:  # noqa: ARG002 - charts have no dates
        """Return why ``intent`` is not allowed in these clusters, as a target or as an existing pin."""
        cluster_names = map(domain_of, self.groups)
        return chart_objections(self._environment, intent, cluster_names) if isinstance(intent, ChartIntent) else []

    def planned(self, groups: Iterable[str]) -> Mapping[str, PlannedGroup]:
        """Return the planned change of each of ``groups``: number of nodes, and the pods that the upgrade restarts."""
        why = restarts(self._chart)
        return {key: PlannedGroup(key=key, nodes=self._nodes[key], spares=0, replacement=why) for key in groups}

    def waves(self, limits: RolloutLimits, groups: Sequence[str], canary: int) -> list[list[str]]:  # noqa: ARG002
        """Return ``groups`` in waves: clusters of canary tenants (or the smallest cluster), then the others."""
        first = [key for key in naturally(groups) if key in self._canary_keys]
        rest = sorted(set(groups) - set(first), key=lambda key: (self._nodes[key], natural(key)))
        if canary and not first:
            first, rest = rest[:1], rest[1:]
        return [*self._packed(first), *self._packed(rest)]

    def excess(self, limits: RolloutLimits, groups: Sequence[str]) -> list[Excess]:  # noqa: ARG002
        """Return the limit on clusters per wave if ``groups`` exceed it; otherwise an empty tuple."""
        if self._rules.max_clusters is None or len(groups) <= self._most:
            return []
        return [Excess(limit=CLUSTERS, subject=charts_key(self._chart), away=len(groups), allowed=self._most)]

    def backwards(self, limits: RolloutLimits, groups: Sequence[str], moved: Sequence[str]) -> list[list[str]]:  # noqa: ARG002
        """Return ``groups`` in the waves of a rollback: in reverse order of ``moved``, then the others."""
        last_first = [key for key in reversed(moved) if key in set(groups)]
        return self._packed([*last_first, *naturally(set(groups) - set(last_first))])

    def shortcomings(self, wave: Wave, target: Intent, evidence: Evidence, *, back: bool) -> Iterator[str]:
        """Yield why ``evidence`` does not prove that the clusters of ``wave`` run ``target`` and are settled."""
        soak = 0 if back else self._rules.soak_minutes
        if isinstance(target, ChartIntent):
            yield from shortcomings(self._environment.name, wave, target, soak, evidence)

    def _remedy(self, chart: Chart, reason: str) -> str:
        """Return the rule and the remedy of an objection to a requested release; empty if it contains a remedy."""
        rules = chart_objections(self._environment, ChartIntent.of(chart), map(domain_of, self.groups))
        if reason not in rules:
            return "" if ";" in reason else "; select another release"
        if chart.revoked:
            return f" ({rules[reason]}); select another release"
        where = place(self._environment, VERSIONS, ("charts", self._environment.versions.charts.index(chart)))
        return f" ({rules[reason]}); add {self._environment.region.image_channel} to its channel in {where}"

    @property
    def _most(self) -> int:
        amount = self._rules.max_clusters
        return MAX_GROUPS if amount is None else max(1, limit_of(amount, len(self.groups)))

    def _packed(self, ordered: Sequence[str]) -> list[list[str]]:
        most = min(MAX_GROUPS, self._most)
        return [list(ordered[start : start + most]) for start in range(0, len(ordered), most)]

    def _older(self, chart: Chart) -> Iterator[str]:
        """Yield an objection per cluster release newer than ``chart``: only a rollback may install an older release."""
        before = self._environment.image_pins.previous.get(charts_key(self._chart))
        versions = {self.intents[name].version for name in self.groups.values()}
        known = [release.version for release in self._releases]
        back = before is not None and self.intents[before].version == chart.version
        if back or chart.version in versions:
            return
        for version in sorted(versions & set(known), key=natural):
            if known.index(version) > known.index(chart.version):
                how = f"jacquard promote {self._environment.name} {charts_key(self._chart)} --rollback"
                yield f"{chart.version} is older than {version}, which clusters run; roll back with {how}"

    def _refuse_unknown(self, promoted: str, known: Sequence[str]) -> None:
        text = f"no cluster has '{promoted}' (known: {listed(known)}){suggestion(promoted, known)}"
        manifests = [item.name for item in self._environment.versions.manifests]
        if self._chart in manifests:
            path: DataPath = ("manifests", manifests.index(self._chart))
            text = f"'{promoted}' is installed from manifests, without waves; edit version and digest here"
            raise SpecError(self._environment.name, [problem(self._environment, VERSIONS, path, text)])
        raise ArgumentError(self._environment.name, "CHART", text)

    def _refuse(self, reasons: Sequence[str]) -> None:
        if reasons:
            problems = [problem(self._environment, *self.place, f"{self._chart}: {reason}") for reason in reasons]
            raise SpecError(self._environment.name, problems)


def shortcomings(
    environment: str, wave: Wave, intent: ChartIntent, soak_minutes: int, evidence: Evidence
) -> Iterator[str]:
    """Yield why ``evidence`` does not prove that clusters of ``wave`` have run ``intent`` for ``soak_minutes``."""
    seen = evidence.seen
    if seen.environment != environment:
        yield f"is from environment {seen.environment}, not from {environment}"
        return
    by_cluster = {item.cluster: item for item in seen.charts if item.chart == intent.chart}
    for cluster in wave.groups:
        key = chart_key(intent.chart, cluster)
        if cluster not in by_cluster:
            yield f"has no entry for {key}"
            continue
        missing = _missing(environment, by_cluster[cluster], intent, soak_minutes, seen.observed_at)
        yield from (f"{key} {text}" for text in missing)


def _missing(
    environment: str, seen: ChartEvidence, intent: ChartIntent, soak_minutes: int, observed_at: dt.datetime
) -> Iterator[str]:
    if seen.applied != intent.digest:
        applied = seen.applied or "nothing"
        yield f"has {applied} applied, not {intent.digest}; apply it first: jacquard up {environment}"
    elif not seen.settled:
        yield f"is not settled: {seen.why[0]}" if seen.why else "is not settled"
    elif seen.installed != intent.digest:
        yield f"has {seen.installed or 'nothing'} installed, not {intent.digest}"
    elif seen.settled_since is None:
        yield "has no settled_since time"
    else:
        yield from too_short(seen.settled_since, soak_minutes, observed_at)
