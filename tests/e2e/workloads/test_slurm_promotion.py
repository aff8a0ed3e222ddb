"""A promotion of a Slurm pool in a local region: a node is replaced once its job and its reservation have ended.

API servers, scheduler, Cluster API, Slinky's operator and the program that reads reservations are real. Hosts and
kubelets are simulated, and a stand-in answers for slurmrestd: a job is the state ALLOCATED of a Slurm node. The API
server of the tenant's cluster reaches it as its HTTP proxy. Slurm itself does not run.

The region pins the release of the operator that the toolchain builds, with a waiver, because it has faults that the
release of the catalogue does not have. Nothing here is about the release of the catalogue.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest

from components.programs.slurm_reservations import HOOK
from components.render.labels import NODE_POOL
from components.render.workloads.slurm_pool import CHART, LOCK, NAMESPACE
from jacquard.lab.rehearsal import ports
from jacquard.lab.toolchain import binaries
from jacquard.machine.errors import ToolchainError
from jacquard.providers.kube import ApiError, ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.local_regions.broken_nodes import MACHINE
from tests.support.local_regions.local_region import ENVIRONMENT, UP, LocalRegion, deleted_at_exit, wait_until
from tests.support.local_regions.pools_of_four import CLUSTER, NEXT, PAST, edit, edit_pools, region_of
from tests.support.machine.programs import Programs
from tests.support.workloads.fake_slurmrestd import FakeSlurmrestd
from tests.support.workloads.slurm_clusters import built_operator

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

POOL, NODES = "train", ("train-0", "train-1")
PROTECTED = "nodeset.slinky.slurm.net/pod-protect"
KEYS = ("slurm.key", "jwt.key")
SECONDS, DAY_SECONDS = 300, 86_400
Object = dict[str, Any]


class Slurm:
    """The region, and the jobs of its Slurm cluster."""

    def __init__(self, region: LocalRegion, slurmrestd: FakeSlurmrestd) -> None:
        self.region, self.slurmrestd = region, slurmrestd

    def pods(self) -> dict[str, Object]:
        """Return the pods of Slurm nodes by name."""
        found = self.region.api(CLUSTER).list("v1", "Pod", namespace=NAMESPACE)
        return {pod["metadata"]["name"]: pod for pod in found if pod["metadata"]["name"] in NODES}

    def run(self) -> bool:
        """Return whether all pods of Slurm nodes run."""
        return [pod["status"].get("phase") for pod in self.pods().values()] == ["Running"] * len(NODES)

    def machines(self) -> dict[str, Object]:
        """Return the Machines of the pool by uid."""
        found = self.region.api().list(*MACHINE, namespace=CLUSTER, label_selector=f"jacquard.dev/pool={POOL}")
        return {machine["metadata"]["uid"]: machine for machine in found}

    def nodes(self) -> dict[str, Object]:
        """Return the nodes of the pool by name."""
        found = self.region.api(CLUSTER).list("v1", "Node", label_selector=f"{NODE_POOL}={POOL}")
        return {node["metadata"]["name"]: node for node in found}

    def waiting(self) -> list[tuple[str, str]]:
        """Return uid and Slurm node of the Machines whose drain waits for a pod."""
        return [
            (uid, name)
            for uid, machine in self.machines().items()
            for item in dig(machine, "status", "conditions") or ()
            for name in NODES
            if f"Pod {NAMESPACE}/{name}: waiting for completion" in item.get("message", "")
            if (item["type"], item["reason"]) == ("Deleting", "DrainingNode")
        ]

    def hooks(self) -> dict[str, str]:
        """Return the reservation of each held Machine by uid."""
        notes = {uid: dig(machine, "metadata", "annotations", HOOK) for uid, machine in self.machines().items()}
        return {uid: str(name) for uid, name in notes.items() if name}

    def held(self) -> list[str]:
        """Return the uids of deleted Machines that Cluster API does not drain yet."""
        return [
            uid
            for uid, machine in self.machines().items()
            for item in dig(machine, "status", "conditions") or ()
            if (item["type"], item["reason"]) == ("Deleting", "WaitingForPreDrainHook")
        ]

    def wait_for_replacement(self, machine: str, job: str, *, during: subprocess.Popen[str]) -> None:
        """Wait until the Machine with uid ``machine``, which ran ``job``, is replaced, during a command of Jacquard."""
        replaced = f"the node of {job} is replaced"
        wait_until(lambda: machine not in self.machines(), timeout_seconds=SECONDS, what=replaced, during=during)

    def evict(self, name: str) -> str:
        """Return why the API server refuses to evict a pod; empty if it does not."""
        api = self.region.api(CLUSTER)
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "deleteOptions": {"dryRun": ["All"]},
        }
        try:
            api.request("POST", f"{api.path(ObjectRef('v1', 'Pod', name, NAMESPACE))}/eviction", body=body)
        except ApiError as error:
            return str(error)
        return ""


def _with_slurm(tenant: Object) -> Object:
    [cluster] = tenant["clusters"]
    partition = {"name": "long", "pools": [POOL], "default": True}
    cluster["storage"] = ["shared-nfs", "shared-vast"]
    cluster["add_ons"] = [*cluster["add_ons"], "cert-manager", "monitoring", "node-features", "gpus", "slurm"]
    cluster["slurm"] = {"partitions": [partition], "controller": {"storage_class": "shared-nfs"}}
    return tenant


def _with_built_operator(region: LocalRegion) -> None:
    """Pin the release of the operator that the toolchain builds."""

    def pinned(vector: Object) -> None:
        [chart] = [item for item in vector["charts"] if item["name"] == CHART]
        chart["version"] = built_operator()

    def waived(waivers: Object) -> None:
        expires = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=30)
        rest = {"reason": "the release that runs here", "owner": "ops", "ticket": "OPS-1", "expires": expires}
        waivers["waivers"].append({"rule": "version-limits.faults", "subject": CHART, **rest})

    region.rewrite("catalog/versions.yaml", pinned)
    region.rewrite(f"{ENVIRONMENT}/waivers.yaml", waived)


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """A region with a Slurm cluster of two nodes, and a job on each of them."""
    try:
        manager = binaries.path("slurm-operator-manager")
    except ToolchainError as error:
        pytest.skip(f"NO SLURM OPERATOR: {error}; make test-nightly builds it")
    folder = tmp_path_factory.mktemp("slurm-promotion")
    lock = {"key": LOCK, "effect": "NoExecute"}
    train = {"nodes": len(NODES), "taints": [lock], "rollout": {"strategy": "idle", "max_unavailable": 1}}
    slurmrestd, started = FakeSlurmrestd(NODES), Programs(folder)
    try:
        with deleted_at_exit(region_of(folder, {"services": {"nodes": 1}, POOL: train}, racks=1)) as region:
            edit(region, _with_slurm)
            _with_built_operator(region)
            region.variables |= {"HTTP_PROXY": slurmrestd.url, "NO_PROXY": ports.LOOPBACK}
            region.up()
            secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "slurm-keys", "namespace": NAMESPACE}}
            data = dict.fromkeys(KEYS, os.urandom(64).hex())
            region.api(CLUSTER).apply({**secret, "stringData": data}, field_manager="test")
            [health] = ports.free(1)
            arguments = (f"--health-addr={ports.LOOPBACK}:{health}", "--metrics-addr=0")
            config = region.home / "regions" / region.environment / "kubeconfigs" / f"{CLUSTER}.yaml"
            proxy = {"HTTP_PROXY": slurmrestd.url, "NO_PROXY": ports.LOOPBACK}
            started.start("slurm-operator", str(manager), *arguments, KUBECONFIG=str(config), **proxy)
            made = Slurm(region, slurmrestd)
            wait_until(made.run, timeout_seconds=SECONDS, what="Slurm's pods run on both nodes")
            for name in NODES:
                slurmrestd.start_job(name)
            yield made
            started.stop()
    finally:
        started.stop()
        slurmrestd.stop()


def test_a_node_with_a_job_is_protected(slurm: Slurm) -> None:
    def protected() -> bool:
        return [pod["metadata"]["labels"].get(PROTECTED) for pod in slurm.pods().values()] == ["true"] * len(NODES)

    wait_until(protected, timeout_seconds=SECONDS, what="the operator has labelled the pods of nodes with jobs")
    for name in NODES:
        wait_until(
            lambda name=name: "disruption budget" in slurm.evict(name),
            timeout_seconds=SECONDS,
            what=f"the budget protects {name}",
        )


def test_each_node_of_a_promoted_pool_is_replaced_after_its_job(slurm: Slurm) -> None:
    region, before, pods = slurm.region, slurm.machines(), slurm.pods()
    edit_pools(region, {POOL: {"image": NEXT}})
    promoted = region.jacquard("promote", ENVIRONMENT, f"{CLUSTER}/{POOL}", "--to", NEXT, "--all")
    assert promoted.code == 0, promoted.text
    running, left = region.start(*UP), [*NODES]
    while left:
        wait_until(slurm.waiting, timeout_seconds=SECONDS, what=f"a drain waits for one of {left}", during=running)
        [(machine, job)] = slurm.waiting()
        [node] = [node for name, node in slurm.nodes().items() if name == pods[job]["spec"]["nodeName"]]
        assert node["spec"]["unschedulable"]
        wait_until(
            lambda job=job: "DRAIN" in slurm.slurmrestd.nodes[job]["state"],
            timeout_seconds=SECONDS,
            what=f"the operator has drained {job} in Slurm, so that no further job starts there",
        )
        assert "disruption budget" in slurm.evict(job)
        reported = f"is being drained: Pod {NAMESPACE}/{job}: waiting for completion"
        assert reported in json.dumps(region.status())
        assert slurm.waiting() == [(machine, job)]
        assert slurm.pods()[job]["metadata"]["uid"] == pods[job]["metadata"]["uid"]
        assert len(slurm.machines().keys() & before.keys()) == len(left)

        slurm.slurmrestd.end_job(job)
        left.remove(job)
        slurm.wait_for_replacement(machine, job, during=running)

    ended = region.end_of(running)
    assert ended.code == 0, ended.text
    assert not slurm.machines().keys() & before.keys()
    [images] = [pool["images"] for pool in region.status()["pools"] if pool["name"] == POOL]
    assert images == {NEXT: len(NODES)}


def test_slurm_uses_the_new_nodes(slurm: Slurm) -> None:
    def resumed() -> bool:
        states = [node["state"] for node in slurm.slurmrestd.nodes.values()]
        return slurm.run() and states == [["IDLE"]] * len(NODES)

    wait_until(resumed, timeout_seconds=SECONDS, what="Slurm's pods run on the new nodes, which are not drained")
    homes = {pod["spec"]["nodeName"] for pod in slurm.pods().values()}
    assert homes == slurm.nodes().keys()


def test_a_node_is_replaced_after_the_reservation_that_began_before_its_replacement(slurm: Slurm) -> None:
    region, before, pods = slurm.region, slurm.machines(), slurm.pods()
    now = time.time()
    for name in NODES:
        slurm.slurmrestd.reserve(f"thesis-{name}", name, now, now + DAY_SECONDS)
    expected = {f"thesis-{name}" for name in NODES}
    wait_until(lambda: set(slurm.hooks().values()) == expected, timeout_seconds=SECONDS, what="Machines have hooks")
    edit_pools(region, {POOL: {"image": PAST}})
    promoted = region.jacquard("promote", ENVIRONMENT, f"{CLUSTER}/{POOL}", "--to", PAST, "--all")
    assert promoted.code == 0, promoted.text
    running, left = region.start(*UP), set(before)
    while left:
        wait_until(slurm.held, timeout_seconds=SECONDS, what="a Machine waits for its reservation", during=running)
        [machine] = slurm.held()
        name = slurm.hooks()[machine]
        assert f"waits for the end of Slurm's reservation {name}" in json.dumps(region.status())
        assert slurm.held() == [machine]
        assert not any(node["spec"].get("unschedulable") for node in slurm.nodes().values())
        job = name.removeprefix("thesis-")
        assert slurm.slurmrestd.nodes[job]["state"] == ["IDLE"]
        assert slurm.pods()[job]["metadata"]["uid"] == pods[job]["metadata"]["uid"]

        slurm.slurmrestd.reservations[:] = [item for item in slurm.slurmrestd.reservations if item["name"] != name]
        left.remove(machine)
        slurm.wait_for_replacement(machine, job, during=running)

    ended = region.end_of(running)
    assert ended.code == 0, ended.text
    assert not slurm.machines().keys() & before.keys()
