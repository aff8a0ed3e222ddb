"""Facts about pods with GPUs, nodes, machines and hosts; unreadable clusters are reported as unknown."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.specs.environment import Environment
from jacquard.observe.facts import ClusterFacts, FaultFacts, HostFacts, NodeFacts, assemble
from jacquard.observe.jobs import Jobs
from jacquard.observe.observation import Observation
from tests.support.objects.working_nodes import MOMENT, node, pod, working

Object = dict[str, Any]


def containers(*resources: Object, **more: Any) -> Object:
    return {"spec": {"containers": [{"resources": one} for one in resources], **more}}


def limits(name: str, count: int | str) -> Object:
    return {"limits": {name: count}}


GPU = limits("nvidia.com/gpu", "2")
EIGHT = limits("nvidia.com/gpu", 8)
DAEMON = {"metadata": {"ownerReferences": [{"kind": "DaemonSet", "controller": True}]}}
JOB = {"metadata": {"ownerReferences": [{"kind": "Job", "controller": True}]}}
KEPT = {
    "a job": (pod("x", 8, **JOB), 8),
    "a pod of nobody": (pod("x", 1), 1),
    "one that is going": (pod("x", 1, metadata={"deletionTimestamp": "2026-11-22T16:00:00Z"}), 1),
    "one that is pending on its node": (pod("x", 1, status={"phase": "Pending"}), 1),
    "one that a drain leaves alone and its machine takes along": (
        pod("x", 1, metadata={"labels": {"cluster.x-k8s.io/drain": "skip"}}),
        1,
    ),
    "two containers": (pod("x", **containers(GPU, GPU)), 4),
    "requests and limits are one": (pod("x", **containers({**GPU, "requests": {"nvidia.com/gpu": "2"}})), 2),
    "slices": (pod("x", **containers(limits("nvidia.com/mig-1g.10gb", 3))), 3),
    "a VM": (pod("x", **containers(limits("nvidia.com/AD102GL_L40S", 1))), 1),
    "a container that runs before": (pod("x", **containers(GPU, initContainers=[{"resources": EIGHT}])), 8),
    "a container beside": (
        pod("x", **containers(GPU, initContainers=[{"resources": GPU, "restartPolicy": "Always"}])),
        4,
    ),
}
LEFT = {
    "of a daemon set": pod("x", 8, **DAEMON),
    "a static pod": pod("x", 8, metadata={"annotations": {"kubernetes.io/config.mirror": "hash"}}),
    "succeeded": pod("x", 8, status={"phase": "Succeeded"}),
    "failed": pod("x", 8, status={"phase": "Failed"}),
    "on no node": pod(None, 8),
    "without GPUs": pod("x"),
    "with other devices": pod("x", **containers(limits("nvidia.com/hostdev", 8))),
    "with a count that is none": pod("x", **containers(limits("nvidia.com/gpu", "many"))),
    "with nothing at all": {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "x"}},
    "with nulls": pod("x", spec={"containers": None, "initContainers": None}),
}


@pytest.mark.parametrize(("body", "gpus"), KEPT.values(), ids=KEPT)
def test_pods_that_end_with_their_node_count_by_their_gpus(laptop: Environment, body: Object, gpus: int) -> None:
    jobs = Jobs(laptop)

    assert (jobs.keep(body), jobs.gpus(body, {})) == (True, gpus)


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_pods_without_gpus_or_bound_to_the_node_are_no_jobs(laptop: Environment, body: Object) -> None:
    assert Jobs(laptop).keep(body) is False


def test_a_pod_with_claims_uses_the_gpus_allocated_to_it(laptop: Environment) -> None:
    body = pod("x", spec={"resourceClaims": [{"name": "a", "resourceClaimName": "named"}, {"name": "b"}]})
    body["status"] = {"resourceClaimStatuses": [{"name": "b", "resourceClaimName": "made"}]}
    results = {"named": ["gpu.nvidia.com", "gpu.nvidia.com"], "made": ["nic.example", "gpu.nvidia.com"]}
    claims = {
        ("n", name): {"status": {"allocation": {"devices": {"results": [{"driver": one} for one in drivers]}}}}
        for name, drivers in results.items()
    }

    assert (Jobs(laptop).keep(body), Jobs(laptop).gpus(body, claims)) == (True, 3)


def test_nodes_are_reported_with_their_jobs_and_those_without_a_pool_separately(laptop: Environment) -> None:
    found = assemble(laptop, working())

    assert (found.environment, found.observed_at) == ("laptop", MOMENT)
    assert found.clusters == (
        ClusterFacts(cluster="management", tenant=None, unreachable=None, stray_pods=None),
        ClusterFacts(cluster="acme-train", tenant="acme", unreachable=None, stray_pods=0),
        ClusterFacts(cluster="globex-lab", tenant="globex", unreachable=None, stray_pods=1),
    )
    rows = [(one.node, one.tenant, one.group, one.host, one.pods, one.gpus) for one in found.nodes]
    assert rows == [
        ("x1", "acme", "acme-train/train/a02", "a02-u01", 2, 8),
        ("x2", "acme", "acme-train/train/a01", "a01-u02", 1, 8),
        ("x3", "acme", "acme-train/train/a02", "a02-u03", 0, 0),
        ("y1", "globex", "globex-lab/lab/a01", "a01-u07", 0, 0),
    ]


def test_machines_and_hosts_are_reported_with_their_state(laptop: Environment, seen: Observation) -> None:
    at = Observation(objects=seen.objects | working().objects, at=MOMENT)

    found = assemble(laptop, at)

    assert {(one.group, one.ordered, one.machines, one.ready, one.settled) for one in found.groups} == {
        (key, group.nodes, group.nodes, group.nodes, True) for key, group in laptop.allocations.groups.items()
    }
    assert found.hosts == (
        HostFacts(host="a01-u9", state="provisioned"),
        HostFacts(host="a01-u10", state="provisioned"),
    )


def test_unreachable_clusters_have_no_facts(laptop: Environment) -> None:
    found = assemble(laptop, working(unreachable={"management": "no way", "acme-train": "no route"}))

    assert found.clusters[:2] == (
        ClusterFacts(cluster="management", tenant=None, unreachable="no way", stray_pods=None),
        ClusterFacts(cluster="acme-train", tenant="acme", unreachable="no route", stray_pods=None),
    )
    assert ({one.cluster for one in found.nodes}, found.groups, found.hosts) == ({"globex-lab"}, (), ())


def test_a_region_with_nothing_in_it_has_facts(laptop: Environment) -> None:
    found = assemble(laptop, Observation(at=MOMENT))

    assert (found.nodes, found.hosts, [one.stray_pods for one in found.clusters]) == ((), (), [None, 0, 0])


def test_a_node_without_a_provider_id_has_no_host(laptop: Environment) -> None:
    lost = node("acme-train", "x1", "train", "a01", "h") | {"spec": {}}

    found = assemble(laptop, Observation(objects={("acme-train", "Node"): [lost]}, at=MOMENT))

    assert found.nodes == (
        NodeFacts(
            cluster="acme-train", node="x1", tenant="acme", group="acme-train/train/a01", host=None, pods=0, gpus=0
        ),
    )


def test_a_fault_of_a_node_is_reported_with_its_condition_and_start(laptop: Environment) -> None:
    observed = working()
    [x1, *_] = observed.of("Node", "acme-train")
    x1["status"] = {
        "conditions": [
            {"type": "GpuLost", "status": "True", "lastTransitionTime": "2026-11-22T15:00:00Z"},
            {"type": "NicFailed", "status": "False"},
            {"type": "Ready", "status": "True"},
        ]
    }

    faults = assemble(laptop, observed).faults

    assert faults == (
        FaultFacts(cluster="acme-train", node="x1", condition="GpuLost", since=MOMENT - dt.timedelta(hours=1)),
    )
