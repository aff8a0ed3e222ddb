"""Output of renderers: Kubernetes objects as plain data, with options for the apply operation."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from components.specs.struct import Struct, field

MANAGEMENT = "management"
"""Name of the management cluster among the clusters of a region."""
OBJECT_SET = "ObjectSet"
"""Kind of a `ManifestSet` among dependencies, and in names of resources."""

Json: TypeAlias = Mapping[str, Any]

_RETAINED = "/retained"
"""End of the name of the provider of retained objects; no cluster has such a name."""
_AWAITABLE = re.compile(r"condition=[^=]+(=[^=]+)?|jsonpath=\{[^{}]+\}(=.+)?")


class Readiness(Struct):
    """Conditions that ``pulumi up`` waits for after an object is applied.

    ``conditions`` are expressions of the annotation ``pulumi.com/waitFor``:
    ``condition=Type``, ``condition=Type=Status`` or ``jsonpath={.path}=value``. All conditions must be true.
    """

    conditions: tuple[str, ...]
    timeout_seconds: int

    def __post_init__(self) -> None:
        """Reject conditions that the provider cannot wait for.

        The vendor's provider would create the object, then fail without recording the object in the state. The next run
        would fail because the object exists.

        Raises:
            ValueError: the problems, one per line.
        """
        problems = [
            f"'{text}' is an invalid condition; write condition=TYPE, condition=TYPE=STATUS or jsonpath={{.path}}=VALUE"
            for text in self.conditions
            if not _AWAITABLE.fullmatch(text)
        ]
        problems += [] if self.conditions else ["conditions must not be empty; add at least one condition"]
        if self.timeout_seconds <= 0:
            problems.append(f"timeout_seconds is {self.timeout_seconds}; write at least 1")
        if problems:
            raise ValueError("\n".join(problems))


def provider_of_retained(cluster: str) -> str:
    """Return the name of the Pulumi provider of retained objects in ``cluster``."""
    return f"{cluster}{_RETAINED}"


def cluster_of_provider(name: str) -> str:
    """Return the cluster to which the Pulumi provider ``name`` applies objects."""
    return name.removesuffix(_RETAINED)


class Manifest(Struct):
    """Complete Kubernetes object, with the cluster that it belongs to."""

    body: Json
    cluster: str = MANAGEMENT
    readiness: Readiness | None = None
    retain: bool = False
    """Whether the object is retained in the cluster when it is removed from the program, such as templates that
    machines may still refer to."""
    deletion_seconds: int | None = None
    """Time in which a deletion may end; None for the provider's default, ten minutes."""
    protect: bool = False
    """Whether deletion and replacement are rejected, for example of data stores and clusters of tenants."""
    after: tuple[tuple[str, str], ...] = ()
    """Kind and name of objects or sets (`OBJECT_SET`) in the same cluster that must be applied first, in addition to
    referenced objects."""

    @property
    def api_version(self) -> str:
        """Return the group and version, such as ``cluster.x-k8s.io/v1beta2`` or ``v1``."""
        return str(self.body["apiVersion"])

    @property
    def kind(self) -> str:
        """Return the kind."""
        return str(self.body["kind"])

    @property
    def name(self) -> str:
        """Return the object's name."""
        return str(self.body["metadata"]["name"])

    @property
    def namespace(self) -> str | None:
        """Return the object's namespace; None for a cluster-scoped kind."""
        namespace = self.body["metadata"].get("namespace")
        return None if namespace is None else str(namespace)

    @property
    def key(self) -> str:
        """Return the identifier of the object in a region: ``cluster/group/version/kind/namespace/name``."""
        return "/".join((self.cluster, self.api_version, self.kind, self.namespace or "-", self.name))


class Patch(Struct):
    """Fields that are applied to existing objects of another controller. The patch creates no objects."""

    api_version: str
    kind: str
    names: tuple[str, ...]
    fields: Json
    """Top-level keys, such as ``spec``, with values for all named objects."""
    namespace: str | None = None
    """Namespace of the objects; None for a cluster-scoped kind."""
    wait_seconds: int = 0
    """Seconds that ``pulumi up`` waits for objects that their controller creates. Objects that are still missing are
    patched by the next run."""
    unless: Json | None = None
    """Part of an object that makes the patch unnecessary, such as reported versions. Such an object is not patched
    while its fields are empty, and no object is patched before it reports this part. None to patch all objects."""
    made_of: str | None = None
    """Identifier of the source from which the controller creates the objects. If the identifier changes, the controller
    recreates the objects, and they are patched again."""

    def objects(self, cluster: str) -> Iterator[Manifest]:
        """Yield each named object with only the patched fields."""
        for name in self.names:
            metadata = {"name": name, **({} if self.namespace is None else {"namespace": self.namespace})}
            body = {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata, **self.fields}
            yield Manifest(body=body, cluster=cluster)


class ManifestSet(Struct):
    """Set of objects that forms a single Pulumi resource, such as the hosts of a rack."""

    name: str
    namespace: str
    """Namespace of the set's parent object (ApplySet, KEP-3659)."""
    members: Mapping[str, Manifest]
    """Objects of the set by a stable key, in order. All objects belong to the same cluster."""
    cluster: str = MANAGEMENT
    patches: Mapping[str, Patch] = field(default_factory=dict)
    """Patches of objects that other controllers create in the same cluster, by a stable key."""


Rendered: TypeAlias = Manifest | ManifestSet


def objects(rendered: tuple[Rendered, ...]) -> Iterator[Manifest]:
    """Yield all objects of ``rendered`` in order, including members of sets and the patched fields of patches."""
    for item in rendered:
        yield from created((item,))
        yield from patched((item,))


def created(rendered: tuple[Rendered, ...]) -> Iterator[Manifest]:
    """Yield the objects that ``rendered`` creates, in order, including members of sets."""
    for item in rendered:
        if isinstance(item, ManifestSet):
            yield from item.members.values()
        else:
            yield item


def patched(rendered: tuple[Rendered, ...]) -> Iterator[Manifest]:
    """Yield the objects of other controllers that ``rendered`` patches, with only the patched fields."""
    for item in rendered:
        if isinstance(item, ManifestSet):
            for patch in item.patches.values():
                yield from patch.objects(item.cluster)
