"""Steps of a preview for each resource, and drift that a preceding refresh detected.

Source of the shapes: ``StepEventMetadata`` of the engine's events.
"""

from dataclasses import dataclass, field

from components.specs.struct import Struct
from jacquard.engine.plan import REPLACING, Json, cluster_of, forcing
from jacquard.engine.urns import Urn, is_object

_SILENT = frozenset({"same", "read", "refresh", "discard", "delete-replaced"})


class Step(Struct):
    """A planned step for one resource."""

    urn: Urn
    operation: str
    """``create``, ``update``, ``replace``, ``delete``, or ``retain``: removed from the stack, kept in the cluster."""
    cluster: str
    """Cluster of the resource."""
    there: Json
    """Known properties of the existing object; empty if there is no object."""
    declared: Json
    """Current declaration; empty if the resource is no longer declared."""
    differing: tuple[str, ...]
    """Paths of the properties that differ according to the provider."""
    forced_by: tuple[str, ...]
    """Properties that force a replacement; empty if the resource is not replaced."""


@dataclass(slots=True)
class Steps:
    """The steps of a preview that change a resource. Pass each step to `see`, in order."""

    found: dict[str, Step] = field(default_factory=dict)
    """Planned steps, by URN."""
    drift: dict[str, Step] = field(default_factory=dict)
    """Steps that would restore the last applied state of resources with drift, by URN."""

    def see(self, metadata: Json, label: str) -> None:
        """Process a planned step, which is shown to users as ``label``."""
        urn, operation = Urn(metadata["urn"]), str(metadata["op"])
        old, new = metadata.get("old") or {}, metadata.get("new") or {}
        before, after = old.get("inputs") or {}, new.get("inputs") or {}
        if not is_object(urn):
            return
        if operation == "refresh" and before != after:
            self.drift[urn.text] = _step(metadata, "update" if after else "create", there=after, declared=before)
        if operation not in _SILENT:
            self.found[urn.text] = _step(metadata, label, there=before, declared=after)


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
