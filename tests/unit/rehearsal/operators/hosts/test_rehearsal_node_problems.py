"""Problem detectors of nodes: initial conditions on all nodes, and a separate program for each kernel log."""

from __future__ import annotations

import datetime as dt
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from jacquard.lab.rehearsal import processes
from jacquard.lab.rehearsal.operators.hosts import agents, node_problems, problem_detectors
from jacquard.lab.rehearsal.operators.hosts.problem_detectors import PROGRAM, log_folder
from jacquard.lab.rehearsal.region import Region
from jacquard.lab.toolchain import binaries
from tests.support.machine.built_programs import built
from tests.support.machine.scaled_timeout import ScaledTimeout
from tests.support.objects.live_objects import obj

KUBELET = {"kwok.x-k8s.io/node": "fake"}
GPU = {
    "plugin": "kmsg",
    "logPath": "/dev/kmsg",
    "lookback": "5m",
    "source": "gpu-monitor",
    "conditions": [{"type": "GpuLost", "reason": "GpuIsThere", "message": "no GPU has fallen off the bus"}],
    "rules": [{"type": "permanent", "condition": "GpuLost", "reason": "Gone", "pattern": "NVRM: Xid .*: 79,.*"}],
}
READY = {"type": "Ready", "status": "True"}


def release(*monitors: str, **definitions: str) -> Any:
    settings = {
        "log_monitors": list(monitors or ("/custom-config/gpu.json",)),
        "custom_monitor_definitions": {"gpu.json": json.dumps(GPU), **definitions},
    }
    spec = {
        "chartRef": {"kind": "OCIRepository", "name": node_problems.CHART},
        "targetNamespace": "problems",
        "kubeConfig": {"secretRef": {"name": "acme-kubeconfig"}},
        "values": {"settings": settings},
    }
    return obj(*agents.RELEASE, "problems", spec, "acme", status={"conditions": [READY]})


def node(*conditions: Any, boot: str = "b1", annotations: Any = KUBELET) -> Any:
    status = {"conditions": list(conditions), "nodeInfo": {"bootID": boot}}
    return obj("v1", "Node", "n1", {}, "", status=status, metadata={"annotations": annotations, "uid": "node"})


def pod() -> Any:
    metadata = {"uid": "pod", "ownerReferences": [{"kind": "DaemonSet", "name": PROGRAM}]}
    spec = {"nodeName": "n1", "containers": []}
    return obj("v1", "Pod", "npd-1", spec, "problems", status={"phase": "Running"}, metadata=metadata)


def test_a_new_node_gets_the_conditions_of_its_monitors_and_none_is_true(objects: Any) -> None:
    view = objects(node(READY))

    node_problems.report(view, view.find("v1", "Node", "n1"), pod(), release())

    ready, lost = view.get("Node", "n1")["status"]["conditions"]
    assert ready == READY
    assert lost.items() >= {"type": "GpuLost", "status": "False", "reason": "GpuIsThere"}.items()


def test_conditions_reported_by_the_program_are_kept(objects: Any) -> None:
    lost = {"type": "GpuLost", "status": "True", "reason": "Gone"}
    view = objects(node(READY, lost))

    node_problems.report(view, view.find("v1", "Node", "n1"), pod(), release())

    assert view.get("Node", "n1")["status"]["conditions"] == [READY, lost]


def test_kernel_log_monitors_are_read_from_the_image_and_the_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = {**GPU, "source": "kernel-monitor"}
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "kernel-monitor.json").write_text(json.dumps(kernel))
    monkeypatch.setattr(binaries, "data", lambda _: tmp_path)
    node_problems._of_image.cache_clear()
    paths = [
        "/config/kernel-monitor.json",
        "/config/missing.json",
        "/custom-config/gpu.json",
        "/custom-config/docker.json",
        "/custom-config/broken.json",
    ]
    chart = release(*paths, **{"docker.json": json.dumps({**GPU, "plugin": "journald"}), "broken.json": "[]"})

    found = [(name, monitor["source"]) for name, monitor in node_problems.monitors(chart)]

    node_problems._of_image.cache_clear()
    assert found == [("kernel-monitor.json", "kernel-monitor"), ("gpu.json", "gpu-monitor")]


@pytest.fixture
def region(tmp_path: Path) -> Iterator[Region]:
    """Return a region with one cluster and a fake API server."""
    found = Region("laptop", tmp_path / "region")
    point_at(found, "https://127.0.0.1:1")
    log_folder(found, "acme").mkdir(parents=True)
    (log_folder(found, "acme") / "n1.log").write_text("2026-11-26T12:00:00Z something\n")
    yield found
    processes.kill(processes.running(found.folder))


