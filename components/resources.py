"""Conversion of manifests to Pulumi resources. No other module does this conversion.

Objects are applied through explicit providers only, which always set a kubeconfig and a ``clusterIdentifier``. Without
the kubeconfig, objects of a tenant could be applied to the ambient cluster. Without the identifier, a rewritten
kubeconfig would replace every object in the cluster.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import pulumi

from components.lookups.references.needs import Key, is_operator, needed_by
from components.render.labels import FIELD_MANAGER
from components.render.manifest import (
    MANAGEMENT,
    OBJECT_SET,
    Json,
    Manifest,
    ManifestSet,
    Patch,
    Rendered,
    provider_of_retained,
)

PACKAGE = "jacquard:components"
"""Package and module of every component's type token."""
Need: TypeAlias = "pulumi.Resource | pulumi.Output[pulumi.Resource]"
"""Dependency: a resource, or an output that resolves to the resource when further conditions are true."""
Look: TypeAlias = Callable[[Manifest], Awaitable[None]]
_BUILT_IN: Mapping[tuple[str, str], tuple[str, ...]] = {("batch/v1", "Job"): ("condition=Complete",)}
"""Conditions that the vendor's provider waits for without an annotation. With one, it would wait for a failed Job until
the timeout (pulumi-kubernetes:provider/pkg/await/job.go, provider/pkg/metadata/overrides.go)."""
_OPTIONS = {"enableServerSideApply": "true", "enableConfigMapMutable": "true", "enableSecretMutable": "true"}
"""Explicit values make the vendor's provider and the stand-in behave identically, independent of defaults."""
_GATES: WeakKeyDictionary[pulumi.Resource, list[Need]] = WeakKeyDictionary()
"""Readiness outputs of awaited objects, by component."""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Cluster to which objects are applied."""

    name: str
    kubeconfig: Path | pulumi.Output[str]
    """Stable path of the kubeconfig, or an output that resolves to the path. The file may be missing during a
    preview."""
    identifier: str
    """Permanent identifier of the cluster, ``environment/cluster``. A changed identifier replaces every object."""
    context: str | None = None
    """Context of the kubeconfig; None for its current context."""
    depends_on: tuple[Need, ...] = ()
    """Dependencies that must be complete before the cluster is reachable."""
    look: Look | None = None
    """Function that waits until an object is ready in the cluster; None to skip the check, as in a preview."""
    provider: pulumi.ProviderResource | None = None
    """Provider of single objects from the user's program, such as a `pulumi_kubernetes.Provider`; None creates one for
    retained objects and one for all others. With a provider that rejects existing objects, a rollback to a retained
    template fails; set ``upsert_existing_objects`` for it."""

    @cached_property
    def kubernetes(self) -> pulumi.ProviderResource:
        """Return the provider of single objects."""
        if self.provider is not None:
            return self.provider
        return self._provider("kubernetes", self.name, _OPTIONS, version("pulumi-kubernetes"))

    @cached_property
    def retained(self) -> pulumi.ProviderResource:
        """Return the provider of retained objects, which adopts an object that is declared again, as by a rollback.

        The vendor's provider rejects other existing objects since 4.30
        (pulumi-kubernetes:provider/pkg/await/await.go Creation).
        """
        if self.provider is not None:
            return self.provider
        options = {**_OPTIONS, "upsertExistingObjects": "true"}
        return self._provider("kubernetes", provider_of_retained(self.name), options, version("pulumi-kubernetes"))

    @cached_property
    def object_sets(self) -> pulumi.ProviderResource:
        """Return the provider of object sets. It is created on first use, since each provider is a process."""
        return self._provider("jacquard", self.name, {}, None)

    def _provider(
        self, package: str, name: str, options: Mapping[str, str], plugin: str | None
    ) -> pulumi.ProviderResource:
        props: dict[str, Any] = {"kubeconfig": self._kubeconfig(), "clusterIdentifier": self.identifier, **options}
        if self.context is not None:
            props["context"] = self.context
        opts = pulumi.ResourceOptions(version=plugin, depends_on=list(self.depends_on))
        return pulumi.ProviderResource(package, name, props, opts)

    def _kubeconfig(self) -> str | pulumi.Output[str]:
        """Return the path of the kubeconfig.

        Raises:
            RunError: the path is relative, a folder or an empty file. The vendor's provider would use the ambient
                cluster. A missing file is not an error: the provider plans without a cluster, and an update fails.
        """
        if isinstance(self.kubeconfig, pulumi.Output):
            return self.kubeconfig
        problem = ""
        if not self.kubeconfig.is_absolute():
            problem = "is not an absolute path"
        elif self.kubeconfig.exists() and not self.kubeconfig.is_file():
            problem = "is not a file"
        elif self.kubeconfig.exists() and not self.kubeconfig.read_bytes().strip():
            problem = "is an empty file"
        if problem:
            msg = (
                f"kubeconfig '{self.kubeconfig}' of cluster {self.name} {problem}, so objects could be applied to "
                "another cluster; set the absolute path of a kubeconfig of this cluster"
            )
            raise pulumi.RunError(msg)
        return str(self.kubeconfig)


Clusters: TypeAlias = Mapping[str, Cluster]
"""Clusters by name."""


class KubernetesObject(pulumi.CustomResource):
    """Single object of a cluster, with the same top-level keys as in Kubernetes."""

    def __init__(self, name: str, manifest: Manifest, opts: pulumi.ResourceOptions) -> None:
        super().__init__(type_token(manifest), name, {**manifest.body, "metadata": _metadata(manifest)}, opts)


class ObjectSet(pulumi.CustomResource):
    """Set of objects as a single resource, such as the hosts of a rack."""

    def __init__(self, name: str, objects: ManifestSet, opts: pulumi.ResourceOptions) -> None:
        props = {
            "setName": objects.name,
            "namespace": objects.namespace,
            "members": {key: dict(member.body) for key, member in objects.members.items()},
        }
        if objects.patches:
            props["patches"] = {key: _patch(patch) for key, patch in objects.patches.items()}
        super().__init__(f"jacquard:index:{OBJECT_SET}", name, props, opts)


def type_token(manifest: Manifest) -> str:
    """Return the resource type of ``manifest`` in the Kubernetes provider."""
    group = "core/v1" if manifest.api_version == "v1" else manifest.api_version
    return f"kubernetes:{group}:{manifest.kind}"


def child_name(component: str, item: Rendered) -> str:
    """Return the Pulumi name of ``item`` under ``component``: ``component-kind-object``, in lower case.

    Cluster and namespace are included unless the component's name already starts with them. The name does not depend
    on other objects, so that an additional object never renames and recreates existing objects.
    """
    kind = _kind(item)
    cluster = "" if item.cluster == MANAGEMENT else item.cluster
    scope = [part for part in (cluster, item.namespace or "") if part and not f"{component}-".startswith(f"{part}-")]
    return "-".join((component, kind, *dict.fromkeys(scope), item.name)).lower()


def register(component: pulumi.ComponentResource, name: str, rendered: Sequence[Rendered], clusters: Clusters) -> None:
    """Register ``rendered`` as children of ``component``.

    Awaited objects form a gate for later objects. Operators form gates separate from all other awaited objects, and an
    operator waits only for the operators that Flux installs before it, so that independent operators are installed in
    parallel. In addition, an object depends on its namespace and on earlier objects that it refers to according to the
    table of references. An object is therefore created before references to it, and deleted after all objects that
    refer to it. When two objects are deleted in one update, the engine respects only direct edges between both, and no
    path through an unchanged object. All other objects are applied in parallel, because controllers resolve other
    dependencies and every edge costs time and state.

    A provider waits for the objects that it changes. It records a failed wait at best, and the vendor's provider loses
    this record with a refresh. Each object of a gate is therefore checked again in clusters with a `Cluster.look`.
    """
    known: dict[Key, pulumi.Resource] = {}
    gate: list[Need] = []
    operators: list[Need] = []
    for stage, items in groupby(rendered, _stage):
        children: list[Need] = []
        for item in items:
            cluster = clusters[item.cluster]
            gates = gate if is_operator(item) else [*gate, *operators]
            needs = [*gates, *(known[need] for need in needed_by(item, clusters) if need in known)]
            child = _resource(component, child_name(name, item), item, cluster, needs)
            children.append(_checked_ready(child, item, cluster.look))
            known[item.cluster, _kind(item), item.name] = child
        if stage is _Stage.OPERATOR:
            operators += children
        if stage is _Stage.AWAITED:
            gate, operators = children, []
        if stage is not _Stage.UNAWAITED:
            _GATES.setdefault(component, []).extend(child for child in children if isinstance(child, pulumi.Output))


def done(need: Need) -> Need:
    """Return a dependency on ``need``. For a component, it includes the readiness checks of awaited objects."""
    gates = None if isinstance(need, pulumi.Output) else _GATES.get(need)
    return pulumi.Output.all(*gates).apply(lambda _: need) if gates else need


def _kind(item: Rendered) -> str:
    return item.kind if isinstance(item, Manifest) else OBJECT_SET


def _checked_ready(child: pulumi.CustomResource, item: Rendered, look: Look | None) -> Need:
    if look is None or isinstance(item, ManifestSet) or item.readiness is None:
        return child

    async def check(_: str) -> pulumi.Resource:
        await look(item)
        return child

    return child.id.apply(check)


class _Stage(Enum):
    UNAWAITED = auto()
    OPERATOR = auto()
    AWAITED = auto()


def _stage(item: Rendered) -> _Stage:
    if isinstance(item, ManifestSet) or item.readiness is None:
        return _Stage.UNAWAITED
    # An operator installs the kinds of later objects, including other awaited objects.
    return _Stage.OPERATOR if is_operator(item) else _Stage.AWAITED


def _resource(
    component: pulumi.ComponentResource, name: str, item: Rendered, cluster: Cluster, needs: list[Need]
) -> pulumi.CustomResource:
    if isinstance(item, ManifestSet):
        opts = pulumi.ResourceOptions(parent=component, provider=cluster.object_sets, depends_on=needs)
        return ObjectSet(name, item, opts)
    opts = pulumi.ResourceOptions(
        parent=component,
        provider=cluster.retained if item.retain else cluster.kubernetes,
        depends_on=needs,
        protect=item.protect or None,
        retain_on_delete=item.retain or None,
        custom_timeouts=_timeouts(item),
    )
    return KubernetesObject(name, item, opts)


def _timeouts(item: Manifest) -> pulumi.CustomTimeouts | None:
    seconds = item.deletion_seconds
    return None if seconds is None else pulumi.CustomTimeouts(delete=f"{seconds}s")


def _patch(patch: Patch) -> Json:
    return {
        "apiVersion": patch.api_version,
        "kind": patch.kind,
        **({} if patch.namespace is None else {"namespace": patch.namespace}),
        "names": list(patch.names),
        "fields": patch.fields,
        **({"waitSeconds": patch.wait_seconds} if patch.wait_seconds else {}),
        **({} if patch.unless is None else {"unless": patch.unless}),
        **({} if patch.made_of is None else {"madeOf": patch.made_of}),
    }


def _metadata(manifest: Manifest) -> Json:
    metadata: dict[str, Any] = dict(manifest.body["metadata"])
    annotations = {"pulumi.com/patchFieldManager": FIELD_MANAGER}
    if manifest.readiness is not None:
        conditions = manifest.readiness.conditions
        if _BUILT_IN.get((manifest.api_version, manifest.kind)) != conditions:
            annotations["pulumi.com/waitFor"] = conditions[0] if len(conditions) == 1 else json.dumps(conditions)
        annotations["pulumi.com/timeoutSeconds"] = str(manifest.readiness.timeout_seconds)
    metadata["annotations"] = {**metadata.get("annotations", {}), **annotations}
    return metadata
