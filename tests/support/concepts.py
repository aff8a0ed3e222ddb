"""Which concepts there are: each component has a module, and all else about it has modules of the same name."""

from __future__ import annotations

from components.render.concept import Concept
from jacquard.machine import paths


def concept_names() -> list[str]:
    """Return the concepts that have a component."""
    modules = {path.stem for path in (paths.ROOT / "components").glob("*.py")}
    return sorted(modules - {"__init__", "resources"})


def concept_name(concept: Concept) -> str:
    """Return the concept of one input, which is the name of its module."""
    return type(concept).__module__.rpartition(".")[2]