def point_at(region: Region, server: str) -> None:
    config = {
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "admin", "user": {"token": "all rights"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "admin"}}],
        "current-context": "c",
    }
    path = region.kubeconfig("acme")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(config))


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the program by Python, which waits."""
    launch = processes.launch

    def start(arguments: Any, **more: Any) -> None:
        launch([arguments[0], "-c", "import time; time.sleep(600)", *arguments[1:]], **more)

    monkeypatch.setattr(binaries, "path", lambda _: Path(sys.executable).resolve())
    monkeypatch.setattr(processes, "launch", start)


def running(region: Region) -> list[processes.Process]:
    return [process for process in processes.running(region.folder) if process.part == f"acme/{PROGRAM}"]


def files_of(process: processes.Process) -> list[Path]:
    [option] = [one for one in process.arguments if one.startswith("--config.system-log-monitor=")]
    return [Path(path) for path in option.partition("=")[2].split(",")]


@pytest.mark.usefixtures("waiting")
def test_a_node_with_a_kernel_log_has_a_program_that_reads_it(region: Region, objects: Any) -> None:
    detectors, management, view = problem_detectors.ProblemDetectors(region), objects(release()), objects(node(), pod())

    for _ in range(2):
        detectors.reconcile(management, "acme", view)

    [process] = running(region)
    [file] = files_of(process)
    monitor = json.loads(file.read_text())
    assert monitor["rules"] == GPU["rules"]
    assert (monitor["plugin"], monitor["logPath"]) == ("filelog", str(log_folder(region, "acme") / "n1.log"))
    assert {"--hostname-override=n1", "--port=0", "--prometheus-port=0"} <= set(process.arguments)


@pytest.mark.usefixtures("waiting")
@pytest.mark.parametrize("lacking", ["release", "pod", "log", "kubelet"])
def test_nothing_runs_without_a_part(region: Region, objects: Any, lacking: str) -> None:
    if lacking == "log":
        (log_folder(region, "acme") / "n1.log").unlink()
    management = objects(*(() if lacking == "release" else (release(),)))
    view = objects(node(annotations={} if lacking == "kubelet" else KUBELET), *(() if lacking == "pod" else (pod(),)))

    problem_detectors.ProblemDetectors(region).reconcile(management, "acme", view)

    assert running(region) == []


@pytest.mark.usefixtures("waiting")
def test_a_reboot_empties_the_log_and_starts_the_program_again(region: Region, objects: Any) -> None:
    detectors, management, view = problem_detectors.ProblemDetectors(region), objects(release()), objects(node(), pod())
    log = log_folder(region, "acme") / "n1.log"
    detectors.reconcile(management, "acme", view)
    [first] = running(region)
    assert log.stat().st_size > 0

    view.edit("Node", "n1", "", {"metadata": {"annotations": {"kwok.x-k8s.io/node": None}}})
    detectors.reconcile(management, "acme", view)
    assert (running(region), log.stat().st_size) == ([], 0)
    log.write_text("2026-11-26T12:00:05Z a fault that outlasts the boot\n")
    detectors.reconcile(management, "acme", view)

    view.edit("Node", "n1", "", {"metadata": {"annotations": KUBELET}, "status": {"nodeInfo": {"bootID": "b2"}}})
    detectors.reconcile(management, "acme", view)

    [second] = running(region)
    assert files_of(first) != files_of(second)
    assert log.stat().st_size > 0


class _Answers(BaseHTTPRequestHandler):
    """API server responses about a node; each patch of its status is recorded."""

    patches: ClassVar[list[Any]] = []

    def do_GET(self) -> None:
        self._answer({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}})

    def do_PATCH(self) -> None:
        self.patches.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self._answer({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def log_message(self, *_: Any) -> None:
        return

    def _answer(self, body: Any) -> None:
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def reported(kind: str) -> list[str]:
    conditions = [entry for patch in _Answers.patches for entry in patch["status"]["conditions"]]
    return [entry["status"] for entry in conditions if entry["type"] == kind]


def test_the_real_program_reports_a_line_of_the_kernel_log(region: Region, objects: Any) -> None:
    built(PROGRAM)
    _Answers.patches.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    point_at(region, f"http://127.0.0.1:{server.server_port}")
    view = objects(node(), pod())
    log = log_folder(region, "acme") / "n1.log"
    try:
        problem_detectors.ProblemDetectors(region).reconcile(objects(release()), "acme", view)
        wait_until(lambda: "False" in reported("GpuLost"))
        with log.open("a") as file:
            file.write(
                f"{dt.datetime.now(dt.UTC):%Y-%m-%dT%H:%M:%SZ} NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>'\n"
            )
        wait_until(lambda: reported("GpuLost")[-1:] == ["True"])
    finally:
        server.shutdown()
        server.server_close()


def wait_until(reached: Callable[[], bool]) -> None:
    patience = ScaledTimeout(20.0)
    while not reached():
        assert not patience.is_over(), _Answers.patches
        time.sleep(0.1)
