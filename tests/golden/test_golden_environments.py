"""Whole objects of the small environments, one file a concept: a change of what is rendered is seen in review.

Refresh with ``JACQUARD_UPDATE_GOLDEN=1 python -m pytest tests/golden`` and read the difference before committing it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from environment_data import ENVIRONMENTS
from golden import assert_reviewed, documents

from components.plan.inputs import Input, inputs
from components.plan.manifests import render
from components.plan.slices import slices
from components.render.cluster_access import ClusterAccessInput
from components.render.hosted_control_plane import HostedControlPlaneInput
from components.render.inventory import InventoryInput
from components.render.manifest import Rendered, objects
from components.render.node_pool import NodePoolInput
from components.render.region import RegionInput
from components.render.storage import StorageCatalogInput
from components.render.tenant_network import TenantNetworkInput
from components.render.vm_offering import VmOfferingInput
from components.specs.loader import load_environment

FOLDER = Path(__file__).parent
SMALL = ("laptop", "lab", "eu-south-03a")
CONCEPTS: dict[str, type[Input]] = {
    "region": RegionInput,
    "inventory": InventoryInput,
    "tenant_network": TenantNetworkInput,
    "hosted_control_plane": HostedControlPlaneInput,
    "cluster_access": ClusterAccessInput,
    "node_pool": NodePoolInput,
    "storage": StorageCatalogInput,
    "vm_offering": VmOfferingInput,
}
RACKS_SHOWN = 1
"""Racks of a hall differ in identity only: one shows them all."""


@cache
def concepts(name: str) -> tuple[Input, ...]:
    environment = load_environment(name, ENVIRONMENTS)
    return tuple(item for part in slices(environment) for item in inputs(environment, part))


def rendered(name: str, concept: type[Input]) -> Iterator[Rendered]:
    for item in concepts(name):
        if isinstance(item, concept):
            yield from render(item)[: RACKS_SHOWN if concept is InventoryInput else None]


@pytest.mark.parametrize("concept", CONCEPTS)
@pytest.mark.parametrize("name", SMALL)
def test_an_environment_renders_what_was_reviewed(name: str, concept: str) -> None:
    items = objects(tuple(rendered(name, CONCEPTS[concept])))

    assert_reviewed(FOLDER / name / f"{concept}.yaml", documents(items))


@pytest.mark.parametrize("name", SMALL)
def test_there_is_no_golden_file_without_a_concept(name: str) -> None:
    assert {path.stem for path in (FOLDER / name).iterdir()} <= set(CONCEPTS)
