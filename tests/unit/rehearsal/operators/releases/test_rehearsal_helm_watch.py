"""Checks of the helm-controller after an installation: pods that become ready, and manual edits."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.releases import helm_watch
from jacquard.lab.rehearsal.operators.releases.helm import RELEASE
from jacquard.lab.rehearsal.operators.releases.helm_records import Place, record
from jacquard.lab.rehearsal.operators.releases.helm_watch import DRIFT_DETECTION, FIELD_MANAGER, Drift, unready
from jacquard.lab.rehearsal.operators.releases.installed import Chart
from tests.support.objects.live_objects import obj

PLACE = Place("lb", "metallb-system", "metallb-system")
CHART = Chart("metallb", "0.16.1", "sha256:0")


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helm_watch, "_PAUSE_SECONDS", 0.0)


def release(mode: str = "enabled") -> Any:
    names = {"releaseName": "lb", "targetNamespace": "metallb-system", "storageNamespace": "metallb-system"}
    spec = {**names, "driftDetection": {"mode": mode}}
    return obj(*RELEASE, "metallb", spec, namespace="acme", metadata={"uid": "1"})


def role(name: str = "controller", verbs: str = "get") -> Any:
    return obj("rbac.authorization.k8s.io/v1", "ClusterRole", name, {"verbs": verbs}, namespace="")


def config(**spec: Any) -> Any:
    """Return an object whose chart template has no namespace."""
    return obj("v1", "ConfigMap", "config", spec, namespace="")


def installed(objects: Any, *bodies: Any) -> Any:
    """Return a cluster with a release of ``bodies``."""
    live = [{**body, "metadata": dict(body["metadata"])} for body in bodies]
    for body in live:
        if body["kind"] == "ConfigMap":
            body["metadata"]["namespace"] = "metallb-system"
    return objects(*live, record(PLACE, CHART, 1, {}, list(bodies)))


def checked(drift: Drift, there: Any, mode: str = "enabled", times: int = 2) -> None:
    """Run the check; the first one is immediately after the installation."""
    for _ in range(times):
        drift.put_right(release(mode), there)


def test_manual_edits_and_deletions_are_repaired(objects: Any, caplog: pytest.LogCaptureFixture) -> None:
    there, drift = installed(objects, role(), role("speaker"), config(a=1)), Drift()
    caplog.set_level("INFO")
    there.edit("ClusterRole", "controller", "", {"spec": {"verbs": "none"}})
    there.edit("ConfigMap", "config", "metallb-system", {"spec": {"a": 2}})
    there.delete(there.get("ClusterRole", "speaker"))

    checked(drift, there)

    assert there.get("ClusterRole", "controller")["spec"]["verbs"] == "get"
    assert there.get("ClusterRole", "speaker")["spec"]["verbs"] == "get"
    assert {manager for *_, manager in there.installed} == {FIELD_MANAGER}
    changed = sorted(line.rpartition(": ")[2] for line in caplog.messages)
    assert changed == ["ClusterRole controller", "ClusterRole speaker", "ConfigMap config"]


def test_unchanged_objects_are_compared_once(objects: Any) -> None:
    there, drift = installed(objects, role(), role("speaker")), Drift()

    checked(drift, there, times=4)
    assert there.compared == ["controller", "speaker"]
    there.edit("ClusterRole", "speaker", "", {"metadata": {"labels": {"mine": "yes"}}})
    checked(drift, there)

    assert there.compared == ["controller", "speaker", "speaker"]
    assert there.installed == []
    assert there.get("ClusterRole", "speaker")["metadata"]["labels"] == {"mine": "yes"}


@pytest.mark.parametrize("at", ["labels", "annotations"])
def test_an_object_can_permit_manual_edits(objects: Any, at: str) -> None:
    there, drift = installed(objects, role()), Drift()
    patch = {"metadata": {at: {DRIFT_DETECTION: "disabled"}}, "spec": {"verbs": "none"}}
    there.edit("ClusterRole", "controller", "", patch)

    checked(drift, there)

    assert there.get("ClusterRole", "controller")["spec"]["verbs"] == "none"


@pytest.mark.parametrize("mode", ["warn", "disabled"])
def test_a_release_without_drift_detection_keeps_manual_edits(objects: Any, mode: str) -> None:
    there, drift = installed(objects, role()), Drift()
    there.edit("ClusterRole", "controller", "", {"spec": {"verbs": "none"}})

    checked(drift, there, mode)

    assert there.get("ClusterRole", "controller")["spec"]["verbs"] == "none"


def test_between_two_looks_there_is_a_pause(objects: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helm_watch, "_PAUSE_SECONDS", 1e6)
    there, drift = installed(objects, role()), Drift()

    checked(drift, there, times=3)

    assert there.compared == []


def workload(kind: str, generation: int = 1, replicas: int = 2, **status: int) -> Any:
    spec = {} if kind == "DaemonSet" else {"replicas": replicas}
    metadata = {"generation": generation}
    return obj("apps/v1", kind, "one", spec, namespace="metallb-system", metadata=metadata, status=status)


@pytest.mark.parametrize(
    ("live", "runs"),
    [
        (workload("Deployment", observedGeneration=1, updatedReplicas=2, availableReplicas=2), True),
        (workload("Deployment", observedGeneration=1, updatedReplicas=2, availableReplicas=1), False),
        (workload("Deployment", observedGeneration=1, updatedReplicas=1, availableReplicas=2), False),
        (workload("Deployment", 2, observedGeneration=1, updatedReplicas=2, availableReplicas=2), False),
        (workload("Deployment", replicas=0, observedGeneration=1), True),
        (workload("Deployment"), False),
        (workload("StatefulSet", observedGeneration=1, updatedReplicas=2, readyReplicas=2), True),
        (workload("StatefulSet", observedGeneration=1, updatedReplicas=2, readyReplicas=0), False),
        (workload("DaemonSet", observedGeneration=1, desiredNumberScheduled=0), True),
        (workload("DaemonSet", observedGeneration=1, desiredNumberScheduled=1, updatedNumberScheduled=1), False),
    ],
)
def test_a_workload_runs_once_all_its_pods_of_this_generation_do(objects: Any, live: Any, runs: bool) -> None:  # noqa: FBT001  (a table)
    wanted = [live, config()]

    assert unready(objects(live), wanted, PLACE) == ([] if runs else [f"{live['kind']} one"])
    assert unready(objects(), wanted, PLACE) == [f"{live['kind']} one"]
