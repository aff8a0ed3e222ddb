"""What a preview would do to each resource, and what a refresh before it has found to be otherwise than applied.

Source of the shapes: ``StepEventMetadata`` of the engine's events.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from jacquard.engine.plan import REPLACING, Json, cluster_of, forcing
from jacquard.engine.urns import Urn, is_object

_SILENT = frozenset({"same", "read", "refresh", "discard", "delete-replaced"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What would be done to one resource."""

    urn: Urn
    operation: str
    """``create``, ``update``, ``replace``, ``delete``, or ``retain``: the stack forgets it and the cluster keeps it."""
    cluster: str
    """The cluster it is in."""
    there: Json
    """What is there, as far as it is known; nothing if nothing is."""
    declared: Json
    """What is declared now; nothing if nothing is."""
    differing: tuple[str, ...]
    """Properties that its provider calls others, as paths."""
    forced_by: tuple[str, ...]
    """Properties that cannot change without a replacement; nothing where the resource is not replaced."""


@dataclass(slots=True)
class Steps:
    """The steps of a preview that do something. Feed it with `see`, in order."""

    found: dict[str, Step] = field(default_factory=dict)
    """What would be done, by URN."""
    drift: dict[str, Step] = field(default_factory=dict)
    """What would make of resources again what was applied last, where a refresh found them otherwise, by URN."""

    def see(self, metadata: Json, word: str) -> None:
        """Take in a step that the engine is done with planning, which people call ``word``."""
        urn, operation = Urn(metadata["urn"]), str(metadata["op"])
        old, new = metadata.get("old") or {}, metadata.get("new") or {}
        before, after = old.get("inputs") or {}, new.get("inputs") or {}
        if not is_object(urn):
            return
        if operation == "refresh" and before != after:
            self.drift[urn.text] = _step(metadata, "update" if after else "create", there=after, declared=before)
        if operation not in _SILENT:
            self.found[urn.text] = _step(metadata, word, there=before, declared=after)


def _step(metadata: Json, operation: str, *, there: Json, declared: Json) -> Step:
    provider = (metadata.get("new") or metadata.get("old") or {}).get("provider") or ""
    return Step(
        urn=Urn(metadata["urn"]),
        operation=operation,
        cluster=cluster_of(provider),
        there=there,
        declared=declared,
        differing=tuple(sorted(metadata.get("detailedDiff") or {})),
        forced_by=tuple(forcing(metadata)) if metadata["op"] in REPLACING else (),
    )
