"""NVIDIA's operator runs for GPUs of containers, and starts no agents on nodes whose GPUs are for VMs."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs.add_ons import of_cluster
from components.lookups.add_ons import uses_gpus
from components.lookups.pools import PlacedCluster, clusters
from components.render.manifest import Manifest
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.struct import replace
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.objects.rendered_objects import objects_of

RENDER = "tessera-render"
"""A cluster in which all nodes with GPUs have an image that binds the GPUs to vfio-pci."""


@pytest.fixture(scope="module")
def south() -> Environment:
    return load_environment("eu-south-03a", ENVIRONMENTS)


def placed_in(environment: Environment, *pools: dict[str, Any]) -> PlacedCluster:
    """Return the cluster with VMs, and with further ``pools`` like its GPU pool."""
    [placed] = [placed for placed in clusters(environment) if placed.cluster.name == RENDER]
    of_vms = next(pool for pool in placed.cluster.pools if pool.name == "l40s")
    more = tuple(of_vms.model_copy(update=pool) for pool in pools)
    cluster = placed.cluster.model_copy(update={"pools": (*placed.cluster.pools, *more)})
    return replace(placed, cluster=cluster)


def rendered(environment: Environment, placed: PlacedCluster) -> tuple[Manifest, ...]:
    [given] = of_cluster(environment, placed)
    return objects_of(given)


def releases(items: tuple[Manifest, ...]) -> dict[str, Manifest]:
    return {item.name: item for item in items if item.kind == "HelmRelease"}


def test_with_gpus_for_vms_only_no_operator_waits_for_a_driver(south: Environment) -> None:
    items = rendered(south, placed_in(south))

    assert "gpus" not in releases(items)
    assert "node-features" in releases(items)
    assert [item.name for item in items if item.kind == "NodeFeatureRule"] == ["declared-hardware"]


def test_nodes_without_the_driver_have_no_agents_in_mixed_clusters(south: Environment) -> None:
    items = rendered(south, placed_in(south, {"name": "train", "image": "channel"}))
    [rule] = [item for item in items if item.name == "gpus-of-vms"]
    [written] = rule.body["spec"]["rules"]

    assert written["labels"] == {"nvidia.com/gpu.deploy.operands": "false"}
    assert {entry["feature"]: entry["matchExpressions"] for entry in written["matchFeatures"]} == {
        "pci.device": {"vendor": {"op": "In", "value": ["10de"]}, "class": {"op": "In", "value": ["0300", "0302"]}},
        "kernel.loadedmodule": {"nvidia": {"op": "DoesNotExist"}},
    }
    assert releases(items)["node-features"].readiness is not None
    assert "gpus" in releases(items)


def test_nodes_that_still_run_an_image_count_until_they_are_replaced(south: Environment) -> None:
    placed = placed_in(south)
    pools = tuple(pool.model_copy(update={"image": "channel"}) for pool in placed.cluster.pools)
    moving = replace(placed, cluster=placed.cluster.model_copy(update={"pools": pools}))

    assert [uses_gpus(south, moving, for_vms=vms) for vms in (True, False)] == [True, True]
    assert [uses_gpus(south, placed, for_vms=vms) for vms in (True, False)] == [True, False]
