"""Differences between the rendered objects of base and head by slice, without an engine or a cluster."""

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
    """Changed objects of one slice."""

    slice: str
    """Name of the slice, the last part of its stack's name where the environment is applied in slices."""
    changes: tuple[ObjectChange, ...]
    """Changes of objects, deletions first; equal changes of several objects are combined. Replacements are shown as
    updates, because only the engine knows the fields that require a replacement."""


class RenderedDiff(Spec):
    """Differences between the rendered objects of a base and a head of one environment."""

    schema_version: int = FORMAT
    """Version of this format."""
    environment: str
    """Name of the environment."""
    base: str
    """Base commit."""
    head: str
    """Head commit, or ``work tree`` with uncommitted changes."""
    by_head: bool
    """Whether the code of the head rendered both sides, because the code of the base could not render; differences
    caused by changed code are then missing."""
    slices: tuple[SliceDiff, ...]
    """Slices with changed objects, in the order in which they are applied; removed slices at the end."""


def rendered_diff(base: Side, head: Side, impact: Impact, *, by_head: bool) -> RenderedDiff:
    """Return the differences between the rendered objects of two sides.

    Args:
        base: region before the change.
        head: region after the change.
        impact: impact of the change, with the names of both sides.
        by_head: whether the code of the base could not render the base.
    """
    by_slice: dict[str, list[Key]] = defaultdict(list)
    for key in dict.fromkeys((*head.parts, *base.parts)):
        if not same(base.parts.get(key), head.parts.get(key)):
            by_slice[key[0]].append(key)
    # A component can use a secret of another component; without differences, no component needs to be rendered.
    secrets = Secrets.of(item.body for side in (base, head) for item in _objects(side, side.parts if by_slice else ()))
    diffs = {
        name: rendered_changes(Declared(*(_objects(side, keys) for side in (base, head))), secrets)
        for name, keys in by_slice.items()
    }
    return RenderedDiff(
        environment=impact.environment,
        base=impact.base,
        head=impact.head,
        by_head=by_head,
        slices=tuple(SliceDiff(slice=name, changes=changes) for name, changes in diffs.items() if changes),
    )


def _objects(side: Side, keys: Iterable[Key]) -> Iterator[Manifest]:
    return (item for key in keys if (part := side.parts.get(key)) for item in part.objects())
