"""Subjects of promotions by key, and the evidence about their promoted groups."""

import datetime as dt
from collections.abc import Iterator

from components.rollout.chart_subject import ChartSubject
from components.rollout.dpu_subject import DpuSubject
from components.rollout.pool_subject import PoolSubject
from components.rollout.subject import Subject
from components.specs.environment import Environment
from components.specs.keys import DPUS, domain_of, pool_key, refers_to_charts
from components.specs.locks import Wave
from components.specs.region.evidence import ChartEvidence, Evidence, GroupEvidence


def subject_of(environment: Environment, promoted: str) -> Subject:
    """Return the subject with the key ``promoted``: ``cluster/pool``, ``charts/chart`` or ``dpus``.

    Raises:
        SpecError: ``environment`` has no such subject.
    """
    if promoted == DPUS:
        return DpuSubject(environment)
    return ChartSubject(environment, promoted) if refers_to_charts(promoted) else PoolSubject(environment, promoted)


def groups_on(subject: Subject, release: str) -> dict[str, str]:
    """Return the groups of ``subject`` that are pinned to ``release``, each with the name of its intent."""
    return {key: name for key, name in subject.groups.items() if subject.intents[name].release == release}


def unsettled(subject: Subject, release: str, evidence: Evidence) -> Iterator[str]:
    """Yield why ``evidence`` does not prove that all groups pinned to ``release`` run it and are settled."""
    groups = groups_on(subject, release)
    for name in sorted(set(groups.values())):
        wave = Wave(groups=tuple(domain_of(key) for key, intent in groups.items() if intent == name))
        yield from subject.shortcomings(wave, subject.intents[name], evidence, back=True)


def observed(promoted: str, evidence: Evidence) -> tuple[GroupEvidence | ChartEvidence, ...]:
    """Return the observations of the groups of a pool, or of the clusters of a chart, with the key ``promoted``."""
    if refers_to_charts(promoted):
        return tuple(item for item in evidence.seen.charts if item.chart == domain_of(promoted))
    here = (pool for pool in evidence.seen.pools if pool_key(pool.cluster, pool.name) == promoted)
    return tuple(group for pool in here for group in pool.groups)


def settled_since(promoted: str, evidence: Evidence) -> dt.datetime | None:
    """Return the time since which all observed groups of ``promoted`` are settled; None without nodes."""
    return max((item.settled_since for item in observed(promoted, evidence) if item.settled_since), default=None)


def failures(promoted: str, evidence: Evidence) -> int:
    """Return the number of observed nodes of a pool that are not ready, or of unsettled clusters of a chart."""
    return sum(_failed(item) for item in observed(promoted, evidence))


def _failed(item: GroupEvidence | ChartEvidence) -> int:
    if isinstance(item, GroupEvidence):
        return 0 if item.ready is None else max(0, item.total - item.ready)
    return int(not item.settled)
