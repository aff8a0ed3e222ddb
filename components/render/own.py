"""What a component of a repository of regions is made from: whatever objects it adds to a slice."""

from __future__ import annotations

from dataclasses import dataclass

from components.render.manifest import Rendered


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
