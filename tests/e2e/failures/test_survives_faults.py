"""After the loss of any process during a run or an `up`, the next ``up`` recovers; `down` deletes everything."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from pathlib import Path

import pytest
import yaml

from jacquard.lab.rehearsal import ports, stage_coverage, stages
from jacquard.providers.kube import ApiError, KubeconfigError, ObjectRef
from tests.support.local_regions.local_region import ENVIRONMENT, UP, LocalRegion, leftovers, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

MACHINE = ("cluster.x-k8s.io/v1beta2", "Machine")
NAMESPACE = "acme-train"


def has_namespace(region: LocalRegion, name: str) -> bool:
    try:
        return region.api().get(ObjectRef("v1", "Namespace", name, None)) is not None
    except (ApiError, KubeconfigError, OSError):
        return False


def pids_of(region: LocalRegion, cluster: str, program: str) -> list[int]:
    """Return the processes of one component of a cluster, which use a path in its cluster's folder."""
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


def port_of(region: LocalRegion) -> int:
    """Return the port of the management cluster's API server."""
    kubeconfig = yaml.safe_load((region.home / "regions" / ENVIRONMENT / "kubeconfigs" / "management.yaml").read_text())
    return int(kubeconfig["clusters"][0]["cluster"]["server"].rpartition(":")[2])


def test_a_cluster_restarts_at_other_ports_after_all_its_processes_were_killed(running: LocalRegion) -> None:
    for part in ("kwok-controller", "kube-apiserver", "etcd"):
        for pid in pids_of(running, "management", part):
            os.kill(pid, signal.SIGKILL)
    before = port_of(running)
    wait_until(lambda: ports.is_free(before), timeout_seconds=20, what="the API server has gone")
    with socket.create_server(("127.0.0.1", before)):
        running.up()
    assert port_of(running) != before

    log = running.home / "regions" / ENVIRONMENT / "logs" / "management" / "kwok-controller.log"
    watched = [json.loads(line) for line in log.read_text().splitlines() if "Start stage controller" in line]
    assert {(one["ref"]["APIGroup"], one["ref"]["Kind"]) for one in watched} == stage_coverage.played(
        stages.stages("management", 1)
    )

    machines = list(running.api().list(*MACHINE, namespace=NAMESPACE))
    old = {machine["metadata"]["uid"] for machine in machines}
    running.api().delete(ObjectRef(*MACHINE, machines[0]["metadata"]["name"], NAMESPACE))
    wait_until(
        lambda: bool(running.uids(*MACHINE, NAMESPACE) - old),
        timeout_seconds=120,
        what="Cluster API, which follows the API server to its other port, replaced a machine",
    )


def test_down_after_faults_leaves_nothing(region: LocalRegion) -> None:
    outcome = region.jacquard("down", ENVIRONMENT)

    assert outcome.code == 0, outcome.text
    wait_until(lambda: leftovers(region) == [], timeout_seconds=20, what="all processes and files gone")


def test_up_after_the_program_and_then_the_api_server_were_killed(region: LocalRegion) -> None:
    killed = region.start(*UP)
    wait_until(lambda: has_namespace(region, NAMESPACE), timeout_seconds=240, what="the up has begun", during=killed)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate(timeout=30)
    assert killed.returncode == -signal.SIGKILL

    struck = region.start(*UP)
    wait_until(
        lambda: bool(region.uids("cluster.x-k8s.io/v1beta2", "Cluster", NAMESPACE)),
        timeout_seconds=240,
        what="the second up has begun",
        during=struck,
    )
    [server] = pids_of(region, "management", "kube-apiserver")
    # Paused first, so that requests of all other components are pending when it is killed.
    os.kill(server, signal.SIGSTOP)
    time.sleep(3)
    os.kill(server, signal.SIGKILL)
    assert "Traceback" not in region.end_of(struck).text

    region.up()
    assert region.status()["settled"] is True


def test_down_deletes_clusters_without_processes(running: LocalRegion) -> None:
    clusters = running.home / "regions" / ENVIRONMENT / "kwok" / "clusters"
    servers = [pid for one in clusters.iterdir() for pid in pids_of(running, one.name, "kube-apiserver")]
    assert len(servers) == 3
    for pid in servers:
        os.kill(pid, signal.SIGKILL)

    outcome = running.jacquard("down", ENVIRONMENT)

    assert outcome.code == 0, outcome.text
    assert "its clusters do not answer" in outcome.stderr
    wait_until(lambda: leftovers(running) == [], timeout_seconds=20, what="all processes and files gone")
