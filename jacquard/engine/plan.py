"""What a preview plans for objects that are there: which go, or go and come anew, and what forces that.

Source of the shapes: ``StepEventMetadata`` of the engine's events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from jacquard.engine.urns import Urn, is_object

REPLACING = frozenset({"replace", "create-replacement"})
"""Steps of a replacement that know both what is there and what comes."""
_STEP = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)')
_ABSENT = object()

Json: TypeAlias = Mapping[str, Any]
Identity: TypeAlias = tuple[str, str, str, str, str]
"""Provider, API group, kind, namespace and name of an object: what it is, whatever its resource is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """An object that is there and that a plan deletes, for good or to make it anew."""

    urn: Urn
    replaced: bool
    """Whether it is made anew."""
    forced_by: tuple[str, ...] = ()
    """Properties that cannot change without that, as paths; none where the engine names none."""
    recorded: Json
    """What was declared when it was applied last."""
    declared: Json | None = None
    """What is declared now; None if nothing is."""
    provider: str

    @property
    def identity(self) -> Identity | None:
        """Return which object it is."""
        return identity(self.provider, self.recorded)

    @property
    def cluster(self) -> str:
        """Return the cluster that it is in, after which its provider is called."""
        return cluster_of(self.provider)

    @property
    def changed(self) -> bool:
        """Tell whether somebody declared otherwise what forces the replacement."""
        if self.declared is None:
            return True
        if not self.forced_by:
            return dict(self.recorded) != dict(self.declared)
        return any(_value(self.recorded, path) != _value(self.declared, path) for path in self.forced_by)

    def __str__(self) -> str:
        """Return the object as messages quote it: kind, namespace and name."""
        metadata = self.recorded.get("metadata") or {}
        name = "/".join(part for part in (metadata.get("namespace"), metadata.get("name")) if part)
        return f"{self.urn.kind} {name or self.urn.name}"


@dataclass(slots=True)
class Plan:
    """The steps of a preview, as far as they end something. Feed it with `see`, in order."""

    losses: dict[str, Loss] = field(default_factory=dict)
    """Objects that go, by URN."""
    declared: set[Identity] = field(default_factory=set)
    """Objects that are declared."""
    _moved: dict[str, bool] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Tell whether applying would change no object and nothing that the state says of any resource."""
        return bool(self._moved) and not any(self._moved.values())

    @property
    def known(self) -> frozenset[tuple[str, str, str, str]]:
        """Return cluster, kind with its group, namespace and name of all objects that are declared, or go."""
        every = {*self.declared, *(found for loss in self.losses.values() if (found := loss.identity))}
        return frozenset(
            (cluster_of(provider), f"{group}/{kind}" if group else kind, namespace, name)
            for provider, group, kind, namespace, name in every
        )

    def see(self, metadata: Json) -> None:
        """Take in a step that the engine is done with planning; what a refresh before it has read declares nothing."""
        urn, operation = metadata["urn"], str(metadata["op"])
        if operation == "refresh":
            return
        old, new = metadata.get("old") or {}, metadata.get("new") or {}
        self._moved[urn] = operation != "same" or old != new
        if new and (found := identity(new.get("provider", ""), new.get("inputs") or {})):
            self.declared.add(found)
        kept = old.get("retainOnDelete") or not is_object(Urn(urn))
        if not kept and (operation in REPLACING or operation == "delete"):
            self.losses[urn] = Loss(
                urn=Urn(urn),
                replaced=operation in REPLACING,
                forced_by=tuple(forcing(metadata)),
                recorded=old.get("inputs") or {},
                declared=new.get("inputs") or {} if new else None,
                provider=old.get("provider", ""),
            )


def identity(provider: str, inputs: Json) -> Identity | None:
    """Return which object a resource stands for, by its provider's URN and its inputs; None if it is no object."""
    metadata, kind = inputs.get("metadata") or {}, inputs.get("kind")
    if not kind or not isinstance(metadata, Mapping) or not metadata.get("name"):
        return None
    group = str(inputs.get("apiVersion") or "").rpartition("/")[0]
    # Behind the URN comes an id, which a provider that is made anew gets anew.
    owner = "::".join(provider.split("::")[:4])
    return owner, group, str(kind), str(metadata.get("namespace") or ""), str(metadata["name"])


def cluster_of(provider: str) -> str:
    """Return the cluster that a provider is called after, by its URN."""
    return "::".join(provider.split("::")[3:4])


def forcing(metadata: Json) -> Iterator[str]:
    """Yield the paths of the properties that force a replacement, in order."""
    detail = metadata.get("detailedDiff") or {}
    named = sorted(path for path, one in detail.items() if str(one.get("diffKind", "")).endswith("-replace"))
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
