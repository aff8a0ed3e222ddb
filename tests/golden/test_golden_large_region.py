"""The large region: how many objects each slice has and their digest, and whole objects of a few.

A change of what is rendered shows in the digests of all slices it touches and, in full, in the chosen objects.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from environment_data import ENVIRONMENTS
from golden import as_yaml, assert_reviewed, documents

from components.plan.inputs import Input, inputs
from components.plan.manifests import manifests, render
from components.plan.slices import Slice, slices
from components.render.manifest import objects
from components.render.node_pool import NodePoolInput
from components.render.region import RegionInput
from components.render.tenant_network import TenantNetworkInput
from components.specs.environment import Environment
from components.specs.loader import load_environment

NAME = "us-east-04a"
FOLDER = Path(__file__).parent / NAME
CHOSEN: dict[str, tuple[type[Input], str]] = {
    "foundation": (RegionInput, NAME),
    "vpc": (TenantNetworkInput, "aurelia"),
    "partition": (TenantNetworkInput, "aurelia-train-aurelia"),
    "hgx_group": (NodePoolInput, "borealis-train-h100"),
    "nvl72_group": (NodePoolInput, "aurelia-train-nvl72"),
}
"""By golden file: what is shown whole, by its kind and name; of a pool the first rollout group."""


@pytest.fixture(scope="module")
def region() -> Environment:
    return load_environment(NAME, ENVIRONMENTS)


def summary(region: Environment, part: Slice) -> dict[str, Any]:
    """Return what ``part`` has in numbers, and a digest of all of it."""
    rendered = manifests(region, part)
    items = tuple(objects(rendered))
    text = json.dumps([[item.cluster, item.body] for item in items])
    return {
        "resources": len(rendered) + len(inputs(region, part)),
        "objects": dict(sorted(Counter(item.kind for item in items).items())),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }


def test_each_slice_of_the_large_region_is_what_was_reviewed(region: Environment) -> None:
    assert_reviewed(FOLDER / "slices.yaml", as_yaml({part.name: summary(region, part) for part in slices(region)}))


@pytest.mark.parametrize("file", CHOSEN)
def test_chosen_objects_of_the_large_region_are_what_was_reviewed(region: Environment, file: str) -> None:
    kind, name = CHOSEN[file]
    every = [item for part in slices(region) for item in inputs(region, part)]
    [concept] = [item for item in every if isinstance(item, kind) and item.name == name]
    if isinstance(concept, NodePoolInput):
        concept = replace(concept, groups=concept.groups[:1])

    assert_reviewed(FOLDER / f"{file}.yaml", documents(objects(render(concept))))


def test_there_is_no_golden_file_without_a_test() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {"slices", *CHOSEN}
