"""Objects of an input, including those of its sets."""

from __future__ import annotations

from components.render.concept import Concept
from components.render.manifest import Manifest, objects


def objects_of(concept: Concept) -> tuple[Manifest, ...]:
    return tuple(objects(concept.render()))
