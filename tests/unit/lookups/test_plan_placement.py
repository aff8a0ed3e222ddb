"""Data stores of clusters that do not name one."""

from __future__ import annotations

from typing import Any

import pytest

from components.lookups.control_planes import control_plane_pins
from components.specs.environment import Environment

ACME, GLOBEX = "tenants/acme.yaml", "tenants/globex.yaml"
SECOND = '    - {name: shared-b, members: 1, endpoints: ["etcd-b:2379"], secret: etcd-b-certs, max_clusters: 20}\n'
DEDICATED = ("region.yaml", "  data_stores:\n", "  dedicated: {storage_class: fast}\n  data_stores:\n")


@pytest.fixture
def placed(laptop: Any) -> Any:
    """Return laptop with new clusters that name no data store."""
    for file in (ACME, GLOBEX):
        laptop.edit(file, ", data_store: shared-a", "")
    (laptop.folder / "images.lock.yaml").unlink()
    return laptop


def stores(environment: Environment) -> dict[str, str]:
    pins, problems = control_plane_pins(environment)
    assert problems == []
    return {name: pin.data_store for name, pin in pins.items()}


def test_small_clusters_share_the_emptiest_data_store(placed: Any) -> None:
    placed.edit("region.yaml", "      max_clusters: 20\n", f"      max_clusters: 20\n{SECOND}")

    assert stores(placed.load()) == {"acme-train": "shared-a", "globex-lab": "shared-b"}


def test_a_cluster_above_the_limit_gets_its_own(placed: Any) -> None:
    placed.edit(*DEDICATED)
    placed.edit("region.yaml", "  dedicated:", "  dedicated_above_nodes: 10\n  dedicated:")

    assert stores(placed.load()) == {"acme-train": "dedicated", "globex-lab": "shared-a"}


def test_a_cluster_with_events_apart_gets_its_own(placed: Any) -> None:
    placed.edit(*DEDICATED)
    placed.edit(GLOBEX, "{replicas: 2}", "{replicas: 2, events: apart}")

    assert stores(placed.load()) == {"acme-train": "shared-a", "globex-lab": "dedicated"}


def test_a_cluster_gets_its_own_when_no_shared_data_store_has_room(placed: Any) -> None:
    placed.edit(*DEDICATED)
    placed.edit("region.yaml", "max_clusters: 20", "max_clusters: 1")

    assert stores(placed.load()) == {"acme-train": "shared-a", "globex-lab": "dedicated"}


def test_a_cluster_keeps_its_data_store_when_another_has_more_room(laptop: Any) -> None:
    for file in (ACME, GLOBEX):
        laptop.edit(file, ", data_store: shared-a", "")
    laptop.edit("region.yaml", "      max_clusters: 20\n", f"      max_clusters: 20\n{SECOND}")

    assert stores(laptop.load()) == {"acme-train": "shared-a", "globex-lab": "shared-a"}


def test_a_cluster_above_the_limit_is_reported_with_a_move(laptop: Any) -> None:
    laptop.edit(ACME, ", data_store: shared-a", "")
    laptop.edit(*DEDICATED)
    laptop.edit("region.yaml", "  dedicated:", "  dedicated_above_nodes: 10\n  dedicated:")

    assert laptop.report().splitlines()[1:] == [
        laptop.resolved(
            "  tenants/acme.yaml:LINE  clusters[0].control_plane.data_store: 'shared-a' is shared, but clusters with"
            " more than 10 nodes (dedicated_above_nodes, region.yaml:<control_planes.dedicated_above_nodes>) require a"
            " dedicated one; acme-train has 16, write dedicated"
        )
    ]


def test_a_cluster_without_a_suitable_data_store_is_reported_with_reasons(placed: Any) -> None:
    placed.edit("region.yaml", "max_clusters: 20", "max_clusters: 1")

    _, [problem] = control_plane_pins(placed.load())

    assert (problem.file, problem.path, problem.text) == (
        GLOBEX,
        "clusters[0].control_plane.data_store",
        placed.resolved(
            "no data store of region.yaml:<control_planes> has capacity for the 4 nodes of the cluster; add"
            " dedicated: {storage_class: ...} there, or a shared data store for a small cluster"
        ),
    )
