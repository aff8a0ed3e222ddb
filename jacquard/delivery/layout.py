"""Parts of an environment that a GitOps controller applies one after the other, and objects that it must not delete.

An object's part is determined by its slice, its cluster and its own fields, never by other objects: Flux deletes an
object that moves to another Kustomization, and then creates it again (fluxcd/kustomize-controller,
internal/controller/kustomization_controller.go, ``prune``).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from components.inputs.manifests import manifests
from components.lookups.effects.changes import kind_of
from components.lookups.effects.table import effects_table
from components.lookups.slices import SliceKind, needs, slices
from components.render.manifest import MANAGEMENT, Manifest, created, patched
from components.specs.environment import Environment
from components.specs.struct import Struct, field, replace
from jacquard.observe.users import USED

FLUX_GROUPS = ".toolkit.fluxcd.io"
"""Suffix of the API groups of Flux, which Jacquard requires in the management cluster."""
_BUILT_IN = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "autoscaling",
        "batch",
        "flowcontrol.apiserver.k8s.io",
        "networking.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    }
)
"""API groups that every API server serves without a CustomResourceDefinition."""
HOSTS = frozenset({"metal.ironcore.dev/BMC", "metal.ironcore.dev/Server", "metal3.io/BareMetalHost"})
"""Kinds that the provider of object sets deletes only while no machine uses the host. A GitOps controller does not know
the state of a host."""
_UNINSTALLING = frozenset({"helm.toolkit.fluxcd.io/HelmRelease", "kustomize.toolkit.fluxcd.io/Kustomization"})
"""Kinds of Flux whose deletion uninstalls the objects that they installed."""


class Phase(StrEnum):
    """Position of an object among the objects of its slice in one cluster.

    A controller validates all objects of a part before it applies the first one, and fails if a kind is not served. A
    part therefore contains no kind that another object of the part installs.
    """

    BASE = "base"
    """Kinds of Kubernetes, and those of Flux in the management cluster, which install operators and their kinds."""
    INSTALLERS = "installers"
    """Awaited objects of other kinds, such as a KubeVirt: their operators install further kinds."""
    OBJECTS = "objects"
    """All other objects."""


class Deletion(StrEnum):
    """Treatment of an object that the layout no longer contains."""

    NEVER = "never"
    """Protected or retained by ``jacquard up``, or a host, which a deletion would power off."""
    CONFIRMED = "confirmed"
    """``jacquard up`` requires a confirmation, or first searches for users."""
    PRUNED = "pruned"
    """``jacquard up`` deletes the object without confirmation."""


class Part(Struct):
    """Objects of one slice and phase in one cluster."""

    slice_name: str
    cluster: str
    phase: Phase
    objects: tuple[Manifest, ...]
    needs: tuple[str, ...]
    """Paths of the parts that must be applied before this one."""
    awaited: tuple[Manifest, ...] = ()
    """Objects of the slice in this cluster that must be ready before dependent slices are applied. Only the last part
    of a slice in a cluster has these objects: they may need objects of any part."""

    @property
    def is_inside(self) -> bool:
        """Return whether the objects belong to a tenant cluster."""
        return self.cluster != MANAGEMENT

    @property
    def folder(self) -> str:
        """Return the folder of the slice in this cluster, relative to the output folder."""
        return f"{self.slice_name}/{self.cluster}"

    @property
    def path(self) -> str:
        """Return the folder of the part, relative to the output folder; it identifies the part."""
        return f"{self.folder}/{self.phase}"


class Layout(Struct, dict=True):
    """All parts of an environment, in an order in which each part follows the parts that it needs."""

    environment: str
    parts: tuple[Part, ...]
    omitted: Mapping[str, int] = field(default_factory=dict)
    """Number of patched objects of other controllers by kind. A controller would create these objects with a few of
    their fields, so no part contains them."""

    @cached_property
    def by_path(self) -> Mapping[str, Part]:
        """Return the parts by path."""
        return {part.path: part for part in self.parts}


class Controller(Protocol):
    """Module of a GitOps controller."""

    DEFAULT_SOURCE: str
    """Source without an option; empty if the source is required."""

    def source_problem(self, text: str, /) -> str | None:
        """Return the reason why ``text`` is an invalid source, with an example; None for a valid source."""

    def marked(self, items: Iterable[Manifest], /) -> Iterable[Manifest]:
        """Return ``items`` with a mark on those that the controller must not delete."""

    def delivery(self, parts: Layout, source: str, path: str, /) -> Iterable[tuple[str, Manifest]]:
        """Return folder and object of each instruction to the controller."""


def layout(environment: Environment) -> Layout:
    """Return the parts of ``environment``, without its engine: the controller applies the slices instead.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
        SpecError: code of extension components fails, or creates a duplicate object.
    """
    parts: list[Part] = []
    omitted = Counter[str]()
    last: dict[str, tuple[str, ...]] = {}
    needed = needs(environment)
    for piece in slices(environment):
        if piece.kind is SliceKind.ENGINE:
            continue
        rendered = manifests(environment, piece)
        omitted.update(item.kind for item in patched(rendered))
        before = tuple(path for name in needed[piece.name] for path in last[name])
        of_slice = list(_parts(piece.name, list(created(rendered)), before))
        parts += of_slice
        last[piece.name] = tuple({part.cluster: part.path for part in of_slice}.values()) or before
    return Layout(environment=environment.name, parts=tuple(parts), omitted=dict(sorted(omitted.items())))


def deletion(manifest: Manifest) -> Deletion:
    """Return the treatment of ``manifest`` by the rules of ``jacquard up``."""
    kind = kind_of(manifest)
    if manifest.protect or manifest.retain or kind in HOSTS:
        return Deletion.NEVER
    table = effects_table()
    if kind in table.guarded | table.recreated | USED | _UNINSTALLING:
        return Deletion.CONFIRMED
    return Deletion.PRUNED


def phase(manifest: Manifest) -> Phase:
    """Return the phase of ``manifest``."""
    group = manifest.api_version.rpartition("/")[0]
    if group in _BUILT_IN or (group.endswith(FLUX_GROUPS) and manifest.cluster == MANAGEMENT):
        return Phase.BASE
    return Phase.OBJECTS if manifest.readiness is None else Phase.INSTALLERS


def annotated(manifest: Manifest, key: str, value: str) -> Manifest:
    """Return ``manifest`` with a further annotation."""
    metadata = manifest.body["metadata"]
    annotations = {**metadata.get("annotations", {}), key: value}
    return replace(manifest, body={**manifest.body, "metadata": {**metadata, "annotations": annotations}})


def _parts(slice_name: str, items: list[Manifest], before: tuple[str, ...]) -> Iterator[Part]:
    """Yield the parts of one slice: inside a tenant cluster first, because releases need the namespaces there."""
    grouped: dict[tuple[str, Phase], list[Manifest]] = {}
    for item in items:
        grouped.setdefault((item.cluster, phase(item)), []).append(item)
    clusters = sorted({cluster for cluster, _ in grouped}, key=lambda name: (name == MANAGEMENT, name))
    namespaces: tuple[str, ...] = ()
    for cluster in clusters:
        phases = [step for step in Phase if (cluster, step) in grouped]
        previous = (*before, *namespaces)
        awaited = tuple(item for item in items if item.cluster == cluster and item.readiness is not None)
        for step in phases:
            part = Part(
                slice_name=slice_name,
                cluster=cluster,
                phase=step,
                objects=tuple(grouped[cluster, step]),
                needs=previous,
                awaited=awaited if step is phases[-1] else (),
            )
            yield part
            previous = (part.path,)
            if step is Phase.BASE and part.is_inside:
                namespaces = (*namespaces, part.path)
