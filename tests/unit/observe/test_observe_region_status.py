"""Status of a region, computed from objects of the controllers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.programs.slurm_reservations import HOOK
from components.render.manifest import MANAGEMENT
from components.specs.environment import Environment
from components.specs.struct import asdict
from jacquard.machine import paths
from jacquard.observe.observation import Observation, connect, observe
from jacquard.observe.region_status import RegionStatus, assemble
from jacquard.providers.kube import ApiServer, KubeconfigError, Unreachable
from tests.support.objects.backend_objects import conditions

Object = dict[str, Any]
TRAIN = "acme-train-train-a01"
KEYS = {
    "clusters": {"name", "tenant", "version", "running_version", "endpoint", "ready", "reachable"},
    "pools": {"cluster", "name", "instance_type", "total", "ready", "updated", "images", "settled", "groups"},
    "dpu_deployments": {"deployment", "total", "images", "flavors", "settled", "why"},
    "releases": {"cluster", "name", "chart", "chart_version", "ready", "why"},
    "vpcs": {"name", "tenant", "isolation", "vni", "hosts", "pods", "egress"},
    "storage_classes": {"cluster", "name", "driver", "default", "present"},
    "offerings": {"cluster", "sizes", "images"},
    "vms": {"cluster", "name", "size", "image", "public_ip", "volumes", "state"},
}


def find(seen: Observation, kind: str, name: str) -> Object:
    return next(body for body in seen.of(kind) if body["metadata"]["name"] == name)


def group(status: RegionStatus, name: str) -> Any:
    return next(group for pool in status.pools for group in pool.groups if group.name == name)


def test_a_region_that_is_as_ordered_is_settled(laptop: Environment, seen: Observation) -> None:
    status = assemble(laptop, seen)

    assert status.why == []
    assert status.settled
    assert {(f"{p.cluster}/{p.name}", p.ready, p.total) for p in status.pools} == {
        (f"{cluster.name}/{pool.name}", pool.nodes, pool.nodes)
        for tenant in laptop.tenants
        for cluster in tenant.clusters
        for pool in cluster.pools
    }
    assert status.hosts == {"provisioned": sum(pool.total for pool in status.pools)}


def test_the_keys_of_the_json_are_a_contract(laptop: Environment, seen: Observation) -> None:
    answer = asdict(assemble(laptop, seen))

    assert list(answer) == [
        "schema_version",
        "environment",
        "observed_at",
        "settled",
        "why",
        "burn_in",
        "unreachable",
        "clusters",
        "pools",
        "hosts",
        "dpus",
        "dpu_deployments",
        "charts",
        "releases",
        "slices",
        "vpcs",
        "storage_classes",
        "offerings",
        "vms",
    ]
    assert {name: set(answer[name][0]) for name in KEYS} == KEYS
    assert set(answer["pools"][0]["groups"][0]) == {
        *("name", "failure_domain", "image", "fingerprint", "total", "machines", "ready", "updated", "images"),
        *("settled", "settled_since", "why", "burn_in"),
    }


def change(kind: str, name: str, edit: Callable[[Object], None]) -> Callable[[Observation], None]:
    return lambda seen: edit(find(seen, kind, name))


def deleted(body: Any, reason: str, *lines: str) -> None:
    body["metadata"] |= {"deletionTimestamp": "2026-11-21T13:00:00Z", "annotations": {HOOK: "thesis"}}
    condition = {"type": "Deleting", "status": "True", "reason": reason, "message": "\n".join(lines)}
    body["status"]["conditions"] = [condition]


DRAINED = (
    "Drain not completed yet (started at 2026-11-21T13:00:01Z):",
    "* Pod acme/job-0: waiting for completion",
    "after them the following Pods will be evicted: a/b",
)
UNSETTLED = {
    "a change the controller has not seen": (
        change("MachineDeployment", TRAIN, lambda body: body["metadata"].update(generation=3)),
        ["the controller has not observed the last change yet"],
    ),
    "another number of nodes in the cluster": (
        change("MachineDeployment", TRAIN, lambda body: body["spec"].update(replicas=4)),
        ["the MachineDeployment declares 4 nodes, the data 5"],
    ),
    "counters that lag behind": (
        change("MachineDeployment", TRAIN, lambda body: body["status"].pop("upToDateReplicas")),
        ["upToDateReplicas 0 of 5"],
    ),
    "a roll under way": (
        change(
            "MachineDeployment",
            TRAIN,
            lambda body: body["status"].update(
                conditions=conditions(Available="True", RollingOut="True", MachinesUpToDate="True")
            ),
        ),
        ["condition RollingOut is True"],
    ),
    "conditions that are not written yet": (
        change("MachineDeployment", TRAIN, lambda body: body["status"].update(conditions=None)),
        [
            "condition Available is not set",
            "condition RollingOut is not set",
            "condition MachinesUpToDate is not set",
        ],
    ),
    "a machine on its way": (
        change(
            "Machine",
            f"{TRAIN}-0",
            lambda body: body["status"].update(
                conditions=[{"type": "Ready", "status": "False", "message": "* no host\n  is available"}]
            ),
        ),
        ["4 of 5 nodes ready, 5 machines exist", "no host is available"],
    ),
    "a machine that goes": (
        change("Machine", f"{TRAIN}-0", lambda body: body["metadata"].update(deletionTimestamp="2026-11-21T13:00:00Z")),
        ["4 of 5 nodes ready, 4 machines exist"],
    ),
    "a machine that goes and waits for jobs": (
        change("Machine", f"{TRAIN}-0", lambda body: deleted(body, "DrainingNode", *DRAINED)),
        [
            f"{TRAIN}-0 is being drained: Pod acme/job-0: waiting for completion",
            f"{TRAIN}-0 is being drained: after them the following Pods will be evicted: a/b",
            "4 of 5 nodes ready, 4 machines exist",
        ],
    ),
    "a machine that goes and waits for a reservation": (
        change("Machine", f"{TRAIN}-0", lambda body: deleted(body, "WaitingForPreDrainHook")),
        [f"{TRAIN}-0 waits for the end of Slurm's reservation thesis", "4 of 5 nodes ready, 4 machines exist"],
    ),
}


@pytest.mark.parametrize("case", UNSETTLED)
def test_a_group_is_not_settled_with(laptop: Environment, seen: Observation, case: str) -> None:
    spoil, why = UNSETTLED[case]
    spoil(seen)

    status = assemble(laptop, seen)

    assert group(status, TRAIN).why == why
    assert not status.settled
    assert status.why == [f"acme-train/train a01: {reason}" for reason in why]


def test_machines_on_another_image_than_pinned_are_counted_by_their_template(
    laptop: Environment, seen: Observation
) -> None:
    pinned = laptop.image_pins.node("acme-train/train/a01").image
    other = next(image for image in laptop.images.images if image.version != pinned)
    template = {"spec": {"template": {"spec": {"image": {"checksum": other.sha256}}}}}
    seen.of("Metal3MachineTemplate").append({"metadata": {"name": "old", "namespace": "acme-train"}, **template})
    find(seen, "Metal3Machine", f"{TRAIN}-0")["metadata"]["annotations"]["cluster.x-k8s.io/cloned-from-name"] = "old"
    find(seen, "Metal3Machine", f"{TRAIN}-1")["metadata"]["annotations"]["cluster.x-k8s.io/cloned-from-name"] = "gone"

    train = group(assemble(laptop, seen), TRAIN)

    assert train.images == {pinned: 3, other.version: 1, "unknown": 1}
    assert set(train.why) == {
        f"1 machines run {other.version}, pinned is {pinned}",
        f"1 machines run unknown, pinned is {pinned}",
    }


def test_a_settled_group_has_a_time_if_all_its_machines_have(laptop: Environment, seen: Observation) -> None:
    machines = [body for body in seen.of("Machine") if body["metadata"]["name"].startswith(TRAIN)]
    for number, body in enumerate(machines):
        assert group(assemble(laptop, seen), TRAIN).settled_since is None
        for item in body["status"]["conditions"]:
            item["lastTransitionTime"] = f"2026-11-21T08:0{number}:00Z"

    assert group(assemble(laptop, seen), TRAIN).settled_since == "2026-11-21T08:04:00Z"
    machines[0]["status"]["conditions"] = conditions(Ready="False")
    assert group(assemble(laptop, seen), TRAIN).settled_since is None


def test_the_message_of_a_machine_set_is_shown(laptop: Environment, seen: Observation) -> None:
    seen.of("Machine").remove(find(seen, "Machine", f"{TRAIN}-0"))
    message = "newer than the control plane (KubeadmVersionSkew)"
    seen.objects[MANAGEMENT, "MachineSet"] = [
        {
            "metadata": {
                "name": f"{TRAIN}-x",
                "namespace": "acme-train",
                "labels": {"cluster.x-k8s.io/deployment-name": TRAIN},
            },
            "status": {"conditions": [{"type": "ScalingUp", "status": "True", "message": message}]},
        }
    ]

    assert group(assemble(laptop, seen), TRAIN).why == ["4 of 5 nodes ready, 4 machines exist", message]


def test_an_unreachable_cluster_is_named_and_the_rest_is_reported(laptop: Environment, seen: Observation) -> None:
    seen.unreachable["acme-train"] = "https://127.0.0.1:1 does not answer"
    seen.objects.pop(("acme-train", "StorageClass"))
    seen.objects.pop(("acme-train", "VirtualMachine"))

    status = assemble(laptop, seen)

    assert status.why == ["cluster acme-train cannot be read: https://127.0.0.1:1 does not answer"]
    assert {item.present for item in status.storage_classes if item.cluster == "acme-train"} == {None}
    assert [vm.state for vm in status.vms] == [None]
    assert all(pool.settled for pool in status.pools)


def test_without_the_management_cluster_only_its_failure_is_reported(laptop: Environment) -> None:
    status = assemble(laptop, Observation(unreachable={MANAGEMENT: "gone"}))

    assert status.why == ["cluster management cannot be read: gone"]
    assert not status.settled


def test_missing_classes_and_stopped_machines_are_reported(laptop: Environment, seen: Observation) -> None:
    seen.objects["globex-lab", "StorageClass"].clear()
    seen.objects["acme-train", "VirtualMachine"][0]["status"] = {"printableStatus": "Stopped"}

    assert assemble(laptop, seen).why == [
        "storage class shared-vast is missing in globex-lab",
        "vm acme-train/bastion is Stopped",
    ]


def test_each_cluster_is_read_by_itself(laptop: Environment) -> None:
    class Server(ApiServer):
        def __init__(self, cluster: str) -> None:
            self.cluster = cluster

        def each(self, api_version: str, kind: str, **_: Any) -> list[Object]:
            if self.cluster == "globex-lab":
                server, why = "https://127.0.0.1:1", "connection refused"
                raise Unreachable(server, why)
            return [{"metadata": {"name": f"{self.cluster} {kind} {api_version}"}}]

    def answer(environment: Environment, cluster: str) -> ApiServer:
        if cluster == "acme-train":
            msg = f"{environment.name}: there is no such kubeconfig"
            raise KubeconfigError(msg)
        return Server(cluster)

    seen = observe(laptop, answer)

    assert seen.unreachable == {
        "acme-train": "laptop: there is no such kubeconfig",
        "globex-lab": "https://127.0.0.1:1 does not answer: connection refused",
    }
    assert {cluster for cluster, _ in seen.objects} == {MANAGEMENT}
    assert seen.of("Machine") == [{"metadata": {"name": "management Machine cluster.x-k8s.io/v1beta2"}}]


def test_the_management_cluster_is_the_context_that_the_region_names(
    laptop: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACQUARD_HOME", str(tmp_path))
    clusters = [{"name": name, "cluster": {"server": f"http://{name}.example"}} for name in ("lab", "other")]
    contexts = [{"name": name, "context": {"cluster": name, "user": name}} for name in ("lab", "other")]
    users: list[Object] = [{"name": name, "user": {}} for name in ("lab", "other")]
    config = {"current-context": "other", "clusters": clusters, "contexts": contexts, "users": users}
    for name in (MANAGEMENT, "acme-train"):
        file = paths.kubeconfig("laptop", name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(config))
    region = laptop.region.model_copy(update={"context": "lab"})
    spec = laptop.model_copy(update={"region": region})

    servers = [connect(spec, name).server for name in (MANAGEMENT, "acme-train")]

    assert servers == ["http://lab.example", "http://other.example"]
