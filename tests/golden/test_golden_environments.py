"""Whole objects of the small environments, one file per concept, so that reviews show changes of rendered objects.

Refresh with ``JACQUARD_UPDATE_GOLDEN=1 python -m pytest tests/golden`` and review the diff before committing it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.concept import Concept
from components.render.manifest import Rendered, objects
from tests.support.checks.golden import assert_reviewed, documents
from tests.support.data.concepts import concept_name, concept_names
from tests.support.data.environment_data import SMALL, reference

FOLDER = Path(__file__).parent
CONCEPTS = concept_names()
RACKS_SHOWN = 1
"""Racks of a hall differ in identity only, so one is enough."""


@cache
def concepts(name: str) -> tuple[Concept, ...]:
    environment = reference(name)
    return tuple(item for part in slices(environment) for item in inputs(environment, part))


def rendered(name: str, concept: str) -> Iterator[Rendered]:
    for item in concepts(name):
        if concept_name(item) == concept:
            yield from item.render()[: RACKS_SHOWN if concept == "inventory" else None]


@pytest.mark.parametrize("concept", CONCEPTS)
@pytest.mark.parametrize("name", SMALL)
def test_an_environment_renders_its_golden_files(name: str, concept: str) -> None:
    items = objects(tuple(rendered(name, concept)))

    assert_reviewed(FOLDER / name / f"{concept}.yaml", documents(items))


@pytest.mark.parametrize("name", SMALL)
def test_there_is_no_golden_file_without_a_concept(name: str) -> None:
    assert {path.stem for path in (FOLDER / name).iterdir()} <= set(CONCEPTS)
