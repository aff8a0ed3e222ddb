"""Concepts that have a component: each input class of the table in ``stacks.deploy``, by the name of its module."""

from __future__ import annotations

from components.render.concept import Concept
from stacks.deploy import WAITS_FOR, Extension


def concept_names() -> list[str]:
    """Return the concepts that have a component, sorted; extensions are a user's own."""
    return sorted(
        component.INPUT.__module__.rpartition(".")[2] for component in WAITS_FOR if component is not Extension
    )


def concept_name(concept: Concept) -> str:
    """Return the concept of one input, which is the name of its module."""
    return type(concept).__module__.rpartition(".")[2]
