"""Compares the objects in each cluster of a region with their declarations. Applies nothing except dry runs."""

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
from components.reports.garbage import is_golden, template_kinds
from components.specs.environment import Environment
from components.specs.struct import Struct
from jacquard.observe.differing import compared, is_ours, manager_of
from jacquard.observe.drift import Drift, ObjectDrift, Unread, What, data_digest
from jacquard.observe.objects import Object, key
from jacquard.observe.observation import connect
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ApiServer, KindNotFound, ObjectRef

_WORKERS = 8
"""Maximum number of parallel requests to an API server, and of clusters that are compared in parallel."""
_MARK = f"{labels.MANAGED_BY}={labels.FIELD_MANAGER}"
_RETAINED = frozenset(
    {
        "instancetype.kubevirt.io/VirtualMachineClusterInstancetype",
        "instancetype.kubevirt.io/VirtualMachineClusterPreference",
        "provisioning.dpu.nvidia.com/BFB",
        "provisioning.dpu.nvidia.com/DPUFlavor",
    }
)
"""Kinds with a digest of the content in the name, of which earlier objects stay in their cluster."""
Identity: TypeAlias = tuple[str, str, str]
"""Kind as ``<group>/<Kind>``, namespace and name."""


class Declared(Struct, kw_only=False):
    """A declared object and how it is applied."""

    manifest: Manifest
    in_set: bool
    """Whether an object set applies the object, with the set's field manager."""
    of_another: bool
    """Whether another controller creates the object, so that only some of its fields are declared."""

    @property
    def identity(self) -> Identity:
        """Return the identity of the object in its cluster."""
        return kind_of(self.manifest), self.manifest.namespace or "", self.manifest.name


@dataclass(slots=True)
class ClusterDrift:
    """Result of comparing one cluster."""

    compared: int = 0
    objects: list[ObjectDrift] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


def drift(environment: Environment, connect: Callable[[Environment, str], ApiServer] = connect) -> Drift:
    """Return the drift of the clusters of ``environment``, including objects that cannot be read."""
    declared: dict[str, list[Declared]] = {MANAGEMENT: []}
    declared |= {placed.cluster.name: [] for placed in clusters(environment)}
    for item in _declared(environment):
        declared.setdefault(item.manifest.cluster, []).append(item)
    retained = {*_RETAINED, *(_kind(version, kind) for version, kind in template_kinds(environment))}

    def look(cluster: str) -> ClusterDrift:
        try:
            return _Comparison(cluster, connect(environment, cluster), retained).at(declared[cluster])
        except (ProviderError, OSError) as error:
            return ClusterDrift(unread=[Unread(cluster=cluster, what=None, reason=str(error))])

    now = dt.datetime.now(dt.UTC).replace(microsecond=0)
    with ThreadPoolExecutor(_WORKERS) as workers:
        answers = list(workers.map(look, declared))
    objects = [item for answer in answers for item in answer.objects]
    return Drift(
        environment=environment.name,
        observed_at=now,
        data=data_digest(environment),
        compared=sum(answer.compared for answer in answers),
        objects=tuple(sorted(objects, key=lambda item: (item.cluster, item.kind, item.name, item.what))),
        unread=tuple(item for answer in answers for item in answer.unread),
    )


def _declared(environment: Environment) -> Iterator[Declared]:
    for piece in slices(environment):
        for item in manifests(environment, piece):
            if isinstance(item, ManifestSet):
                yield from (Declared(member, in_set=True, of_another=False) for member in item.members.values())
                patched = (manifest for patch in item.patches.values() for manifest in patch.objects(item.cluster))
                yield from (Declared(manifest, in_set=True, of_another=True) for manifest in patched)
            else:
                yield Declared(item, in_set=False, of_another=False)


def _kind(api_version: str, kind: str) -> str:
    group = api_version.rpartition("/")[0]
    return f"{group}/{kind}" if group else kind


