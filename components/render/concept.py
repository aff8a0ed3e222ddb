"""The input of a component, and the input with its rendered objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from components.render.manifest import Rendered


class Concept(Protocol):
    """Input of one component: plain data with all names resolved, and the objects rendered from it."""

    @property
    def name(self) -> str:
        """Return the Pulumi name of the component, unique among those of its class."""
        ...

    def render(self) -> tuple[Rendered, ...]:
        """Return the objects of the component, in the order they are applied."""
        ...


T = TypeVar("T", bound=Concept)
T_co = TypeVar("T_co", bound=Concept, covariant=True)


@dataclass(frozen=True)
class Made(Generic[T_co]):
    """The input of a component with its objects, which are rendered on first use, and once."""

    concept: T_co

    @cached_property
    def rendered(self) -> tuple[Rendered, ...]:
        """Return the objects of the concept, in the order they are applied."""
        return self.concept.render()
