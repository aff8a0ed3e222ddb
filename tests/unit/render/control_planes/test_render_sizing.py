"""Requests, limits and concurrency of a control plane, by the number of nodes of its cluster."""

from __future__ import annotations

from itertools import pairwise

import pytest

from components.render.control_planes.sizing import SIZES, Component, in_flight, resources, size_for


@pytest.mark.parametrize(
    ("nodes", "cpus"),
    [(0, 1), (5, 1), (6, 2), (10, 2), (11, 4), (100, 4), (250, 8), (500, 16), (501, 32), (5000, 32)],
)
def test_the_row_of_a_cluster_is_the_first_with_enough_nodes(nodes: int, cpus: int) -> None:
    assert size_for(nodes).cpus == cpus


def test_rows_are_ascending_and_the_last_has_no_limit() -> None:
    bounded = [size.nodes for size in SIZES if size.nodes is not None]

    assert bounded == sorted(bounded)
    assert len(bounded) == len(SIZES) - 1
    assert all(before.cpus < after.cpus for before, after in pairwise(SIZES))


def test_components_share_a_machine_and_leave_some_of_it() -> None:
    assert sum(component.value for component in Component) < 1


def test_a_share_is_reserved_and_twice_its_memory_is_the_limit_while_cpu_has_none() -> None:
    assert resources(100, Component.API_SERVER) == {
        "requests": {"cpu": "2000m", "memory": "7680Mi"},
        "limits": {"memory": "15360Mi"},
    }
    assert resources(100, Component.API_SERVER, Component.SCHEDULER) == {
        "requests": {"cpu": "2250m", "memory": "8640Mi"},
        "limits": {"memory": "17280Mi"},
    }


@pytest.mark.parametrize(
    ("nodes", "answered"),
    [(500, None), (501, (1500, 500)), (3000, (1500, 500)), (3001, (3000, 1000))],
)
def test_servers_of_large_clusters_process_more_requests_in_parallel(
    nodes: int, answered: tuple[int, int] | None
) -> None:
    found = in_flight(nodes)

    assert (found and (found.reads, found.writes)) == answered
