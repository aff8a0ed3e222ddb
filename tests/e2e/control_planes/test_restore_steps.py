"""Steps of a restore by the real engine at a real API server: what waits for what.

A thread replaces the helm-controller and the Job controller: it writes their status.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from components.render.control_planes.kamaji_etcd import NAMESPACE
from components.specs.control_planes.data_stores import RestoreStep
from jacquard.engine.driver import Engine, Run
from jacquard.machine import paths
from jacquard.providers.kube import ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.engine.small_project import small_project
from tests.support.storage.restored_store import ETCD, rendered

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

STACK = "edge-1"
RELEASE = ("helm.toolkit.fluxcd.io/v2", "HelmRelease")
JOB = ("batch/v1", "Job")
SECONDS = 15
"""Time that the engine waits for an object, instead of half an hour."""
PROGRAM = """
import json
import os
from pathlib import Path

import pulumi

from components.render.manifest import Manifest, Readiness
from components.resources import Cluster, register
from stacks.probes import ReadinessCheck
from stacks.provider_record import keep


class Part(pulumi.ComponentResource):
    def __init__(self, name, rendered, clusters):
        super().__init__("jacquard:test:Part", name)
        register(self, name, rendered, clusters)


def manifest(body, conditions):
    return Manifest(body=body, readiness=Readiness(conditions=tuple(conditions), timeout_seconds=SECONDS))


