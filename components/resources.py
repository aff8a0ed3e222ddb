"""Manifests as Pulumi resources: the only place where one becomes the other.

Objects reach a cluster by an explicit provider only, which always names its kubeconfig and its ``clusterIdentifier``:
without the one, objects of a tenant could land in whatever cluster is ambient; without the other, a rewritten
kubeconfig would replace everything in the cluster.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import pulumi

from components.lookups.references.table import references_table
from components.lookups.references.walk import references
from components.render.labels import FIELD_MANAGER
from components.render.manifest import MANAGEMENT, Json, Manifest, ManifestSet, Patch, Rendered

PACKAGE = "jacquard:components"
"""Package and module of every component's type token."""
_Key: TypeAlias = tuple[str, str, str]
"""Cluster, kind and name."""
Need: TypeAlias = "pulumi.Resource | pulumi.Output[pulumi.Resource]"
"""What something waits for; an output that brings a resource is done when more is true than that it was applied."""
Look: TypeAlias = Callable[[Manifest], Awaitable[None]]
OPERATORS = frozenset({"HelmRelease", "Kustomization"})
"""Kinds by which Flux brings operators."""
_GATES: WeakKeyDictionary[pulumi.Resource, list[Need]] = WeakKeyDictionary()
"""What was found ready of the objects of a component."""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A cluster that objects are applied to."""

    name: str
    kubeconfig: Path
    """Stable path; the file may still be missing in a preview."""
    identifier: str
    """What the cluster is called for ever: ``environment/cluster``. A change replaces every object in it."""
    context: str | None = None
    """Context of the kubeconfig; its current one when None."""
    depends_on: tuple[Need, ...] = ()
    """What must be done before the cluster can be reached."""
    look: Look | None = None
    """Waits until an object is ready, as it is in the cluster; None if nobody looks, as in a preview."""

    @cached_property
    def kubernetes(self) -> pulumi.ProviderResource:
        """Return the provider of single objects."""
        # Spelt out so that the vendor's provider and the stand-in behave alike whatever their defaults are.
        ways = {
            "enableServerSideApply": "true",
            "enableConfigMapMutable": "true",
            "enableSecretMutable": "true",
        }
        return self._provider("kubernetes", ways, version("pulumi-kubernetes"))

    @cached_property
    def object_sets(self) -> pulumi.ProviderResource:
        """Return the provider of object sets; made on first use, since each provider is a process."""
        return self._provider("jacquard", {}, None)

    def _provider(self, package: str, ways: Mapping[str, str], plugin: str | None) -> pulumi.ProviderResource:
        props = {"kubeconfig": str(self._kubeconfig()), "clusterIdentifier": self.identifier, **ways}
        if self.context is not None:
            props["context"] = self.context
        opts = pulumi.ResourceOptions(version=plugin, depends_on=list(self.depends_on))
        return pulumi.ProviderResource(package, self.name, props, opts)

    def _kubeconfig(self) -> Path:
        """Return the path of the kubeconfig.

        Raises:
            RunError: the vendor's provider would find nothing there and take whatever cluster is ambient. A file that
                is still to come is none of these: it plans without a cluster then, and fails without one.
        """
        wrong = ""
        if not self.kubeconfig.is_absolute():
            wrong = "is no absolute path"
        elif self.kubeconfig.exists() and not self.kubeconfig.is_file():
            wrong = "is no file"
        elif self.kubeconfig.exists() and not self.kubeconfig.read_bytes().strip():
            wrong = "is an empty file"
        if wrong:
            msg = (
                f"kubeconfig '{self.kubeconfig}' of cluster {self.name} {wrong}, so the objects could land in another "
                "cluster; name the file that reaches it, by its whole path"
            )
            raise pulumi.RunError(msg)
        return self.kubeconfig


Clusters: TypeAlias = Mapping[str, Cluster]
"""Clusters by name."""


class KubernetesObject(pulumi.CustomResource):
    """One object of a cluster, with the top-level keys it has in Kubernetes."""

    def __init__(self, name: str, manifest: Manifest, opts: pulumi.ResourceOptions) -> None:
        super().__init__(type_token(manifest), name, {**manifest.body, "metadata": _metadata(manifest)}, opts)


class ObjectSet(pulumi.CustomResource):
    """Many objects as one resource: the hosts of a rack."""

    def __init__(self, name: str, objects: ManifestSet, opts: pulumi.ResourceOptions) -> None:
        props = {
            "setName": objects.name,
            "namespace": objects.namespace,
            "members": {key: dict(member.body) for key, member in objects.members.items()},
        }
        if objects.patches:
            props["patches"] = {key: _patch(patch) for key, patch in objects.patches.items()}
        super().__init__("jacquard:index:ObjectSet", name, props, opts)


def type_token(manifest: Manifest) -> str:
    """Return the resource type that the Kubernetes provider serves ``manifest`` under."""
    group = "core/v1" if manifest.api_version == "v1" else manifest.api_version
    return f"kubernetes:{group}:{manifest.kind}"


def child_name(component: str, item: Rendered) -> str:
    """Return the Pulumi name of ``item`` under ``component``: ``component-kind-object``, in lower case.

    Cluster and namespace join where they say more than the component's name does. The name depends on nothing else,
    so that a further object never renames, and thereby re-creates, its neighbours.
    """
    kind = item.kind if isinstance(item, Manifest) else "ObjectSet"
    cluster = "" if item.cluster == MANAGEMENT else item.cluster
    scope = [part for part in (cluster, item.namespace or "") if part and not f"{component}-".startswith(f"{part}-")]
    return "-".join((component, kind, *dict.fromkeys(scope), item.name)).lower()


def register(component: pulumi.ComponentResource, name: str, rendered: Sequence[Rendered], clusters: Clusters) -> None:
    """Register ``rendered`` as children of ``component``.

    Objects that are awaited, operators apart from all others, are a gate for what comes after them. Besides, an object
    follows its namespace and what it refers to by the table of references, where it comes after those: what is new is
    there before it is named, and what is named goes after all that name it. Of two objects that go together the engine
    minds their own edges alone, none by way of one that stays. All else is applied at once: controllers settle the
    rest, and every edge costs time and state.

    A provider waits for what it changes. That it waited in vain it remembers at best, and the vendor's forgets it with
    a refresh: so each object of a gate is looked at where the clusters have a `Cluster.look`.
    """
    known: dict[_Key, pulumi.Resource] = {}
    gate: list[Need] = []
    for stage, items in groupby(rendered, _stage):
        children: list[Need] = []
        for item in items:
            cluster = clusters[item.cluster]
            needs = [*gate, *(known[need] for need in _needs(item, clusters) if need in known)]
            child = _resource(component, child_name(name, item), item, cluster, needs)
            children.append(_found_ready(child, item, cluster.look))
            if isinstance(item, Manifest):
                known[item.cluster, item.kind, item.name] = child
        if stage is not _Stage.AT_ONCE:
            gate = children
            _GATES.setdefault(component, []).extend(one for one in children if isinstance(one, pulumi.Output))


def done(need: Need) -> Need:
    """Return what waits for ``need``; where that is a component, also until its awaited objects were found ready."""
    gates = None if isinstance(need, pulumi.Output) else _GATES.get(need)
    return pulumi.Output.all(*gates).apply(lambda _: need) if gates else need


def _found_ready(child: pulumi.CustomResource, item: Rendered, look: Look | None) -> Need:
    if look is None or isinstance(item, ManifestSet) or item.readiness is None:
        return child

    async def looked(_: str) -> pulumi.Resource:
        await look(item)
        return child

    return child.id.apply(looked)


class _Stage(Enum):
    AT_ONCE = auto()
    OPERATOR = auto()
    AWAITED = auto()


def _stage(item: Rendered) -> _Stage:
    if isinstance(item, ManifestSet) or item.readiness is None:
        return _Stage.AT_ONCE
    # An operator brings the kinds of what follows it, of further awaited objects too.
    return _Stage.OPERATOR if item.kind in OPERATORS else _Stage.AWAITED


def _needs(item: Rendered, clusters: Iterable[str]) -> Iterator[_Key]:
    if item.namespace is not None:
        yield item.cluster, "Namespace", item.namespace
    if isinstance(item, Manifest):
        named = (*item.after, *_references(item.body), *_by_table(item))
        yield from dict.fromkeys((item.cluster, kind, name) for kind, name in named)
        # Flux installs into a namespace of this or another cluster, and tries again only after minutes.
        if target := item.body.get("spec", {}).get("targetNamespace"):
            yield from ((cluster, "Namespace", target) for cluster in clusters)


def _by_table(item: Manifest) -> Iterator[tuple[str, str]]:
    """Yield kind and name of what ``item`` names by fields of its kind; Flux orders what brings operators by itself."""
    for target, _, _ in references(item, references_table()) if item.kind not in OPERATORS else ():
        if target.cluster == item.cluster:
            yield target.kind.rpartition("/")[2], target.name


def _references(value: Any) -> Iterator[tuple[str, str]]:
    """Yield kind and name of everything that ``value`` refers to by fields called so."""
    if isinstance(value, Mapping):
        if isinstance(value.get("kind"), str) and isinstance(value.get("name"), str):
            yield value["kind"], value["name"]
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _references(inner)


def _resource(
    component: pulumi.ComponentResource, name: str, item: Rendered, cluster: Cluster, needs: list[Need]
) -> pulumi.CustomResource:
    if isinstance(item, ManifestSet):
        opts = pulumi.ResourceOptions(parent=component, provider=cluster.object_sets, depends_on=needs)
        return ObjectSet(name, item, opts)
    opts = pulumi.ResourceOptions(
        parent=component,
        provider=cluster.kubernetes,
        depends_on=needs,
        protect=item.protect or None,
        retain_on_delete=item.retain or None,
    )
    return KubernetesObject(name, item, opts)


def _patch(patch: Patch) -> Json:
    return {
        "apiVersion": patch.api_version,
        "kind": patch.kind,
        **({} if patch.namespace is None else {"namespace": patch.namespace}),
        "names": list(patch.names),
        "fields": patch.fields,
        **({"waitSeconds": patch.wait_seconds} if patch.wait_seconds else {}),
        **({} if patch.made_of is None else {"madeOf": patch.made_of}),
    }


def _metadata(manifest: Manifest) -> Json:
    metadata: dict[str, Any] = dict(manifest.body["metadata"])
    annotations = {"pulumi.com/patchFieldManager": FIELD_MANAGER}
    if manifest.readiness is not None:
        conditions = manifest.readiness.conditions
        annotations["pulumi.com/waitFor"] = conditions[0] if len(conditions) == 1 else json.dumps(conditions)
        annotations["pulumi.com/timeoutSeconds"] = str(manifest.readiness.timeout_seconds)
    metadata["annotations"] = {**metadata.get("annotations", {}), **annotations}
    return metadata
