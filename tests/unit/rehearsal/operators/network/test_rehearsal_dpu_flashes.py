"""Flashes of DPUs as in DPF: hold, release, flash, and readiness after a power cycle; and their actors here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.rehearsal.operators import cron_jobs
from jacquard.lab.rehearsal.operators.hosts import bare_metal
from jacquard.lab.rehearsal.operators.hosts import claims as hosts
from jacquard.lab.rehearsal.operators.hosts.bare_metal import POWER_CYCLE
from jacquard.lab.rehearsal.operators.network import dpu_flashes
from jacquard.lab.rehearsal.operators.network.dpu_flashes import HOLD, REBOOT
from jacquard.lab.rehearsal.operators.network.dpus import API
from tests.support.objects.live_objects import obj

METAL3 = "metal3.io/v1alpha1"
FORCED = '{"mode":"hard","force":true}'


def dpu(phase: str, *, hold: bool = True) -> Any:
    spec = {"dpuNodeName": "h1", "nodeEffect": {"hold": True} if hold else {"noEffect": True}}
    return obj(API, "DPU", "h1-d1", spec, status={"phase": phase})


def node(method: str = "external") -> Any:
    return obj(API, "DPUNode", "h1", {"nodeRebootMethod": {method: {}}})


def phase(view: Any) -> str:
    return str(view.get("DPU", "h1-d1", "ns")["status"]["phase"])


def run(view: Any, times: int = 3) -> None:
    for _ in range(times):
        dpu_flashes.reconcile(view)


def test_a_dpu_is_held_until_the_hold_is_removed(objects: Any) -> None:
    view = objects(node(), dpu("Node Effect"))
    run(view)
    held = view.get("DPUNodeMaintenance", "h1-hold", "ns")
    assert (phase(view), held["metadata"]["annotations"]) == ("Node Effect", {HOLD: "true"})
    assert held["spec"] == {"dpuNodeName": "h1", "nodeEffect": {"hold": True}, "requestor": ["h1-d1"]}

    held["metadata"]["annotations"][HOLD] = "false"
    run(view)

    assert phase(view) == "OS Installing"


@pytest.mark.parametrize(("effect", "count"), [({"hold": True}, 2), ({"hold": True, "force": True}, 3)])
def test_held_dpus_block_others_beyond_a_limit_unless_their_effect_is_forced(
    objects: Any, effect: Any, count: int
) -> None:
    names = ("h1", "h2", "h3")
    limit = {"provisioningController": {"maxUnavailableDPUNodes": 2}}
    view = objects(
        obj("operator.dpu.nvidia.com/v1alpha1", "DPFOperatorConfig", "dpfoperatorconfig", limit),
        *(obj(API, "DPUNode", name) for name in names),
        *(
            obj(API, "DPU", f"{name}-d1", {"dpuNodeName": name, "nodeEffect": effect}, status={"phase": "Node Effect"})
            for name in names
        ),
    )
    run(view)
    held = [item for item in view.all(API, "DPUNodeMaintenance") if HOLD in item["metadata"]["annotations"]]
    assert (len(held), len(list(view.all(API, "DPUNodeMaintenance")))) == (count, len(names))

    view.delete(held[0])
    view.status(view.get("DPU", f"{held[0]['spec']['dpuNodeName']}-d1", "ns"), {"phase": "Ready"})
    run(view)

    assert all(HOLD in item["metadata"]["annotations"] for item in view.all(API, "DPUNodeMaintenance"))


def test_a_dpu_is_ready_only_after_its_host_was_power_cycled(objects: Any) -> None:
    view = objects(node(), dpu("Rebooting"))
    run(view)
    where = view.get("DPUNode", "h1", "ns")
    assert (phase(view), where["metadata"]["annotations"]) == ("Rebooting", {REBOOT: "true"})
    [condition] = view.get("DPU", "h1-d1", "ns")["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("Rebooted", "WaitingForManualPowerCycleOrReboot")

    del where["metadata"]["annotations"][REBOOT]
    run(view)

    assert phase(view) == "DPU Cluster Config"


def test_nodes_without_a_hold_are_not_awaited(objects: Any) -> None:
    view = objects(node("hostAgent"), dpu("Rebooting", hold=False))
    run(view)

    assert phase(view) == "DPU Cluster Config"


@pytest.mark.parametrize("there", [[dpu("Ready")], []])
def test_maintenance_ends_when_no_dpu_is_flashed_any_more(objects: Any, there: Any) -> None:
    view = objects(node(), *there, obj(API, "DPUNodeMaintenance", "h1-hold", {"dpuNodeName": "h1"}))
    run(view)

    assert view.find(API, "DPUNodeMaintenance", "h1-hold", "ns") is None


@pytest.mark.parametrize(
    ("jobs", "left"), [([], {HOLD: "false"}), (["ns"], {HOLD: "true"}), (["other"], {HOLD: "false"})]
)
def test_users_release_dpus_without_a_release_job(objects: Any, jobs: Any, left: Any) -> None:
    held = obj(API, "DPUNodeMaintenance", "h1-hold", metadata={"annotations": {HOLD: "true"}})
    waiting = obj(API, "DPUNode", "h1", metadata={"annotations": {REBOOT: "true"}})
    view = objects(held, waiting, *(obj("batch/v1", "CronJob", "job", namespace=place) for place in jobs))

    dpu_flashes.release(view)

    assert view.get("DPUNodeMaintenance", "h1-hold", "ns")["metadata"]["annotations"] == left
    assert (REBOOT in view.get("DPUNode", "h1", "ns")["metadata"]["annotations"]) == (left == {HOLD: "true"})


def bare(state: str, asked: str | None, *, on: bool) -> Any:
    notes = {} if asked is None else {POWER_CYCLE: asked}
    status = {"provisioning": {"state": state}, "poweredOn": on}
    return obj(METAL3, "BareMetalHost", "h1", {"online": True}, metadata={"annotations": notes}, status=status)


@pytest.mark.parametrize(
    ("state", "asked", "seen"),
    [
        ("available", FORCED, [(False, True), (False, False), (True, False), (True, False)]),
        ("provisioned", "", [(False, True), (False, False), (True, False), (True, False)]),
        ("available", "", [(True, True)] * 4),
        ("available", "{", [(True, True)] * 4),
        ("inspecting", FORCED, [(True, True)] * 4),
        ("available", None, [(True, False)] * 4),
    ],
)
def test_a_power_cycle_is_off_then_no_question_then_on(objects: Any, state: str, asked: Any, seen: Any) -> None:
    view, found = objects(bare(state, asked, on=True)), []
    for _ in seen:
        bare_metal.switch_power(view)
        one = view.get("BareMetalHost", "h1", "ns")
        found.append((one["status"]["poweredOn"], POWER_CYCLE in one["metadata"]["annotations"]))

    assert found == seen


def test_a_claim_that_is_refused_is_tried_on_another_host(objects: Any) -> None:
    free = {"provisioning": {"state": "available"}}
    machine = obj(
        hosts.API, "Metal3Machine", "m1", {}, metadata={"ownerReferences": [{"kind": "Machine", "name": "m1"}]}
    )
    capi = obj(*hosts.MACHINE, "m1", {"clusterName": "c", "bootstrap": {"dataSecretName": "s"}})
    cluster = obj(*hosts.CLUSTER, "c", status={"initialization": {"infrastructureProvisioned": True}})
    view = objects(machine, capi, cluster, *(obj(METAL3, "BareMetalHost", name, status=free) for name in ("h1", "h2")))
    view.refused = {"h1"}

    hosts.reconcile(view)

    claims = {name: view.get("BareMetalHost", name, "ns")["spec"].get("consumerRef") for name in ("h1", "h2")}
    assert claims["h1"] is None
    assert claims["h2"]["name"] == "m1"


@pytest.mark.parametrize(
    ("image", "here"),
    [
        ("registry:5000/python@sha256:0", True),
        ("mirror/python:3.13", True),
        ("mirror/library/python", True),
        ("mirror/cpython:3", False),
        ("mirror/kubectl@sha256:0", False),
    ],
)
def test_a_job_runs_here_when_its_image_is_a_plain_python(image: str, here: bool) -> None:  # noqa: FBT001 - a row
    assert cron_jobs.runs_here(image) is here


def test_a_job_gets_its_files_and_its_arguments_as_they_are_here(objects: Any, tmp_path: Path) -> None:
    mount = {"name": "program", "mountPath": "/program"}
    volume = {"name": "program", "configMap": {"name": "files", "items": [{"key": "a.py", "path": "x/y/a.py"}]}}
    pod = {"containers": [{"name": "c", "image": "i", "volumeMounts": [mount]}], "volumes": [volume]}
    job = obj("batch/v1", "CronJob", "job", {"jobTemplate": {"spec": {"template": {"spec": pod}}}})
    assert cron_jobs.mounted(objects(), job, tmp_path) is None

    given = cron_jobs.mounted(objects(obj("v1", "ConfigMap", "files", data={"a.py": "text"})), job, tmp_path)

    assert given == {"/program": str(tmp_path / "program")}
    assert (tmp_path / "program/x/y/a.py").read_text() == "text"
    assert [cron_jobs.placed(word, given) for word in ("/program/a", "/programs", "/program")] == [
        f"{tmp_path}/program/a",
        "/programs",
        f"{tmp_path}/program",
    ]


def test_a_job_gets_the_kubeconfig_of_its_cluster_and_needs_no_empty_folder(objects: Any, tmp_path: Path) -> None:
    mounts = [{"name": "kubeconfig", "mountPath": "/kubeconfig"}, {"name": "temporary", "mountPath": "/tmp"}]  # noqa: S108 - in a pod
    volumes = [
        {"name": "kubeconfig", "secret": {"secretName": "acme-kubeconfig"}},
        {"name": "temporary", "emptyDir": {}},
    ]
    pod = {"containers": [{"name": "c", "image": "i", "volumeMounts": mounts}], "volumes": volumes}
    job = obj("batch/v1", "CronJob", "job", {"jobTemplate": {"spec": {"template": {"spec": pod}}}})
    assert cron_jobs.mounted(objects(), job, tmp_path) is None

    secret = obj("v1", "Secret", "acme-kubeconfig", data={"value": "dGV4dA=="})

    assert cron_jobs.mounted(objects(secret), job, tmp_path) == {"/kubeconfig": str(tmp_path / "kubeconfig")}
    assert (tmp_path / "kubeconfig/value").read_text() == "text"
    assert (tmp_path / "kubeconfig/value").stat().st_mode & 0o077 == 0
