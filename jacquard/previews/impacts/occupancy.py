"""Who works on the nodes that a change disturbs, by facts of the region: an estimate, unknown where nobody looked."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from components.lookups.effects.effect import Effect, Subject
from components.render.manifest import MANAGEMENT
from components.specs.reading.problems import dotted, listed, visible
from jacquard.observe.facts import FORMAT, Facts, NodeFacts
from jacquard.previews.impacts.impact import DISRUPTIVE, Impact, Occupancy, Occupied, Row

LIMIT_MINUTES = 60
"""Age from which on facts tell nothing of now, unless somebody says otherwise."""
_SKEW = dt.timedelta(minutes=5)
"""How far the clocks of two machines may be apart."""
_MACHINES = (Subject.NODES, Subject.HOSTS, Subject.DPUS)
_DISTURBING = (*DISRUPTIVE, Effect.UNKNOWN)


class _Form(BaseModel):
    """What says which form a file has, whatever else that form has."""

    kind: Literal["jacquard facts"]
    schema_version: int


class FactsError(ValueError):
    """Files are no facts of the environments that are asked about. The message says of each file why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Facts of an environment, and whether they still tell something."""

    facts: Facts
    unfit: str | None
    """Why they tell nothing of now; None if they do."""


def read_facts(
    files: Iterable[Path], names: Collection[str], *, now: dt.datetime, limit_minutes: int = LIMIT_MINUTES
) -> dict[str, Given]:
    """Return what ``files`` tell, by environment.

    Args:
        files: each written by ``jacquard facts``.
        names: environments that are asked about.
        now: the moment of which something is to be told.
        limit_minutes: age from which on facts tell nothing any more.

    Raises:
        FactsError: a file is none of facts, of a newer form, or of another environment; all of them are told.
    """
    found: dict[str, Given] = {}
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
                f"{file}: has facts of '{visible(name)}', and not of {listed(names)}; name a file that 'jacquard "
                "facts' wrote of these"
            )
        elif name in found:
            problems.append(f"{file}: has facts of '{name}', as another file has; name one of them")
        else:
            found[name] = Given(facts=facts, unfit=_unfit(facts, now, limit_minutes))
    if problems:
        raise FactsError("\n".join(problems))
    return found


def _read(file: Path) -> Facts:
    try:
        raw = file.read_bytes()
    except OSError as error:
        msg = f"{file}: cannot be read ({error.strerror}); write it with 'jacquard facts ENV --out {file}'"
        raise FactsError(msg) from None
    newer = _newer(raw)
    if newer is not None:
        msg = (
            f"{file}: has schema_version {newer}, and this Jacquard reads up to {FORMAT}; take facts with this one, or "
            "compare with the one that took them"
        )
        raise FactsError(msg)
    try:
        return Facts.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = f" at {dotted(first['loc'])}" if first["loc"] else ""
        msg = f"{file}: is not what 'jacquard facts' writes{where}: {first['msg'].lower()}"
        raise FactsError(msg) from None


def _newer(raw: bytes) -> int | None:
    """Return the version of a form that is newer than ours, of which nothing else may be as we know it."""
    try:
        version = _Form.model_validate_json(raw).schema_version
    except ValidationError:
        return None
    return version if version > FORMAT else None


def _unfit(facts: Facts, now: dt.datetime, limit_minutes: int) -> str | None:
    moment = told(facts.observed_at)
    if facts.observed_at > now + _SKEW:
        return f"facts are of {moment}, which is still to come; the clock of one of the machines is wrong"
    if now - facts.observed_at > dt.timedelta(minutes=limit_minutes):
        return f"facts are of {moment}, more than {limit_minutes} minutes ago; take new ones"
    return None


def told(moment: dt.datetime) -> str:
    """Return a moment as people read it, in UTC."""
    return f"{moment.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"


def occupied(impact: Impact, given: Given | None) -> Impact:
    """Return ``impact`` with who works on the nodes that it disturbs; unknown without facts that still tell it."""
    disturbed = [row for row in impact.rows if _is_disturbed(row)]
    if given is None or given.unfit:
        nothing = (
            f"no facts are given; 'jacquard facts {impact.environment} --out FILE' takes them, --facts FILE gives them"
        )
        unknown = Occupancy(tenants=(), unknown=given.unfit if given else nothing)
        index, at, of_all = None, None, unknown
    else:
        index, at = _Index(given.facts), given.facts.observed_at
        of_all = index.occupancy(disturbed)
    rows = tuple(
        row.model_copy(update={"occupancy": index.occupancy([row]) if index else of_all}) if _is_disturbed(row) else row
        for row in impact.rows
    )
    return impact.model_copy(update={"rows": rows, "occupancy": of_all if disturbed else None, "facts_at": at})


def _is_disturbed(row: Row) -> bool:
    return row.falls_on in _MACHINES and (row.effect in _DISTURBING or (row.change or 0) < 0)


class _Index:
    """Facts by what rows name."""

    def __init__(self, facts: Facts) -> None:
        self._clusters = {one.cluster: one for one in facts.clusters if one.cluster != MANAGEMENT}
        self._hosts = {node.host: node for node in facts.nodes if node.host}
        self._homeless = sum(node.host is None and node.pods > 0 for node in facts.nodes)
        self._nodes: dict[str, list[NodeFacts]] = defaultdict(list)
        for node in facts.nodes:
            cluster, pool, _ = (*node.group.split("/"), "", "")[:3]
            for part in dict.fromkeys((cluster, f"{cluster}/{pool}", node.group)):
                self._nodes[part].append(node)

    def occupancy(self, rows: Iterable[Row]) -> Occupancy:
        """Return the jobs on the nodes of ``rows``, each node once."""
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
        if row.falls_on is Subject.NODES:
            return self._nodes.get(row.part, [])
        return [self._hosts[host] for host in row.hosts if host in self._hosts]

    def _unknown(self, row: Row) -> Iterator[str]:
        """Yield why there may be more jobs on the nodes of ``row`` than are known."""
        if row.falls_on is Subject.NODES:
            cluster = row.part.partition("/")[0]
            yield from self._unread([cluster])
            return
        yield from self._unread(self._clusters)
        if self._homeless:
            yield f"{self._homeless} nodes with jobs do not tell their host"
        if not row.hosts:
            yield f"nobody can tell which hosts those of {row.part} are"

    def _unread(self, names: Iterable[str]) -> Iterator[str]:
        for name in names:
            cluster = self._clusters.get(name)
            if cluster is None:
                yield f"facts know no cluster {name}"
            elif cluster.unreachable is not None:
                yield f"cluster {name} could not be read: {cluster.unreachable}"
            elif cluster.stray_pods:
                yield f"{cluster.stray_pods} pods with GPUs of {name} run on nodes of no pool"
