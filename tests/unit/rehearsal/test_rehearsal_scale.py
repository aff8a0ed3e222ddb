"""The cost of a round of the simulated controllers grows with the number of hosts, not with its square.

Costs are counts of function calls, which are the same in each run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from many_hosts import CLUSTER, Store, calls, management, release, tenant

from jacquard.lab.rehearsal.operators.hosts import agents, bare_metal, claims, nodes, reboots
from jacquard.lab.rehearsal.operators.network import address_pools, dpus
from jacquard.lab.rehearsal.operators.storage.csi_nodes import Registrations

HOSTS = 40
TIMES = 4
CHARTS = ("cilium", "csi-driver-nfs", "gpu-operator", "network-operator", "vast-csi")
POOL = {
    "apiVersion": address_pools.POOL[0],
    "kind": address_pools.POOL[1],
    "metadata": {"name": "rail-1", "namespace": "system"},
    "spec": {"subnet": "10.0.0.0/20", "perNodeBlockSize": 8},
}

DPU_CLUSTER = {"apiVersion": dpus.API, "kind": "DPUCluster", "metadata": {"name": "dpus", "namespace": "dpf"}}
DPU_SET = {
    "apiVersion": dpus.API,
    "kind": "DPUSet",
    "metadata": {"name": "hosts", "namespace": "dpf"},
    "spec": {"dpuTemplate": {"spec": {"bfb": {"name": "bfb"}, "dpuFlavor": "flavor", "nodeEffect": {}}}},
}


def claim(hosts: int) -> Callable[[], None]:
    return partial(claims.reconcile, management(hosts, claimed=False).view)


def follow(hosts: int) -> Callable[[], None]:
    return partial(claims.reconcile, management(hosts).view)


def register(hosts: int) -> Callable[[], None]:
    return partial(bare_metal.reconcile, management(hosts).view)


def flash(hosts: int) -> Callable[[], None]:
    region = management(hosts)
    region.add(DPU_CLUSTER, DPU_SET)
    return partial(dpus.reconcile, region.view)


def join(hosts: int) -> Callable[[], None]:
    empty = tenant(0).view
    return partial(nodes.reconcile, management(hosts).view, lambda _: empty)


def reboot(hosts: int) -> Callable[[], None]:
    joined = tenant(hosts).view
    return partial(reboots.Reboots().reconcile, management(hosts).view, lambda _: joined)


def run_agents(hosts: int) -> Callable[[], None]:
    return partial(agents.reconcile, installed(hosts).view, CLUSTER, tenant(hosts, charts=CHARTS).view)


def register_drivers(hosts: int) -> Callable[[], None]:
    return partial(Registrations().reconcile, installed(hosts).view, CLUSTER, tenant(hosts, charts=CHARTS).view)


def divide(hosts: int) -> Callable[[], None]:
    region, cluster = installed(1, "nv-ipam"), tenant(hosts)
    cluster.add(POOL)
    return partial(address_pools.Blocks().reconcile, region.view, CLUSTER, cluster.view)


def installed(hosts: int, *charts: str) -> Store:
    region = management(hosts)
    region.add(*map(release, charts or CHARTS))
    return region


@pytest.mark.parametrize(
    "task",
    [claim, follow, register, flash, join, reboot, run_agents, register_drivers, divide],
    ids=lambda task: task.__name__,
)
def test_a_round_costs_the_same_per_host(task: Callable[[int], Callable[[], None]]) -> None:
    few, many = (calls(task(hosts)) for hosts in (HOSTS, TIMES * HOSTS))

    assert few > HOSTS, "the round does something for each host"
    assert many / few < TIMES * 1.1


def test_each_machine_claims_a_different_host() -> None:
    region = management(HOSTS, claimed=False)

    claims.reconcile(region.view)

    assert region.changes == {("patch", "BareMetalHost"): HOSTS}
