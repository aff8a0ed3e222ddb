"""Occupancy of the nodes that a change disrupts, estimated from collected facts of the region."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from components.lookups.effects.effect import Effect, Subject
from components.render.manifest import MANAGEMENT
from components.specs.reading.problems import first_violation, listed, visible
from components.specs.struct import Struct
from components.specs.times import CLOCK_SKEW
from jacquard.observe.facts import FORMAT, Facts, NodeFacts
from jacquard.previews.impacts.impact import DISRUPTIVE, Impact, Occupancy, Occupied, Row

LIMIT_MINUTES = 60
"""Default maximum age of facts."""
_MACHINES = (Subject.NODES, Subject.HOSTS, Subject.DPUS)
_DISTURBING = (*DISRUPTIVE, Effect.UNKNOWN)


class _Form(BaseModel):
    """The fields that identify the format of a facts file, in all versions."""

    kind: Literal["jacquard facts"]
    schema_version: int


class FactsError(ValueError):
    """Files are not facts of the requested environments; the message contains the reason for each file."""


class CollectedFacts(Struct):
    """Facts of an environment, and whether they are usable."""

    facts: Facts
    unfit: str | None
    """Reason why the facts are not usable; None for usable facts."""


def read_facts(
    files: Iterable[Path], names: Collection[str], *, now: dt.datetime, limit_minutes: int = LIMIT_MINUTES
) -> dict[str, CollectedFacts]:
    """Return the facts in ``files``, by environment.

    Args:
        files: files written by ``jacquard facts``.
        names: requested environments.
        now: time from which the age of facts is computed.
        limit_minutes: maximum age of usable facts.

    Raises:
        FactsError: files are invalid, of a newer format, or of other environments; the message lists all of them.
    """
    by_environment: dict[str, CollectedFacts] = {}
    problems = []
    for file in files:
        try:
            facts = _read(file)
        except FactsError as error:
            problems.append(str(error))
            continue
        name = facts.environment
        if name not in names:
            problems.append(
                f"{file}: contains facts of '{visible(name)}' instead of {listed(names)}; pass a file that 'jacquard "
                "facts' wrote for one of these"
            )
        elif name in by_environment:
            problems.append(f"{file}: contains facts of '{name}', as does another file; pass only one of them")
        else:
            by_environment[name] = CollectedFacts(facts=facts, unfit=_unfit(facts, now, limit_minutes))
    if problems:
        raise FactsError("\n".join(problems))
    return by_environment


def _read(file: Path) -> Facts:
    try:
        raw = file.read_bytes()
    except OSError as error:
        msg = f"{file}: cannot be read ({error.strerror}); write it with 'jacquard facts ENV --out {file}'"
        raise FactsError(msg) from None
    newer = _newer(raw)
    if newer is not None:
        msg = (
            f"{file}: has schema_version {newer}, but this version of Jacquard supports up to {FORMAT}; collect facts "
            "with this version, or use the version that collected them"
        )
        raise FactsError(msg)
    try:
        return Facts.model_validate_json(raw)
    except ValidationError as error:
        msg = f"{file}: is not a file written by 'jacquard facts'{first_violation(error)}"
        raise FactsError(msg) from None


def _newer(raw: bytes) -> int | None:
    """Return the schema version of a file if it is newer than supported, else None."""
    try:
        version = _Form.model_validate_json(raw).schema_version
    except ValidationError:
        return None
    return version if version > FORMAT else None


def _unfit(facts: Facts, now: dt.datetime, limit_minutes: int) -> str | None:
    moment = utc_text(facts.observed_at)
    if facts.observed_at > now + CLOCK_SKEW:
        return f"facts are dated {moment}, which is in the future; correct the clock of one of the machines"
    if now - facts.observed_at > dt.timedelta(minutes=limit_minutes):
        return f"facts are dated {moment}, more than {limit_minutes} minutes ago; collect new ones"
    return None


def utc_text(moment: dt.datetime) -> str:
    """Return a time as text, in UTC."""
    return f"{moment.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"


def missing_facts(environment: str, given: CollectedFacts | None) -> str | None:
    """Return the reason why there are no usable facts of ``environment``; None for usable facts."""
    if given is None:
        return f"no facts; collect them with 'jacquard facts {environment} --out FILE' and pass --facts FILE"
    return given.unfit


def occupied(impact: Impact, given: CollectedFacts | None) -> Impact:
    """Return ``impact`` with the occupancy of the nodes that it disrupts; unknown without usable facts."""
    disrupted = [row for row in impact.rows if _is_disrupted(row)]
    if given is None or given.unfit:
        unknown = Occupancy(tenants=(), unknown=missing_facts(impact.environment, given))
        index, at, of_all = None, None, unknown
    else:
        index, at = _Index(given.facts), given.facts.observed_at
        of_all = index.occupancy(disrupted)
    rows = tuple(
        row.model_copy(update={"occupancy": index.occupancy([row]) if index else of_all}) if _is_disrupted(row) else row
        for row in impact.rows
    )
    return impact.model_copy(update={"rows": rows, "occupancy": of_all if disrupted else None, "facts_at": at})


def _is_disrupted(row: Row) -> bool:
    return row.falls_on in _MACHINES and (row.effect in _DISTURBING or (row.change or 0) < 0)


class _Index:
    """Index of facts by the parts that rows refer to."""

    def __init__(self, facts: Facts) -> None:
        self._clusters = {cluster.cluster: cluster for cluster in facts.clusters if cluster.cluster != MANAGEMENT}
        self._hosts = {node.host: node for node in facts.nodes if node.host}
        self._homeless = sum(node.host is None and node.pods > 0 for node in facts.nodes)
        self._nodes: dict[str, list[NodeFacts]] = defaultdict(list)
        for node in facts.nodes:
            cluster, pool, _ = (*node.group.split("/"), "", "")[:3]
            for part in dict.fromkeys((cluster, f"{cluster}/{pool}", node.group)):
                self._nodes[part].append(node)

    def occupancy(self, rows: Iterable[Row]) -> Occupancy:
        """Return the jobs on the nodes of ``rows``, each node counted once."""
        nodes: dict[tuple[str, str], NodeFacts] = {}
        reasons: dict[str, None] = {}
        for row in rows:
            nodes |= {(node.cluster, node.node): node for node in self._of(row) if node.pods}
            reasons |= dict.fromkeys(self._unknown(row))
        by_tenant: Mapping[str, list[NodeFacts]] = defaultdict(list)
        for node in nodes.values():
            by_tenant[node.tenant].append(node)
        return Occupancy(
            tenants=tuple(
                Occupied(
                    tenant=tenant,
                    nodes=len(mine),
                    pods=sum(node.pods for node in mine),
                    gpus=sum(node.gpus for node in mine),
                )
                for tenant, mine in sorted(by_tenant.items())
            ),
            unknown="; ".join(reasons) or None,
        )

    def _of(self, row: Row) -> list[NodeFacts]:
        if row.falls_on is Subject.NODES and not row.hosts:
            return self._nodes.get(row.part, [])
        return [self._hosts[host] for host in row.hosts if host in self._hosts]

    def _unknown(self, row: Row) -> Iterator[str]:
        """Yield the reasons why more jobs than known may run on the nodes of ``row``."""
        if row.falls_on is Subject.NODES and not row.hosts:
            cluster = row.part.partition("/")[0]
            yield from self._unread([cluster])
            return
        yield from self._unread(self._clusters)
        if self._homeless:
            yield f"{self._homeless} nodes with jobs do not report their host"
        if not row.hosts:
            yield f"the hosts of {row.part} are unknown"

    def _unread(self, names: Iterable[str]) -> Iterator[str]:
        for name in names:
            cluster = self._clusters.get(name)
            if cluster is None:
                yield f"facts do not contain cluster {name}"
            elif cluster.unreachable is not None:
                yield f"cluster {name} could not be read: {cluster.unreachable}"
            elif cluster.stray_pods:
                yield f"cluster {name} has {cluster.stray_pods} pods with GPUs on nodes that belong to no pool"
