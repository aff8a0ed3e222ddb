"""What a renderer returns: Kubernetes objects as plain data, and what is known about applying them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

MANAGEMENT = "management"
"""Name of the management cluster among the clusters of a region."""

Json: TypeAlias = Mapping[str, Any]

_AWAITABLE = re.compile(r"condition=[^=]+(=[^=]+)?|jsonpath=\{[^{}]+\}(=.+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """What ``pulumi up`` waits for after an object was applied.

    ``conditions`` are expressions of the annotation ``pulumi.com/waitFor``:
    ``condition=Type``, ``condition=Type=Status`` or ``jsonpath={.path}=value``; all must hold.
    """

    conditions: tuple[str, ...]
    timeout_seconds: int

    def __post_init__(self) -> None:
        """Refuse what cannot be awaited.

        The vendor's provider makes the object first, fails then and forgets it: the next run finds it there already.
        """
        wrong = [
            f"'{text}' cannot be awaited; write condition=TYPE, condition=TYPE=STATUS or jsonpath={{.path}}=VALUE"
            for text in self.conditions
            if not _AWAITABLE.fullmatch(text)
        ]
        wrong += [] if self.conditions else ["no condition is named; name one"]
        wrong += [] if self.timeout_seconds > 0 else [f"timeout_seconds is {self.timeout_seconds}; write at least 1"]
        if wrong:
            raise ValueError("\n".join(wrong))


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One Kubernetes object, whole, and the cluster it belongs to."""

    body: Json
    cluster: str = MANAGEMENT
    readiness: Readiness | None = None
    retain: bool = False
    """Whether the object stays in the cluster when it leaves the program, as templates do that machines may still refer
    to."""
    protect: bool = False
    """Whether it is refused to delete or replace the object, as for data stores and clusters with tenants."""
    after: tuple[tuple[str, str], ...] = ()
    """Kind and name of objects of its cluster that it is applied after, where no field of it names them."""

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
        """Return what identifies the object in a region: ``cluster/group/version/kind/namespace/name``."""
        return "/".join((self.cluster, self.api_version, self.kind, self.namespace or "-", self.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """Fields of objects that another controller makes; they are applied to those that are there, and none is made."""

    api_version: str
    kind: str
    names: tuple[str, ...]
    fields: Json
    """Top-level keys, such as ``spec``, with values that are the same for all objects that are named."""
    namespace: str | None = None
    """Where the objects are; None for a cluster-scoped kind."""
    wait_seconds: int = 0
    """How long ``pulumi up`` waits for objects that their controller makes within seconds; what is not there by then
    the next one patches."""
    made_of: str | None = None
    """A word for what their controller makes the objects of; with another one they are made anew, and patched anew."""

    def objects(self, cluster: str) -> Iterator[Manifest]:
        """Yield each named object with these fields and nothing else."""
        for name in self.names:
            metadata = {"name": name, **({} if self.namespace is None else {"namespace": self.namespace})}
            body = {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata, **self.fields}
            yield Manifest(body=body, cluster=cluster)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestSet:
    """Objects of which there are many, and which are one Pulumi resource: the hosts of a rack, say."""

    name: str
    namespace: str
    """Namespace in which the set's parent object lives (ApplySet, KEP-3659)."""
    members: Mapping[str, Manifest]
    """Objects of the set by a stable key, in order, all of one cluster."""
    cluster: str = MANAGEMENT
    patches: Mapping[str, Patch] = field(default_factory=dict)
    """Fields of objects that other controllers make in the same cluster, by a stable key."""


Rendered: TypeAlias = Manifest | ManifestSet


def objects(rendered: tuple[Rendered, ...]) -> Iterator[Manifest]:
    """Yield every single object of ``rendered``, sets opened, in order; of patched objects what is applied to them."""
    for item in rendered:
        if isinstance(item, ManifestSet):
            yield from item.members.values()
            for patch in item.patches.values():
                yield from patch.objects(item.cluster)
        else:
            yield item
