"""Pods whose image is here as a program: where such a pod runs, the program runs, as a process of the region.

It has the arguments and variables of its container (`containers`) and the rights of the pod's ServiceAccount, or those
of the kubeconfig that the container is given; it ends with the pod.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
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
"""After what length of time a program that died is started again, as a kubelet does at first."""


@dataclass(frozen=True, slots=True)
class Started:
    """A program that a pod asks for, and where its kubeconfig is: a name that follows from all that it starts with."""

    program: Program
    pod: Object
    container: Object
    variables: dict[str, str]
    files: dict[PurePosixPath, str]
    """What the container has from ConfigMaps, by where it finds it."""
    given: str | None
    """Kubeconfig that the container is given; None where it goes by its ServiceAccount."""
    kubeconfig: Path


class Programs:
    """The kubelets of a region, as far as programs are here that its pods would run."""

    def __init__(self, region: Region, name_server: NameServer) -> None:
        """Remember nothing yet: what runs is known by the machine's table of processes."""
        self._region = region
        self._name_server = name_server
        self._not_before: dict[Path, float] = {}

    def reconcile(self, cluster: str, view: View) -> None:
        """Start what the running pods of a cluster ask for, and end what none asks for any more."""
        wanted = {f"--kubeconfig={one.kubeconfig}": one for one in self._wanted(cluster, view)}
        parts = {f"{cluster}/{program.name}" for program in PROGRAMS}
        mine = [process for process in processes.running(self._region.folder) if process.part in parts]
        processes.kill(process for process in mine if not wanted.keys() & set(process.arguments))
        there = {argument for process in mine for argument in process.arguments}
        for option, one in wanted.items():
            if option not in there and self._not_before.get(one.kubeconfig, 0.0) <= time.monotonic():
                self._not_before[one.kubeconfig] = time.monotonic() + _AGAIN_SECONDS
                self._start(cluster, view, one)

    def _wanted(self, cluster: str, view: View) -> Iterator[Started]:
        for pod in view.all("v1", "Pod"):
            if deleting(pod) or dig(pod, "status", "phase") != "Running":
                continue
            for container in pod["spec"]["containers"]:
                program = program_of(container)
                try:
                    if program and program.in_management == (cluster == MANAGEMENT):
                        yield self._asked(cluster, view, pod, container, program)
                except NotThere as reason:
                    LOG.debug("%s: %s", cluster, reason)

    def _asked(self, cluster: str, view: View, pod: Object, container: Object, program: Program) -> Started:
        given, told = given_kubeconfig(view, pod, container), variables(view, pod, container, program)
        server = given or embedded(self._region.kubeconfig(cluster), cluster)
        decides = (pod["metadata"]["uid"], server, sorted(told.items()), self._name_server.port)
        key = hashlib.sha256(repr(decides).encode()).hexdigest()[:12]
        folder = self._region.cluster_folder(cluster) / "programs"
        found = files(view, pod, container)
        return Started(program, pod, container, told, found, given, folder / f"{program.name}-{key}.yaml")

    def _start(self, cluster: str, view: View, one: Started) -> None:
        folder, name = self._region.cluster_folder(cluster), one.program.name
        program = folder / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.unlink(missing_ok=True)
        program.symlink_to(binaries.path(name))
        replace_private(one.kubeconfig, one.given or self._own(cluster, view, one.pod))
        below = one.kubeconfig.with_suffix("")
        for path, text in one.files.items():
            replace_private(below / path.relative_to("/"), text)
        metrics, health = ports.free(2)
        filled = {
            "metrics": metrics,
            "health": health,
            "name_server": self._name_server.port,
            "namespace": one.pod["metadata"]["namespace"],
            "kubeconfig": one.kubeconfig,
            "files": below,
        }
        LOG.info("%s: %s for pod %s", cluster, name, one.pod["metadata"]["name"])
        processes.launch(
            [str(program), *arguments(one.program, one.container, filled)],
            log=folder / "logs" / f"{name}.log",
            environment={**os.environ, **one.variables},
            folder=folder,
        )

    def _own(self, cluster: str, view: View, pod: Object) -> str:
        """Return a kubeconfig with a token of the pod's ServiceAccount."""
        config = yaml.load(embedded(self._region.kubeconfig(cluster), cluster), yaml.CSafeLoader)
        config["users"][0]["user"] = {"token": view.token(pod)}
        return yaml.dump(config, Dumper=yaml.CSafeDumper)
