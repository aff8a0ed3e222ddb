"""Down leaves nothing; and killed in the middle: whatever dies while a region comes up, the next ``up`` finishes it."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from local_region import ENVIRONMENT, UP, LocalRegion, processes_of, wait_until

from providers.kube import ApiError, KubeconfigError, ObjectRef
from rehearsal import attention, stages

pytestmark = pytest.mark.e2e


def test_down_leaves_nothing(running: LocalRegion) -> None:
    outcome = running.jacquard("down", ENVIRONMENT)

    assert outcome.code == 0, outcome.text
    wait_until(lambda: not processes_of(running.home), timeout_seconds=20, what="all processes gone")
    left = [path for path in (running.home / "regions").rglob("*") if path.is_file()] if running.home.exists() else []
    assert left == []


def has_namespace(region: LocalRegion, name: str) -> bool:
    try:
        return region.api().get(ObjectRef("v1", "Namespace", name, None)) is not None
    except (ApiError, KubeconfigError, OSError):
        return False


def test_up_after_the_program_and_then_the_api_server_were_killed(region: LocalRegion) -> None:
    killed = region.start(*UP)
    wait_until(lambda: has_namespace(region, "acme-train"), timeout_seconds=240, what="the up has begun", during=killed)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate(timeout=30)
    assert killed.returncode == -signal.SIGKILL

    struck = region.start(*UP)
    wait_until(
        lambda: bool(region.uids("cluster.x-k8s.io/v1beta2", "Cluster", "acme-train")),
        timeout_seconds=240,
        what="the second up has begun",
        during=struck,
    )
    [server] = pids_of(region, "management", "kube-apiserver")
    os.kill(server, signal.SIGKILL)
    stdout, stderr = struck.communicate(timeout=400)
    assert "Traceback" not in stdout + stderr

    outcome = region.jacquard("up", ENVIRONMENT)
    assert outcome.code == 0, outcome.text
    assert region.status()["settled"] is True


def pids_of(region: LocalRegion, cluster: str, program: str) -> list[int]:
    """Return the processes of one part of a cluster; a part runs through a path inside its cluster's folder."""
    path = f"{region.home}/regions/{ENVIRONMENT}/kwok/clusters/{cluster}/bin/{program}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if line.split(b"\0")[0] == path:
            found.append(int(entry.name))
    return sorted(found)


def test_after_all_parts_of_a_cluster_were_killed_its_hardware_moves_again(region: LocalRegion) -> None:
    for part in ("kwok-controller", "kube-apiserver", "etcd"):
        for pid in pids_of(region, "management", part):
            os.kill(pid, signal.SIGKILL)

    outcome = region.jacquard("up", ENVIRONMENT)
    assert outcome.code == 0, outcome.text

    log = region.home / "regions" / ENVIRONMENT / "logs" / "management" / "kwok-controller.log"
    watched = [json.loads(line) for line in log.read_text().splitlines() if "Start stage controller" in line]
    assert {(one["ref"]["APIGroup"], one["ref"]["Kind"]) for one in watched} == attention.played(
        stages.stages("management", 1)
    )


def test_down_after_faults_leaves_nothing(region: LocalRegion) -> None:
    outcome = region.jacquard("down", ENVIRONMENT)

    assert outcome.code == 0, outcome.text
    time.sleep(1)
    assert processes_of(region.home) == []
