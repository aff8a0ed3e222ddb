"""Simulated controllers: a round costs more with more hosts, but not with their square, and is followed by a pause.

Costs of a round are counts of instructions of Python, which are the same in each run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from ipaddress import IPv4Address
from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.__main__ import pauses
from jacquard.lab.rehearsal.operators.hosts import agents, bare_metal, claims, nodes, reboots, remediation
from jacquard.lab.rehearsal.operators.network import address_pools, dpus
from jacquard.lab.rehearsal.operators.storage.csi_nodes import Registrations
from tests.support.objects.many_hosts import CLUSTER, Store, instructions, management, release, tenant

HOSTS = 20
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
REQUESTS = {f"{bare_metal.POWER_CYCLE}/metal3-remediation-one": "{}"}


def claim(hosts: int) -> Callable[[], object]:
    return partial(claims.reconcile, management(hosts, claimed=False).view)


def follow(hosts: int) -> Callable[[], object]:
    return partial(claims.reconcile, management(hosts).view)


def register(hosts: int) -> Callable[[], object]:
    return partial(bare_metal.reconcile, management(hosts).view)


def flash(hosts: int) -> Callable[[], object]:
    region = management(hosts)
    region.add(DPU_CLUSTER, DPU_SET)
    return partial(dpus.reconcile, region.view)


def join(hosts: int) -> Callable[[], object]:
    empty = tenant(0).view
    return partial(nodes.reconcile, management(hosts).view, lambda _: empty)


def reboot(hosts: int) -> Callable[[], object]:
    joined = tenant(hosts).view
    return partial(reboots.Reboots().reconcile, management(hosts).view, lambda _: joined)


def run_agents(hosts: int) -> Callable[[], object]:
    return partial(agents.reconcile, installed(hosts).view, CLUSTER, tenant(hosts, charts=CHARTS).view)


def register_drivers(hosts: int) -> Callable[[], object]:
    return partial(Registrations().reconcile, installed(hosts).view, CLUSTER, tenant(hosts, charts=CHARTS).view)


def remediate(hosts: int) -> Callable[[], object]:
    region, joined = management(hosts), tenant(hosts, charts=CHARTS)
    region.add(*map(remediated, region.objects(*claims.MACHINE).values()))
    for host in region.objects(*bare_metal.HOST).values():
        region.add({**host, "status": {"poweredOn": False}, "metadata": {**host["metadata"], "annotations": REQUESTS}})
    for node in joined.objects("v1", "Node").values():
        joined.add({**node, "spec": {"taints": [remediation.OUT_OF_SERVICE]}})
    nodes_of = joined.view
    return partial(remediation.reconcile, region.view, lambda _: nodes_of)


def remediated(machine: Any) -> dict[str, Any]:
    name = machine["metadata"]["name"]
    owner = {"kind": "Machine", "name": name}
    metadata = {"name": name, "namespace": CLUSTER, "uid": "one", "ownerReferences": [owner]}
    spec = {"strategy": {"type": "Reboot"}}
    return {
        "apiVersion": remediation.REMEDIATION[0],
        "kind": remediation.REMEDIATION[1],
        "metadata": {**metadata, "finalizers": [remediation.FINALIZER]},
        "spec": spec,
        "status": {"phase": remediation.RUNNING},
    }


def attach(hosts: int) -> Callable[[], object]:
    cluster = tenant(hosts, charts=("nv-ipam",))
    nodes_of = [node["metadata"]["name"] for node in cluster.objects("v1", "Node").values()]
    cluster.add({**POOL, "status": {"allocations": [block(number, node) for number, node in enumerate(nodes_of)]}})
    addresses = address_pools.Addresses(cluster.view)
    return partial(list, (addresses.give(node, "rail-1") for node in nodes_of))


def block(number: int, node: str) -> dict[str, str]:
    first = IPv4Address("10.0.0.0") + 8 * number
    return {"nodeName": node, "startIP": str(first), "endIP": str(first + 7)}


def divide(hosts: int) -> Callable[[], object]:
    region, cluster = installed(1, "nv-ipam"), tenant(hosts)
    cluster.add(POOL)
    return partial(address_pools.Blocks().reconcile, region.view, CLUSTER, cluster.view)


def installed(hosts: int, *charts: str) -> Store:
    region = management(hosts)
    region.add(*map(release, charts or CHARTS))
    return region


@pytest.mark.parametrize(
    "task",
    [claim, follow, register, flash, join, reboot, remediate, run_agents, register_drivers, divide, attach],
    ids=lambda task: task.__name__,
)
def test_a_round_costs_the_same_per_host(task: Callable[[int], Callable[[], object]]) -> None:
    few, many = (instructions(task(hosts)) for hosts in (HOSTS, TIMES * HOSTS))

    assert few > HOSTS, "the round does something for each host"
    assert many / few < TIMES * 1.1


def test_each_machine_claims_a_different_host() -> None:
    region = management(HOSTS, claimed=False)

    claims.reconcile(region.view)

    assert region.changes == {("patch", "BareMetalHost"): HOSTS}


@pytest.mark.parametrize("busy_seconds", [0.01, 0.4, 20.0])
def test_rounds_use_half_a_processor_and_a_tenth_while_nothing_changes(busy_seconds: float) -> None:
    changing, calm, still = (busy_seconds / (busy_seconds + sum(pauses(quiet, busy_seconds))) for quiet in (0, 1, 100))

    assert changing <= 0.5
    assert calm <= changing
    assert still <= 0.1
