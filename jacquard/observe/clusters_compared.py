"""Looks at each cluster of a region for what is not as it is declared. Applies nothing but dry-runs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeAlias

from components.inputs.manifests import manifests
from components.lookups.effects.changes import kind_of
from components.lookups.effects.table import effects_table
from components.lookups.pools import clusters
from components.lookups.slices import slices
from components.render import labels
from components.render.manifest import MANAGEMENT, Manifest, ManifestSet
from components.reports.garbage import template_kinds
from components.specs.environment import Environment
from jacquard.observe.differing import compared, is_ours, manager_of
from jacquard.observe.drift import Drift, ObjectDrift, Unread, What
from jacquard.observe.objects import Object, key
from jacquard.observe.observation import connect
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ApiServer, KindNotFound, ObjectRef

_WORKERS = 8
"""Requests at once to one API server, and clusters that are looked at side by side."""
_MARK = f"{labels.MANAGED_BY}={labels.FIELD_MANAGER}"
Identity: TypeAlias = tuple[str, str, str]
"""Kind as ``<group>/<Kind>``, namespace and name."""


@dataclass(frozen=True, slots=True)
class Declared:
    """An object as it is declared, and how it is applied."""

    manifest: Manifest
    in_set: bool
    """Whether a set applies it, under a manager of its own."""
    of_another: bool
    """Whether another controller makes the object, so that only some fields of it are declared."""

    @property
    def identity(self) -> Identity:
        """Return what identifies the object in its cluster."""
        return kind_of(self.manifest), self.manifest.namespace or "", self.manifest.name


@dataclass(slots=True)
class Found:
    """What came of looking at one cluster."""

    compared: int = 0
    objects: list[ObjectDrift] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


def drift(environment: Environment, connect: Callable[[Environment, str], ApiServer] = connect) -> Drift:
    """Return how the clusters of ``environment`` differ from what it declares; what cannot be read is said."""
    declared: dict[str, list[Declared]] = {MANAGEMENT: []}
    declared |= {placed.cluster.name: [] for placed in clusters(environment)}
    for one in _declared(environment):
        declared.setdefault(one.manifest.cluster, []).append(one)
    retained = {_kind(version, kind) for version, kind in template_kinds(environment)}

    def look(cluster: str) -> Found:
        try:
            return _Look(cluster, connect(environment, cluster), retained).at(declared[cluster])
        except (ProviderError, OSError) as error:
            return Found(unread=[Unread(cluster=cluster, what=None, reason=str(error))])

    now = dt.datetime.now(dt.UTC).replace(microsecond=0)
    with ThreadPoolExecutor(_WORKERS) as workers:
        answers = list(workers.map(look, declared))
    objects = [one for answer in answers for one in answer.objects]
    return Drift(
        environment=environment.name,
        observed_at=now,
        compared=sum(answer.compared for answer in answers),
        objects=tuple(sorted(objects, key=lambda one: (one.cluster, one.kind, one.name, one.what))),
        unread=tuple(one for answer in answers for one in answer.unread),
    )


def _declared(environment: Environment) -> Iterator[Declared]:
    for piece in slices(environment):
        for item in manifests(environment, piece):
            if isinstance(item, ManifestSet):
                yield from (Declared(one, in_set=True, of_another=False) for one in item.members.values())
                patched = (one for patch in item.patches.values() for one in patch.objects(item.cluster))
                yield from (Declared(one, in_set=True, of_another=True) for one in patched)
            else:
                yield Declared(item, in_set=False, of_another=False)


def _kind(api_version: str, kind: str) -> str:
    group = api_version.rpartition("/")[0]
    return f"{group}/{kind}" if group else kind


class _Look:
    """One cluster, looked at once."""

    def __init__(self, cluster: str, api: ApiServer, retained: set[str]) -> None:
        self._cluster, self._api, self._retained = cluster, api, retained
        self._found = Found()

    def at(self, declared: list[Declared]) -> Found:
        """Return what came of comparing ``declared`` with what is there."""
        wanted = {one.identity: one for one in declared}
        versions = {kind_of(one.manifest): one.manifest.api_version for one in declared}
        with ThreadPoolExecutor(_WORKERS) as workers:
            kinds = sorted({*versions, *effects_table().kinds})
            listed = dict(
                zip(kinds, workers.map(lambda kind: self._list(kind, versions.get(kind)), kinds), strict=True)
            )
            marked = {
                (kind, *key(body)): body for kind, bodies in listed.items() if bodies is not None for body in bodies
            }
            readable = [one for one in declared if listed[kind_of(one.manifest)] is not None]
            for result in workers.map(lambda one: self._compare(one, marked.get(one.identity)), readable):
                self._found.objects += result
        self._found.compared = len(readable)
        self._found.unread.sort(key=lambda one: one.what or "")
        self._found.objects += self._strays(wanted, marked)
        return self._found

    def _list(self, kind: str, version: str | None) -> list[Object] | None:
        """Return the objects of a kind that carry our mark; None where they cannot be read."""
        group, _, name = kind.rpartition("/")
        try:
            served = version or self._api.version(group, name)
            return self._api.list(served, name, label_selector=_MARK) if served else []
        except KindNotFound:
            return []
        except ApiError as error:
            if error.status == 0:
                raise
            self._found.unread.append(Unread(cluster=self._cluster, what=kind, reason=str(error)))
            return None

    def _compare(self, one: Declared, live: Object | None) -> list[ObjectDrift]:
        manifest, in_set = one.manifest, one.in_set
        body = {**manifest.body}
        try:
            live = live or self._get(manifest)
        except ApiError as error:
            if error.status == 0:
                raise
            what = f"{manifest.kind} {'/'.join(filter(None, (manifest.namespace, manifest.name)))}"
            self._found.unread.append(Unread(cluster=self._cluster, what=what, reason=str(error)))
            return []
        if live is None:
            return [] if one.of_another else [self._told(one.identity, What.MISSING)]
        if live["metadata"].get("deletionTimestamp"):
            return [] if one.of_another else [self._told(one.identity, What.GOING)]
        manager = manager_of(in_set=in_set)
        found = compared(
            body, live, manager, lambda body: self._api.apply(body, field_manager=manager, dry_run=True, force=True)
        )
        if not found.fields:
            return []
        told = self._told(one.identity, What.DIFFERS)
        return [told.model_copy(update={"fields": found.fields, "note": found.unsure})]

    def _get(self, manifest: Manifest) -> Object | None:
        try:
            return self._api.get(ObjectRef(manifest.api_version, manifest.kind, manifest.name, manifest.namespace))
        except KindNotFound:
            return None

    def _strays(self, wanted: Mapping[Identity, Declared], marked: Mapping[Identity, Object]) -> Iterator[ObjectDrift]:
        """Yield what carries our mark and is not declared; no old template and no child of a controller."""
        for identity, live in marked.items():
            owners = live["metadata"].get("ownerReferences") or []
            if identity in wanted or any(owner.get("controller") for owner in owners):
                continue
            if not is_ours(live):
                managers = sorted({str(entry["manager"]) for entry in live["metadata"].get("managedFields") or ()})
                told = self._told(identity, What.FOREIGN)
                yield told.model_copy(update={"note": f"written by {', '.join(managers) or 'nobody knows whom'}"})
            elif identity[0] not in self._retained:
                yield self._told(identity, What.LEFT_OVER)

    def _told(self, identity: Identity, what: What) -> ObjectDrift:
        kind, namespace, name = identity
        return ObjectDrift(cluster=self._cluster, kind=kind, name="/".join(filter(None, (namespace, name))), what=what)
