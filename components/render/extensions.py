"""Input of extension components: the objects that a user's repository adds to a slice."""

from collections.abc import Iterator, Mapping

from components.render.manifest import Manifest, Rendered
from components.specs.reading.problems import one_of
from components.specs.struct import Struct

_PREFIX = "pulumi.com/"
_SWITCH = ("true", "false")
_SUPPORTED: Mapping[str, tuple[str, ...]] = {
    f"{_PREFIX}deletionPropagationPolicy": ("background", "foreground", "orphan"),
    f"{_PREFIX}patchForce": _SWITCH,
    f"{_PREFIX}skipAwait": _SWITCH,
}
_AWAITED = (f"{_PREFIX}waitFor", f"{_PREFIX}timeoutSeconds")


class ExtensionInput(Struct):
    """Input of an extension component."""

    name: str
    """Pulumi name of the component, unique among the extension components of a slice. A new name means a new
    component."""
    objects: tuple[Rendered, ...]
    """Objects of the component, in the order in which they are applied. Each object specifies its cluster."""

    def render(self) -> tuple[Rendered, ...]:
        """Return the objects of the component."""
        return self.objects


def annotation_problems(item: Manifest) -> Iterator[str]:
    """Yield the problems of an object's ``pulumi.com/`` annotations, which control the provider.

    The vendor's provider ignores values that it cannot parse, or it creates the object, fails, and does not record the
    object in the state.
    """
    annotations = item.body["metadata"].get("annotations") or {}
    for key, value in annotations.items():
        if not key.startswith(_PREFIX):
            continue
        if key in _AWAITED:
            yield f"annotation {key} is set from readiness; pass readiness=Readiness(...) to the Manifest instead"
        elif key not in _SUPPORTED:
            yield f"annotation {key} is not supported on an object; use one of {', '.join(_SUPPORTED)}"
        elif value not in _SUPPORTED[key]:
            yield f"annotation {key} is '{value}'; write {one_of(_SUPPORTED[key])}"
