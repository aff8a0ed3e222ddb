"""Golden files of the large region: counts of objects by slice and kind, and whole objects of a sample.

`jacquard render --base REF` shows every object that a change renders differently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.inputs.manifests import manifests
from components.inputs.slice_inputs import inputs
from components.lookups.slices import Slice, slices
from components.render.concept import Concept
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.fleet.delegation import DelegationInput
from components.render.manifest import objects
from components.render.network.tenant_network import TenantNetworkInput
from components.render.pools.node_pool import NodePoolInput
from components.render.region.engine.engine import EngineInput
from components.render.region.region import RegionInput
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.struct import replace
from tests.support.checks.golden import assert_reviewed, documents
from tests.support.data.environment_data import ENVIRONMENTS

NAME = "us-east-04a"
FOLDER = Path(__file__).parent / NAME
COUNTS = FOLDER / "counts.txt"
CHOSEN: dict[str, tuple[type[Concept], str]] = {
    "foundation": (RegionInput, NAME),
    "delegation": (DelegationInput, NAME),
    "engine": (EngineInput, NAME),
    "vpc": (TenantNetworkInput, "aurelia"),
    "partition": (TenantNetworkInput, "aurelia-train-aurelia"),
    "hosted_control_plane": (HostedControlPlaneInput, "borealis-train"),
    "hgx_group": (NodePoolInput, "borealis-train-h100"),
    "nvl72_group": (NodePoolInput, "aurelia-train-nvl72"),
}
"""Objects shown completely, by golden file, kind and name; of a pool the first rollout group."""
SLICES = frozenset({"tenant-delphi", "cluster-delphi-fold", "fleet"})
"""Slices of the engine that are shown."""


@pytest.fixture(scope="module")
def region() -> Environment:
    return load_environment(NAME, ENVIRONMENTS)


def counts(region: Environment, part: Slice) -> Iterator[str]:
    """Yield the number of resources of ``part``, then of its objects by kind."""
    rendered = manifests(region, part)
    yield f"{part.name}: {len(rendered) + len(inputs(region, part))} resources"
    kinds = Counter(item.kind for item in objects(rendered))
    yield from (f"{part.name} {kind} {count}" for kind, count in sorted(kinds.items()))


def test_the_large_region_has_as_many_objects_of_each_kind_as_were_reviewed(region: Environment) -> None:
    listed = [text for part in slices(region) for text in counts(region, part)]

    assert_reviewed(COUNTS, "\n".join([*listed, ""]))


@pytest.mark.parametrize("file", CHOSEN)
def test_sampled_objects_of_the_large_region_match_golden_files(region: Environment, file: str) -> None:
    kind, name = CHOSEN[file]
    every = [item for part in slices(region) for item in inputs(region, part)]
    [concept] = [item for item in every if isinstance(item, kind) and item.name == name]
    if isinstance(concept, NodePoolInput):
        concept = replace(concept, groups=concept.groups[:1])
    if isinstance(concept, EngineInput):
        concept = replace(concept, slices=[item for item in concept.slices if item.name in SLICES])

    assert_reviewed(FOLDER / f"{file}.yaml", documents(objects(concept.render())))


def test_there_is_no_golden_file_without_a_test() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {COUNTS.name, *(f"{file}.yaml" for file in CHOSEN)}
