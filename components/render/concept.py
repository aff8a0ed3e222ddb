"""Protocol of component inputs, and an input with its rendered objects."""

from functools import cached_property
from typing import Generic, Protocol, TypeVar

from components.render.manifest import Rendered
from components.specs.struct import Struct


class Concept(Protocol):
    """Input of a component: plain data with resolved names, and a method that renders the objects."""

    @property
    def name(self) -> str:
        """Return the Pulumi name of the component, unique within its class."""
        ...

    def render(self) -> tuple[Rendered, ...]:
        """Return the objects of the component, in the order in which they are applied."""
        ...


T = TypeVar("T", bound=Concept)
T_co = TypeVar("T_co", bound=Concept, covariant=True)


class Made(Struct, Generic[T_co], kw_only=False, dict=True):
    """Input of a component with its objects. The objects are rendered once, on first use."""

    concept: T_co

    @cached_property
    def rendered(self) -> tuple[Rendered, ...]:
        """Return the objects of the concept, in the order in which they are applied."""
        return self.concept.render()
