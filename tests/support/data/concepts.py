"""Concepts with a component: the input classes of the table in ``stacks.deploy``, by module name."""

from __future__ import annotations

from components.render.concept import Concept
from stacks.deploy import WAITS_FOR, Extension


def concept_names() -> list[str]:
    """Return the concepts with a component, sorted, without extensions of users."""
    return sorted(
        component.INPUT.__module__.rpartition(".")[2] for component in WAITS_FOR if component is not Extension
    )


def concept_name(concept: Concept) -> str:
    """Return the concept of an input, which is the name of its module."""
    return type(concept).__module__.rpartition(".")[2]
