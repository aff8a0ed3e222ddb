"""Base of all components. A component renders its input once, registers the objects as children, then its outputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeAlias

import pulumi

from components.render.concept import Concept, Made, T
from components.resources import PACKAGE, Clusters, register

Outputs: TypeAlias = Mapping[str, Any]
"""Outputs of a component by name, as annotated in its class."""


@dataclass(frozen=True, kw_only=True)
class ComponentArgs(Generic[T]):
    """Arguments of every component."""

    concept: T
    """Input of the component, such as a `NodePoolInput`: plain data with resolved names and allocated numbers."""
    clusters: Clusters
    """Clusters that the objects are applied to, by name."""
    made: Made[T] | None = None
    """``concept`` with its rendered objects; None to render the objects here."""


class Component(pulumi.ComponentResource, Generic[T]):
    """Component with one child resource per rendered object of its input."""

    INPUT: ClassVar[type[Concept]]
    """Class of the component's input."""

    def __init__(self, name: str, args: ComponentArgs[T], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:{type(self).__name__}", name, {}, opts)
        made = args.made or Made(args.concept)
        register(self, name, made.rendered, args.clusters)
        outputs = {key: pulumi.Output.from_input(value) for key, value in self._outputs(made).items()}
        for key, output in outputs.items():
            setattr(self, key, output)
        self.register_outputs(outputs)

    def _outputs(self, made: Made[T]) -> Outputs:  # noqa: ARG002 - for subclasses
        return {}