class _Comparison:
    """Comparison of one cluster; used once."""

    def __init__(self, cluster: str, api: ApiServer, retained: set[str]) -> None:
        self._cluster, self._api, self._retained = cluster, api, retained
        self._result = ClusterDrift()

    def at(self, declared: list[Declared]) -> ClusterDrift:
        """Compare ``declared`` with the existing objects, and return the result."""
        wanted = {item.identity: item for item in declared}
        versions = {kind_of(item.manifest): item.manifest.api_version for item in declared}
        with ThreadPoolExecutor(_WORKERS) as workers:
            kinds = sorted({*versions, *effects_table().kinds})
            listed = dict(
                zip(kinds, workers.map(lambda kind: self._list(kind, versions.get(kind)), kinds), strict=True)
            )
            marked = {
                (kind, *key(body)): body for kind, bodies in listed.items() if bodies is not None for body in bodies
            }
            readable = [item for item in declared if listed[kind_of(item.manifest)] is not None]
            for result in workers.map(lambda item: self._compare(item, marked.get(item.identity)), readable):
                self._result.objects += result
        self._result.compared = len(readable)
        self._result.unread.sort(key=lambda item: item.what or "")
        self._result.objects += self._strays(wanted, marked)
        return self._result

    def _list(self, kind: str, version: str | None) -> list[Object] | None:
        """Return the objects of a kind with Jacquard's mark; None if they cannot be read."""
        group, _, name = kind.rpartition("/")
        try:
            served = version or self._api.version(group, name)
            return self._api.list(served, name, label_selector=_MARK) if served else []
        except KindNotFound:
            return []
        except ApiError as error:
            if error.status == 0:
                raise
            self._result.unread.append(Unread(cluster=self._cluster, what=kind, reason=str(error)))
            return None

    def _compare(self, item: Declared, live: Object | None) -> list[ObjectDrift]:
        manifest, in_set = item.manifest, item.in_set
        body = {**manifest.body}
        try:
            live = live or self._get(manifest)
        except ApiError as error:
            if error.status == 0:
                raise
            what = f"{manifest.kind} {'/'.join(filter(None, (manifest.namespace, manifest.name)))}"
            self._result.unread.append(Unread(cluster=self._cluster, what=what, reason=str(error)))
            return []
        if live is None:
            return [] if item.of_another else [self._drift(item.identity, What.MISSING)]
        if live["metadata"].get("deletionTimestamp"):
            return [] if item.of_another else [self._drift(item.identity, What.GOING)]
        manager = manager_of(in_set=in_set)
        result = compared(
            body, live, manager, lambda body: self._api.apply(body, field_manager=manager, dry_run=True, force=True)
        )
        if not result.fields:
            return []
        drift = self._drift(item.identity, What.DIFFERS)
        return [drift.model_copy(update={"fields": result.fields, "note": result.unsure})]

    def _get(self, manifest: Manifest) -> Object | None:
        try:
            return self._api.get(ObjectRef(manifest.api_version, manifest.kind, manifest.name, manifest.namespace))
        except KindNotFound:
            return None

    def _strays(self, wanted: Mapping[Identity, Declared], marked: Mapping[Identity, Object]) -> Iterator[ObjectDrift]:
        """Yield undeclared objects with Jacquard's mark, except retained ones and objects owned by a controller."""
        for identity, live in marked.items():
            owners = live["metadata"].get("ownerReferences") or []
            if identity in wanted or any(owner.get("controller") for owner in owners):
                continue
            if not is_ours(live):
                managers = sorted({str(entry["manager"]) for entry in live["metadata"].get("managedFields") or ()})
                drift = self._drift(identity, What.FOREIGN)
                yield drift.model_copy(update={"note": f"written by {', '.join(managers) or 'an unknown manager'}"})
            elif identity[0] not in self._retained and not is_golden(live):
                yield self._drift(identity, What.LEFT_OVER)

    def _drift(self, identity: Identity, what: What) -> ObjectDrift:
        kind, namespace, name = identity
        return ObjectDrift(cluster=self._cluster, kind=kind, name="/".join(filter(None, (namespace, name))), what=what)
