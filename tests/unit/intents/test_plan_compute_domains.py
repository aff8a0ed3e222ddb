"""Clusters with compute domains, and images that exclude their nodes from them."""

from __future__ import annotations

from typing import Any

import pytest

from components.intents.compute_domains import compute_domain_objections
from components.lookups.add_ons import add_ons, facts, nvlink
from components.lookups.pools import PlacedCluster, clusters
from components.specs.environment import Environment
from tests.support.data.nvlink_racks import KIND, racks

CLUSTER, POOL = "acme-train", "train"
FIT = {"imex": True, "gpu_driver": "580.95.05", "kubelet": "v1.35.1"}


def placed(environment: Environment, name: str = CLUSTER) -> PlacedCluster:
    return next(one for one in clusters(environment) if one.cluster.name == name)


def reported(environment: Environment, **contents: Any) -> list[str]:
    """Return the problem with the first image of the catalogue if it has ``contents``."""
    first = environment.images.images[0]
    image = first.model_copy(update={"contents": first.contents.model_copy(update={**FIT, **contents})})
    [pool] = [pool for pool in placed(environment).cluster.pools if pool.name == POOL]
    return compute_domain_objections(environment, image, CLUSTER, pool)


def test_only_clusters_whose_nvlink_spans_nodes_get_the_add_on(region: Environment) -> None:
    def names(environment: Environment) -> list[str]:
        return [entry.name for entry in add_ons(environment, placed(environment))]

    assert "compute-domains" not in names(region)
    assert names(racks(region))[names(region).index("gpus") + 1] == "compute-domains"
    assert names(racks(region, gpu=None)) == [name for name in names(region) if name != "gpus"]


def test_agents_know_how_many_nodes_a_domain_has(region: Environment) -> None:
    wide = racks(region)

    assert nvlink(region, placed(region)) == {}
    assert facts(wide, placed(wide)).nvlink == {KIND: wide.instance_types.by_name[KIND].nodes_per_rack}


@pytest.mark.parametrize(
    ("contents", "lacks"),
    [
        ({}, ""),
        ({"imex": False}, "contents.imex: true"),
        ({"gpu_driver": None}, "gpu_driver 570.158.01"),
        ({"gpu_driver": "570.158.00"}, "gpu_driver 570.158.01"),
        ({"gpu_driver": "570.158.01"}, ""),
        ({"gpu_driver": "nightly"}, ""),
        ({"kubelet": "v1.34.1"}, "kubelet v1.34.2"),
        ({"imex": False, "kubelet": "v1.33.9"}, "contents.imex: true, kubelet v1.34.2"),
        ({"imex": False, "gpu_driver": None, "vfio_devices": ("10DE:2330",)}, ""),
    ],
)
def test_an_image_has_the_prerequisites_of_the_drivers_agents(
    region: Environment, contents: dict[str, Any], lacks: str
) -> None:
    message = f"image gpu-2026.10.2 lacks {lacks}, and acme-train offers compute domains on {KIND}"

    assert reported(racks(region), **contents) == ([message] if lacks else [])
    assert reported(region, **contents) == []


def test_images_have_no_prerequisites_in_clusters_without_compute_domains(region: Environment) -> None:
    wide = racks(region)
    [acme, *others] = wide.tenants
    without = acme.clusters[0].model_copy(update={"without_add_ons": {"compute-domains": "jobs stay in a node"}})
    changed = acme.model_copy(update={"clusters": (without,)})

    assert reported(wide.model_copy(update={"tenants": (changed, *others)}), imex=False) == []
