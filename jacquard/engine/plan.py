"""Destructive steps of a preview: deleted and replaced objects, and the properties that force a replacement.

Source of the shapes: ``StepEventMetadata`` of the engine's events.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from components.render.manifest import cluster_of_provider
from components.specs.struct import Struct
from jacquard.engine.urns import Urn, is_object

REPLACING = frozenset({"replace", "create-replacement"})
"""Steps of a replacement that contain both the old and the new state."""
_STEP = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)')
_ABSENT = object()

Json: TypeAlias = Mapping[str, Any]
Identity: TypeAlias = tuple[str, str, str, str, str]
"""Provider, API group, kind, namespace and name of an object; independent of the resource name."""


class Loss(Struct):
    """An existing object that a plan deletes or replaces."""

    urn: Urn
    replaced: bool
    """Whether the object is replaced."""
    forced_by: tuple[str, ...] = ()
    """Paths of the properties that force the replacement; empty if the engine reports none."""
    recorded: Json
    """Inputs of the last apply, or the live values if the preview refreshed the state."""
    applied: Json
    """Inputs of the last apply, also after a refresh."""
    declared: Json | None = None
    """Current inputs; None if the object is no longer declared."""
    provider: str

    @property
    def identity(self) -> Identity | None:
        """Return the identity of the object."""
        return identity(self.provider, self.recorded)

    @property
    def cluster(self) -> str:
        """Return the object's cluster, which is the name of its provider."""
        return cluster_of(self.provider)

    @property
    def changed(self) -> bool:
        """Return whether a property that forces the replacement changed in the declaration."""
        if self.declared is None:
            return True
        if not self.forced_by:
            return dict(self.applied) != dict(self.declared)
        return any(_value(self.applied, path) != _value(self.declared, path) for path in self.forced_by)

    def __str__(self) -> str:
        """Return kind, namespace and name, as messages show the object."""
        metadata = self.recorded.get("metadata") or {}
        name = "/".join(part for part in (metadata.get("namespace"), metadata.get("name")) if part)
        return f"{self.urn.kind} {name or self.urn.name}"


@dataclass(slots=True)
class Plan:
    """The destructive steps of a preview. Pass each step to `see`, in order."""

    losses: dict[str, Loss] = field(default_factory=dict)
    """Deleted and replaced objects, by URN."""
    declared: set[Identity] = field(default_factory=set)
    """Identities of the declared objects."""
    _moved: dict[str, bool] = field(default_factory=dict)
    _applied: dict[str, Json] = field(default_factory=dict)
    """Inputs of refreshed objects before the refresh, by URN."""

    @property
    def empty(self) -> bool:
        """Return whether an apply would change no object and no recorded state."""
        return bool(self._moved) and not any(self._moved.values())

    @property
    def known(self) -> frozenset[tuple[str, str, str, str]]:
        """Return cluster, kind with group, namespace and name of all declared or deleted objects."""
        every = {*self.declared, *(item for loss in self.losses.values() if (item := loss.identity))}
        return frozenset(
            (cluster_of(provider), f"{group}/{kind}" if group else kind, namespace, name)
            for provider, group, kind, namespace, name in every
        )

    def see(self, metadata: Json) -> None:
        """Process a planned step; of a preceding refresh, only the values of the last apply are kept."""
        urn, operation = metadata["urn"], str(metadata["op"])
        old, new = metadata.get("old") or {}, metadata.get("new") or {}
        if operation == "refresh":
            self._applied[urn] = old.get("inputs") or {}
            return
        self._moved[urn] = operation != "same" or old != new
        if new and (declared := identity(new.get("provider", ""), new.get("inputs") or {})):
            self.declared.add(declared)
        kept = old.get("retainOnDelete") or not is_object(Urn(urn))
        if not kept and (operation in REPLACING or operation == "delete"):
            self.losses[urn] = Loss(
                urn=Urn(urn),
                replaced=operation in REPLACING,
                forced_by=tuple(forcing(metadata)),
                recorded=old.get("inputs") or {},
                applied=self._applied.get(urn, old.get("inputs") or {}),
                declared=new.get("inputs") or {} if new else None,
                provider=old.get("provider", ""),
            )


def identity(provider: str, inputs: Json) -> Identity | None:
    """Return the identity of an object, from its provider's URN and its inputs; None for other resources."""
    metadata, kind = inputs.get("metadata") or {}, inputs.get("kind")
    if not kind or not isinstance(metadata, Mapping) or not metadata.get("name"):
        return None
    group = str(inputs.get("apiVersion") or "").rpartition("/")[0]
    # The URN is followed by an id, which changes when the provider is replaced.
    owner = cluster_of_provider("::".join(provider.split("::")[:4]))
    return owner, group, str(kind), str(metadata.get("namespace") or ""), str(metadata["name"])


def cluster_of(provider: str) -> str:
    """Return the cluster of a provider, from its URN."""
    return cluster_of_provider("::".join(provider.split("::")[3:4]))


def forcing(metadata: Json) -> Iterator[str]:
    """Yield the paths of the properties that force a replacement, sorted."""
    detail = metadata.get("detailedDiff") or {}
    named = sorted(path for path, diff in detail.items() if str(diff.get("diffKind", "")).endswith("-replace"))
    yield from named or sorted(metadata.get("keys") or ())


def _value(inputs: Json, path: str) -> Any:
    value: Any = inputs
    for quoted, place, key in _STEP.findall(path):
        if isinstance(value, Mapping):
            value = value.get(quoted or key or place, _ABSENT)
        elif isinstance(value, list) and place and int(place) < len(value):
            value = value[int(place)]
        else:
            return _ABSENT
    return value
