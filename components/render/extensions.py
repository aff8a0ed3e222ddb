"""What a component of a repository of regions is made from: whatever objects it adds to a slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from components.render.manifest import Manifest, Rendered
from components.specs.reading.problems import one_of

_PREFIX = "pulumi.com/"
_SWITCH = ("true", "false")
_ORDERS: Mapping[str, tuple[str, ...]] = {
    f"{_PREFIX}deletionPropagationPolicy": ("background", "foreground", "orphan"),
    f"{_PREFIX}patchForce": _SWITCH,
    f"{_PREFIX}skipAwait": _SWITCH,
}
_AWAITED = (f"{_PREFIX}waitFor", f"{_PREFIX}timeoutSeconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnInput:
    """A component that no module of ours knows."""

    name: str
    """Pulumi name of the component, unique among such components of a slice; another name is another component."""
    objects: tuple[Rendered, ...]
    """Objects of the component, in the order they are applied; each says its cluster."""

    def render(self) -> tuple[Rendered, ...]:
        """Return the objects of the component."""
        return self.objects


def wrong_orders(item: Manifest) -> Iterator[str]:
    """Yield what is wrong with the annotations by which an object orders its provider about.

    The vendor's provider takes no notice of what it cannot read, or makes the object, fails, and forgets it.
    """
    annotations = item.body["metadata"].get("annotations") or {}
    for key, value in annotations.items():
        if not key.startswith(_PREFIX):
            continue
        if key in _AWAITED:
            yield f"annotation {key} is written from readiness; give the Manifest readiness=Readiness(...) instead"
        elif key not in _ORDERS:
            yield f"annotation {key} is nothing that an object may say; it may say {', '.join(_ORDERS)}"
        elif value not in _ORDERS[key]:
            yield f"annotation {key} is '{value}'; write {one_of(_ORDERS[key])}"
