"""Pods whose image is here as a program: where such a pod runs, the program runs, as a process of the region.

It has the arguments and variables of its container and the rights of the pod's ServiceAccount, and ends with the pod.
What is changed are ports, since all clusters share one machine, and webhooks, which stay off: nobody can reach them.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from providers.kube.objects import dig
from rehearsal import ports, processes
from rehearsal.kubeconfigs import embedded
from rehearsal.operators.view import LOG, Object, View, deleting
from rehearsal.region import Region
from toolchain import binaries
from toolchain.errors import ToolchainError
from toolchain.files import replace_private

PROGRAMS = {"metallb/controller": "metallb-controller"}
"""Program of the toolchain that an image has inside, by the end of the image's name."""
_AGAIN_SECONDS = 10.0
"""After what length of time a program that died is started again, as a kubelet does at first."""
_FIELDS = {"metadata.name": ("metadata", "name"), "metadata.namespace": ("metadata", "namespace")}
"""What a variable of a container may be filled with from its pod."""


@dataclass(frozen=True, slots=True)
class Started:
    """A program that a pod asks for, and where its kubeconfig is: a name that follows from pod and API server."""

    name: str
    pod: Object
    container: Object
    kubeconfig: Path


class Programs:
    """The kubelets of a region, as far as programs are here that its pods would run."""

    def __init__(self, region: Region) -> None:
        """Remember nothing yet: what runs is known by the machine's table of processes."""
        self._region = region
        self._not_before: dict[Path, float] = {}

    def reconcile(self, cluster: str, view: View) -> None:
        """Start what the running pods of a hosted cluster ask for, and end what none asks for any more."""
        wanted = {f"--kubeconfig={one.kubeconfig}": one for one in self._wanted(cluster, view)}
        parts = {f"{cluster}/{name}" for name in PROGRAMS.values()}
        mine = [process for process in processes.running(self._region.folder) if process.part in parts]
        processes.kill(process for process in mine if not wanted.keys() & set(process.arguments))
        there = {argument for process in mine for argument in process.arguments}
        for option, one in wanted.items():
            if option not in there and self._not_before.get(one.kubeconfig, 0.0) <= time.monotonic():
                self._not_before[one.kubeconfig] = time.monotonic() + _AGAIN_SECONDS
                self._start(cluster, view, one)

    def _wanted(self, cluster: str, view: View) -> Iterator[Started]:
        folder = self._region.cluster_folder(cluster)
        for pod in view.all("v1", "Pod"):
            if deleting(pod) or dig(pod, "status", "phase") != "Running":
                continue
            for container in pod["spec"]["containers"]:
                if name := program_of(container["image"]):
                    server = embedded(self._region.kubeconfig(cluster), cluster)
                    key = hashlib.sha256(f"{pod['metadata']['uid']} {server}".encode()).hexdigest()[:12]
                    yield Started(name, pod, container, folder / "programs" / f"{name}-{key}.yaml")

    def _start(self, cluster: str, view: View, one: Started) -> None:
        folder = self._region.cluster_folder(cluster)
        program = folder / "bin" / one.name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.unlink(missing_ok=True)
        program.symlink_to(binaries.path(one.name))
        config = yaml.load(embedded(self._region.kubeconfig(cluster), cluster), yaml.CSafeLoader)
        config["users"][0]["user"] = {"token": view.token(one.pod)}
        replace_private(one.kubeconfig, yaml.dump(config, Dumper=yaml.CSafeDumper))
        LOG.info("%s: %s for pod %s", cluster, one.name, one.pod["metadata"]["name"])
        processes.launch(
            [str(program), *arguments(one.pod, one.container, one.kubeconfig, *ports.free(2))],
            log=folder / "logs" / f"{one.name}.log",
            environment={**os.environ, **variables(one.pod, one.container)},
            folder=folder,
        )


def program_of(image: str) -> str | None:
    """Return the program that is here for an image, whatever its registry and version; None where none is."""
    repository = image.partition("@")[0]
    if ":" in repository.rpartition("/")[2]:
        repository = repository.rpartition(":")[0]
    name = next((name for end, name in PROGRAMS.items() if f"/{repository}".endswith(f"/{end}")), None)
    try:
        return name if name and binaries.path(name) else None
    except ToolchainError:
        return None


def arguments(pod: Object, container: Object, kubeconfig: Path, metrics: int, health: int) -> list[str]:
    """Return a container's arguments and, after them, what is different here; the last of one name counts."""
    return [
        *(container.get("args") or ()),
        f"--port={metrics}",
        f"--health-probe-port={health}",
        "--webhook-mode=disabled",
        # A pod reads it from a file that its kubelet puts there.
        f"--namespace={pod['metadata']['namespace']}",
        f"--kubeconfig={kubeconfig}",
    ]


def variables(pod: Object, container: Object) -> dict[str, str]:
    """Return a container's variables, those filled in that come from its pod."""
    found: dict[str, Any] = {}
    for variable in container.get("env") or ():
        path = dig(variable, "valueFrom", "fieldRef", "fieldPath")
        found[variable["name"]] = dig(pod, *_FIELDS[path]) if path in _FIELDS else variable.get("value")
    return {name: str(value) for name, value in found.items() if value is not None}
