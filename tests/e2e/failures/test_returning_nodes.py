"""All nodes of a cluster return at once to a real API server, with the flags and the priority level that it gets.

Nothing here depends on the speed of the machine: etcd stops until the server has received the first requests of all
nodes, and requests may wait for minutes. `tests/bench/returning_nodes.py` measures more nodes without both.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from components.render.control_planes.request_priority import LEVEL
from tests.support.api_servers.herd import AGENTS, Herd, Return, users
from tests.support.api_servers.hosted_api_server import HostedApiServer
from tests.support.api_servers.steady_clients import PROBES, PROTECTED

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

NODES = 80
_REQUEST_SECONDS = 2400
OF_CONTROLLERS = "workload-high"
MAY_REJECT = {LEVEL, "system", "workload-low"}
"""Levels of agents, of kubelets without leases and Nodes, and of the tenant's workloads."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostedApiServer]:
    folder = tmp_path_factory.mktemp("return") / "cluster"
    running = HostedApiServer(folder, NODES, users(NODES), request_seconds=_REQUEST_SECONDS)
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def herd(server: HostedApiServer) -> Herd:
    nodes = Herd(server, NODES)
    nodes.prepare()
    return nodes


@pytest.fixture(scope="module")
def prioritised(server: HostedApiServer, herd: Herd) -> Return:
    """The return of all nodes to the rendered control plane."""
    server.prioritise()
    return herd.returns(with_store=False)


@pytest.fixture(scope="module")
def unprioritised(server: HostedApiServer, herd: Herd, prioritised: Return) -> Return:  # noqa: ARG001 - the order
    """The return of all nodes to a control plane without the rendered priority level."""
    server.forget_priority()
    return herd.returns(with_store=False)


def test_all_nodes_return_and_the_server_stays(server: HostedApiServer, prioritised: Return) -> None:
    assert prioritised.complete == NODES
    assert not prioritised.restarted
    assert prioritised.peak_memory < server.memory_limit


@pytest.mark.parametrize("population", PROTECTED)
def test_no_protected_request_is_rejected(prioritised: Return, population: str) -> None:
    tally = prioritised.tallies[population]

    assert tally.statuses[200] > 0
    # Without etcd, probes fail, updates end after 34 s, and later updates can conflict with those.
    assert set(tally.statuses) <= {200, *((500,) if population == PROBES else (409, 504))}


def test_only_agents_kubelets_and_workloads_are_rejected(prioritised: Return) -> None:
    assert prioritised.load.overflows.keys() <= MAY_REJECT


def test_rejected_agents_retry_until_they_are_served(prioritised: Return) -> None:
    assert prioritised.load.overflows[LEVEL] > 0
    assert prioritised.tallies[AGENTS].rejected > 0
    assert prioritised.complete == NODES


def test_without_the_level_agents_take_the_place_of_controllers(prioritised: Return, unprioritised: Return) -> None:
    assert OF_CONTROLLERS not in prioritised.load.overflows
    assert unprioritised.load.overflows[OF_CONTROLLERS] > 0
