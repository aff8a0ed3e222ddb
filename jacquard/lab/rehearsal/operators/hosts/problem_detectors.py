"""Real node-problem-detectors: one process for each node with a kernel log, while a pod of the DaemonSet runs there.

A test injects a fault by writing lines to ``kernel-logs/CLUSTER/NODE.log`` in the folder of the region, each with a
timestamp (RFC 3339) and a message. The program has the monitors of the release, with one change: instead of
``/dev/kmsg``, it reads this file (plugin ``filelog``). The file is emptied once when the kubelet stops, as a reboot
empties a kernel's ring buffer. Lines that are written during the boot are kept. The program starts again with the
kubelet and resets its conditions, unless such a line sets them again.

Not simulated: permissions of the chart's ServiceAccount, monitors with other sources than the kernel log, and metrics.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jacquard.lab.rehearsal import processes
from jacquard.lab.rehearsal.kubeconfigs import embedded
from jacquard.lab.rehearsal.operators.hosts import agents, node_problems
from jacquard.lab.rehearsal.operators.hosts.reboots import has_kubelet
from jacquard.lab.rehearsal.operators.view import LOG, Object, View
from jacquard.lab.rehearsal.region import Region
from jacquard.lab.toolchain import binaries
from jacquard.machine.files import replace_private
from jacquard.providers.kube.objects import dig

PROGRAM = "node-problem-detector"
_AGAIN_SECONDS = 10.0
_FROM_FILE = {
    "plugin": "filelog",
    "pluginConfig": {"timestamp": r"^(\S+)", "message": r"^\S+ (.*)$", "timestampFormat": "2006-01-02T15:04:05Z07:00"},
}
"""How the program reads a line of a kernel log in a file."""


@dataclass(frozen=True, slots=True)
class _Detector:
    """A node-problem-detector to run."""

    node: str
    monitors: dict[str, str]
    """Texts of the configuration files, by file name."""
    kubeconfig: str
    folder: Path
    """Folder of the files, whose name is a hash of all start parameters."""

    @property
    def arguments(self) -> list[str]:
        """Return the arguments of the program; the first one identifies it."""
        files = ",".join(str(self.folder / name) for name in self.monitors)
        return [
            f"--config.system-log-monitor={files}",
            f"--hostname-override={self.node}",
            f"--apiserver-override=?inClusterConfig=false&auth={self.folder}.yaml",
            "--port=0",
            "--prometheus-port=0",
        ]


class ProblemDetectors:
    """The problem detectors of a region's nodes."""

    def __init__(self, region: Region) -> None:
        """Start without state: running programs are found in the process table of the machine."""
        self._region = region
        self._not_before: dict[Path, float] = {}
        self._emptied: set[Path] = set()
        """Logs of nodes without a running kubelet."""

    def reconcile(self, management: View, cluster: str, view: View) -> None:
        """Start the programs of a cluster's nodes with kernel logs, and end the others; without logs, do nothing."""
        folder = log_folder(self._region, cluster)
        if not folder.is_dir():
            return
        logs = {path.stem: path for path in folder.glob("*.log")}
        for name, path in logs.items():
            node = view.find("v1", "Node", name)
            if node is not None and has_kubelet(node):
                self._emptied.discard(path)
            elif path not in self._emptied:
                os.truncate(path, 0)
                self._emptied.add(path)
        wanted = {detector.arguments[0]: detector for detector in self._wanted(management, cluster, view, logs)}
        part = f"{cluster}/{PROGRAM}"
        running = [process for process in processes.running(self._region.folder) if process.part == part]
        processes.kill(process for process in running if not wanted.keys() & set(process.arguments))
        known = {argument for process in running for argument in process.arguments}
        for key, detector in wanted.items():
            if key not in known and self._not_before.get(detector.folder, 0.0) <= time.monotonic():
                self._not_before[detector.folder] = time.monotonic() + _AGAIN_SECONDS
                self._start(cluster, detector)

    def _wanted(self, management: View, cluster: str, view: View, logs: Mapping[str, Path]) -> Iterator[_Detector]:
        releases = [entry for entry in agents.installed(management, cluster) if entry[0].name == PROGRAM]
        for _, release, pod in agents.running(view, releases):
            name = dig(pod, "spec", "nodeName")
            node = view.find("v1", "Node", name)
            if name in logs and node is not None and has_kubelet(node):
                yield self._detector(cluster, node, pod, release, logs[name])

    def _detector(self, cluster: str, node: Object, pod: Object, release: Object, log: Path) -> _Detector:
        texts = {
            f"{number}-{name}": json.dumps({**monitor, **_FROM_FILE, "logPath": str(log)}, indent=1)
            for number, (name, monitor) in enumerate(node_problems.monitors(release))
        }
        server = embedded(self._region.kubeconfig(cluster), cluster)
        boot = dig(node, "status", "nodeInfo", "bootID")
        parameters = (node["metadata"]["uid"], boot, pod["metadata"]["uid"], sorted(texts.items()), server)
        key = hashlib.sha256(repr(parameters).encode()).hexdigest()[:12]
        folder = self._region.cluster_folder(cluster) / "programs" / f"{PROGRAM}-{key}"
        return _Detector(node["metadata"]["name"], texts, server, folder)

    def _start(self, cluster: str, detector: _Detector) -> None:
        folder = self._region.cluster_folder(cluster)
        program = folder / "bin" / PROGRAM
        program.parent.mkdir(parents=True, exist_ok=True)
        program.unlink(missing_ok=True)
        program.symlink_to(binaries.path(PROGRAM))
        replace_private(detector.folder.with_name(f"{detector.folder.name}.yaml"), detector.kubeconfig)
        for name, text in detector.monitors.items():
            replace_private(detector.folder / name, text)
        LOG.info("%s: %s for node %s", cluster, PROGRAM, detector.node)
        log = folder / "logs" / f"{PROGRAM}-{detector.node}.log"
        processes.launch([str(program), *detector.arguments], log=log, environment=os.environ, folder=folder)


def log_folder(region: Region, cluster: str) -> Path:
    """Return the folder with the kernel logs of a cluster's nodes; it exists only if a test injects faults."""
    return region.folder / "kernel-logs" / cluster
