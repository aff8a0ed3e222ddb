"""What every component is made from."""

from __future__ import annotations

from typing import Protocol

from components.render.manifest import Rendered


class Concept(Protocol):
    """What one component is made from: plain data with everything looked up already, and the objects that it means."""

    @property
    def name(self) -> str:
        """Return the Pulumi name of the component, unique among those of its class."""
        ...

    def render(self) -> tuple[Rendered, ...]:
        """Return the objects of the component, in the order they are applied."""
        ...