keep(pulumi.get_stack())
file = Path(os.environ["CLUSTER"])
look = ReadinessCheck("management", file, None)
management = Cluster(name="management", kubeconfig=file, identifier="edge-1/management", look=look)
declared = json.loads(Path(os.environ["DECLARED"]).read_text())
Part("foundation", [manifest(*item) for item in declared], {"management": management})
""".replace("SECONDS", str(SECONDS))


@dataclass
class Controllers:
    """Writes the status of the release and of the Jobs."""

    server: LocalApiServer
    jobs_succeed: bool = False
    job_fails: str = ""
    """Name of a Job that fails; the others run."""
    stopped_with: list[int] = field(default_factory=list)
    """Number of Jobs that existed when members had stopped."""
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.ended.wait(0.2):
            for release in self.server.api.list(*RELEASE, namespace=NAMESPACE):
                self._reconcile(release)
            for job in self.server.api.list(*JOB, namespace=NAMESPACE):
                if self.jobs_succeed and "completionTime" not in job["status"]:
                    self._report(job, _succeeded())
                elif job["metadata"]["name"] == self.job_fails and not job["status"].get("conditions"):
                    self._report(job, _failed())

    def _reconcile(self, release: dict[str, Any]) -> None:
        generation = release["metadata"]["generation"]
        if release.get("status", {}).get("observedGeneration") == generation:
            return
        time.sleep(1)  # A Job that does not wait for the members would be created in this time.
        if is_stopped(release):
            self.stopped_with.append(len(self.server.api.list(*JOB, namespace=NAMESPACE)))
        ready = {
            "type": "Ready",
            "status": "True",
            "reason": "UpgradeSucceeded",
            "message": "",
            **_now("lastTransition"),
        }
        self._report(release, {"observedGeneration": generation, "conditions": [ready]})

    def _report(self, item: dict[str, Any], status: dict[str, Any]) -> None:
        self.server.api.patch(ObjectRef.of(item), {"status": status}, subresource="status", field_manager="controllers")


def _now(of: str) -> dict[str, str]:
    return {f"{of}Time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


def _succeeded() -> dict[str, Any]:
    kinds = ("SuccessCriteriaMet", "Complete")
    conditions = [{"type": kind, "status": "True", **_now("lastTransition")} for kind in kinds]
    return {**_now("start"), **_now("completion"), "succeeded": 1, "conditions": conditions}


def _failed() -> dict[str, Any]:
    about = {"reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}
    kinds = ("FailureTarget", "Failed")
    conditions = [{"type": kind, "status": "True", **about, **_now("lastTransition")} for kind in kinds]
    return {**_now("start"), "failed": 7, "conditions": conditions}


def is_stopped(release: dict[str, Any]) -> bool:
    return "StatefulSet" in [
        json.loads(patch["patch"])["kind"]
        for renderer in release["spec"]["postRenderers"]
        for patch in renderer["kustomize"]["patches"]
        if patch["patch"].startswith("{")
    ]


@dataclass
class Foundation:
    """A stack with the release of the data store and its Jobs."""

    engine: Engine
    declared: Path
    controllers: Controllers

    def up(self, step: RestoreStep | None) -> Run:
        awaited = [(item.body, item.readiness.conditions) for item in rendered(step) if item.readiness]
        self.declared.write_text(json.dumps(awaited))
        self.engine.prepare(STACK)
        return self.engine.run("up", STACK, "--yes", "--skip-preview")

    def is_stopped(self) -> bool:
        release = self.controllers.server.api.get(ObjectRef(*RELEASE, ETCD, NAMESPACE))
        assert release is not None
        return is_stopped(release)

    def jobs(self) -> dict[str, str]:
        """Return the UID of each Job."""
        found = self.controllers.server.api.list(*JOB, namespace=NAMESPACE)
        return {job["metadata"]["name"]: job["metadata"]["uid"] for job in found}


@pytest.fixture
def foundation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Foundation]:
    server = LocalApiServer(tmp_path / "server", kinds=("HelmRelease",), controllers=("garbage-collector-controller",))
    controllers = Controllers(server)
    thread = threading.Thread(target=controllers.run)
    try:
        server.namespace(NAMESPACE)
        thread.start()
        engine = small_project(tmp_path, monkeypatch)
        (paths.project() / "__main__.py").write_text(PROGRAM)
        declared = tmp_path / "declared.json"
        engine.variables |= {"DECLARED": str(declared), "CLUSTER": str(server.kubeconfig)}
        yield Foundation(engine, declared, controllers)
    finally:
        controllers.ended.set()
        thread.join()
        server.stop()


def test_members_start_only_after_all_jobs_succeeded(foundation: Foundation) -> None:
    controllers = foundation.controllers
    assert foundation.up(None).code == 0

    waiting = foundation.up(RestoreStep.STOP)

    assert waiting.code != 0
    assert "Complete" in waiting.tail
    assert "not ready after" in waiting.tail
    assert controllers.stopped_with == [0], "Jobs are created after members have stopped"
    jobs = foundation.jobs()
    assert len(jobs) == 3

    early = foundation.up(RestoreStep.START)

    assert early.code != 0, early.tail
    assert foundation.is_stopped(), "members do not start while a Job runs"

    controllers.jobs_succeed = True
    for step in (RestoreStep.STOP, RestoreStep.START):
        run = foundation.up(step)
        assert run.code == 0, run.tail
        assert foundation.jobs() == jobs, "no Job runs again"
        assert foundation.is_stopped() == (step is RestoreStep.STOP)
    done = foundation.up(RestoreStep.DONE)
    assert (done.code, foundation.jobs(), foundation.is_stopped()) == (0, {}, False)


def test_a_failed_job_is_named_without_waiting_for_it(foundation: Foundation) -> None:
    assert foundation.up(None).code == 0
    job = next(item.name for item in rendered(RestoreStep.STOP) if item.kind == "Job")
    foundation.controllers.job_fails = job

    run = foundation.up(RestoreStep.STOP)

    assert run.code != 0
    text = f"Job {NAMESPACE}/{job}: failed: BackoffLimitExceeded: Job has reached the specified backoff limit"
    assert text in run.tail
    assert f"{job}: not ready after" not in run.tail


def test_a_restore_that_was_not_stopped_first_does_not_change_the_release(foundation: Foundation) -> None:
    assert foundation.up(None).code == 0

    run = foundation.up(RestoreStep.START)

    assert run.code != 0, run.tail
    assert len(foundation.jobs()) == 3
    assert not foundation.is_stopped()
