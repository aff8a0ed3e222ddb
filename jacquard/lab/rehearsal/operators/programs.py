"""Pods whose image is available as a local program: while such a pod runs, the program runs as a process of the region.

The process has the arguments and variables of its container (`containers`), and the permissions of the pod's
ServiceAccount or of the container's kubeconfig. The process ends with the pod.
"""

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import yaml

from jacquard.lab.rehearsal import ports, processes
from jacquard.lab.rehearsal.kubeconfigs import embedded
from jacquard.lab.rehearsal.operators.containers import (
    PROGRAMS,
    NotThere,
    Program,
    arguments,
    files,
    given_kubeconfig,
    program_of,
    variables,
)
from jacquard.lab.rehearsal.operators.network.name_server import NameServer
from jacquard.lab.rehearsal.operators.view import LOG, Object, View, deleting
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.lab.toolchain import binaries
from jacquard.machine.files import replace_private
from jacquard.providers.kube.objects import dig

_AGAIN_SECONDS = 10.0
"""Delay before a program is restarted, like the first back-off of a kubelet."""


@dataclass(frozen=True, slots=True)
class Started:
    """A program of a pod, and the path of its kubeconfig: a folder of the pod, and a hash of all start parameters."""

    program: Program
    pod: Object
    container: Object
    variables: dict[str, str]
    files: dict[PurePosixPath, str]
    """Files from ConfigMaps by path in the container."""
    given: str | None
    """Kubeconfig of the container; None if the container uses its ServiceAccount."""
    kubeconfig: Path


class Programs:
    """Simulated kubelets of a region for pods with local programs."""

    def __init__(self, region: Region, name_server: NameServer) -> None:
        """Start without state: running programs are found in the process table of the machine."""
        self._region = region
        self._name_server = name_server
        self._not_before: dict[Path, float] = {}

    def reconcile(self, cluster: str, view: View, region: Sequence[processes.Process]) -> None:
        """Start the programs of a cluster's running pods, and end all others of ``region``, its running processes."""
        wanted = {f"--kubeconfig={started.kubeconfig}": started for started in self._wanted(cluster, view)}
        parts = {f"{cluster}/{program.name}" for program in PROGRAMS}
        running = [process for process in region if process.part in parts]
        processes.kill(process for process in running if not wanted.keys() & set(process.arguments))
        options = {argument for process in running for argument in process.arguments}
        for option, started in wanted.items():
            if option not in options and self._not_before.get(started.kubeconfig, 0.0) <= time.monotonic():
                self._not_before[started.kubeconfig] = time.monotonic() + _AGAIN_SECONDS
                self._start(cluster, view, started)

    def _wanted(self, cluster: str, view: View) -> Iterator[Started]:
        for pod in view.all("v1", "Pod"):
            if deleting(pod) or dig(pod, "status", "phase") != "Running":
                continue
            for container in pod["spec"]["containers"]:
                program = program_of(container)
                try:
                    if program and program.in_management == (cluster == MANAGEMENT):
                        yield self._started(cluster, view, pod, container, program)
                except NotThere as reason:
                    LOG.debug("%s: %s", cluster, reason)

    def _started(self, cluster: str, view: View, pod: Object, container: Object, program: Program) -> Started:
        kubeconfig, environment = given_kubeconfig(view, pod, container), variables(view, pod, container, program)
        server = kubeconfig or embedded(self._region.kubeconfig(cluster), cluster)
        parameters = (pod["metadata"]["uid"], server, sorted(environment.items()), self._name_server.port)
        key = hashlib.sha256(repr(parameters).encode()).hexdigest()[:12]
        of = pod["metadata"]
        folder = self._region.cluster_folder(cluster) / "programs" / of["namespace"] / of["name"]
        path = folder / f"{program.name}-{key}.yaml"
        return Started(program, pod, container, environment, files(view, pod, container), kubeconfig, path)

    def _start(self, cluster: str, view: View, started: Started) -> None:
        folder, name = self._region.cluster_folder(cluster), started.program.name
        program = folder / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.unlink(missing_ok=True)
        program.symlink_to(binaries.path(name))
        replace_private(started.kubeconfig, started.given or self._account_kubeconfig(cluster, view, started.pod))
        root = started.kubeconfig.with_suffix("")
        for path, text in started.files.items():
            replace_private(root / path.relative_to("/"), text)
        metrics, health = ports.free(2)
        placeholders = {
            "metrics": metrics,
            "health": health,
            "name_server": self._name_server.port,
            "namespace": started.pod["metadata"]["namespace"],
            "kubeconfig": started.kubeconfig,
            "files": root,
        }
        LOG.info("%s: %s for pod %s", cluster, name, started.pod["metadata"]["name"])
        processes.launch(
            [str(program), *arguments(started.program, started.container, placeholders)],
            log=folder / "logs" / f"{name}.log",
            environment={**os.environ, **started.variables},
            folder=folder,
        )

    def _account_kubeconfig(self, cluster: str, view: View, pod: Object) -> str:
        """Return a kubeconfig with a token of the pod's ServiceAccount."""
        config = yaml.load(embedded(self._region.kubeconfig(cluster), cluster), yaml.CSafeLoader)
        config["users"][0]["user"] = {"token": view.token(pod)}
        return yaml.dump(config, Dumper=yaml.CSafeDumper)
