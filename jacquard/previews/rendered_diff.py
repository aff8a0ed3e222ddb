"""Which objects base and head render otherwise, slice by slice: what can be told without an engine or a cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from components.render.manifest import Manifest
from components.specs.base import Spec
from jacquard.previews.impacts.impact import Impact
from jacquard.previews.objects import Declared, rendered_changes
from jacquard.previews.preview import ObjectChange
from jacquard.previews.secrets import Secrets
from jacquard.previews.snapshots import Key, Side, same

FORMAT = 1


class SliceDiff(Spec):
    """Objects of one slice that are rendered otherwise."""

    slice: str
    """Name of the slice, the last part of its stack's name where the environment is applied in slices."""
    changes: tuple[ObjectChange, ...]
    """The objects, the same change of many as one, what goes first. That a field forces an object to be made anew only
    the engine knows: this is an update here."""


class RenderedDiff(Spec):
    """What a base and a head of one environment render otherwise."""

    schema_version: int = FORMAT
    """Version of this form."""
    environment: str
    """Name of the environment."""
    base: str
    """Commit that is compared with."""
    head: str
    """Commit, or ``work tree`` where something is not committed."""
    by_head: bool
    """Whether the code of the head rendered both, since that of the base could not: what another code renders otherwise
    is missing then."""
    slices: tuple[SliceDiff, ...]
    """Slices with such objects, in the order they are applied; those that the head has no more at the end."""


def rendered_diff(base: Side, head: Side, impact: Impact, *, by_head: bool) -> RenderedDiff:
    """Return which objects of two sides are rendered otherwise.

    Args:
        base: the region as it was.
        head: the region as it will be.
        impact: what the change between them does, which names both.
        by_head: whether the code of the base could not render its own objects.
    """
    by_slice: dict[str, list[Key]] = defaultdict(list)
    for key in dict.fromkeys((*head.parts, *base.parts)):
        if not same(base.parts.get(key), head.parts.get(key)):
            by_slice[key[0]].append(key)
    # What one component holds as a secret any other may use; rendering all is saved where nothing is told.
    secrets = Secrets.of(item.body for side in (base, head) for item in _objects(side, side.parts if by_slice else ()))
    found = {
        name: rendered_changes(Declared(*(_objects(side, keys) for side in (base, head))), secrets)
        for name, keys in by_slice.items()
    }
    return RenderedDiff(
        environment=impact.environment,
        base=impact.base,
        head=impact.head,
        by_head=by_head,
        slices=tuple(SliceDiff(slice=name, changes=changes) for name, changes in found.items() if changes),
    )


def _objects(side: Side, keys: Iterable[Key]) -> Iterator[Manifest]:
    return (item for key in keys if (part := side.parts.get(key)) for item in part.objects())
