"""Where clusters come from: kwok (the default), kind, or a kubeconfig context that was named."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from typing import Protocol

from jacquard.lab.rehearsal import kubeconfigs, kwok, ports, processes, stage_coverage
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.lab.toolchain import binaries
from jacquard.machine import paths, settings
from jacquard.machine.files import replace_private
from jacquard.machine.settings import CLUSTER

KIND_IMAGE = "JACQUARD_KIND_IMAGE"
_KIND_DEFAULT_IMAGE = "kindest/node:v1.36.1"

Say = Callable[[str], None]


class Backend(Protocol):
    """Makes, repairs and removes one cluster."""

    name: str
    """Name of the backend, as ``JACQUARD_CLUSTER`` has it."""
    loopback: bool
    """Whether the cluster's API server can reach this machine's loopback interface, and so a webhook there."""

    def ensure(self, region: Region, cluster: str, say: Say) -> None:
        """Make the cluster or repair it, until its API server is ready."""

    def remove(self, region: Region, cluster: str) -> None:
        """Remove it with all its processes; harmless when it is not there."""


class Kwok:
    """Processes of this machine."""

    name = "kwok"
    loopback = True

    def ensure(self, region: Region, cluster: str, say: Say) -> None:
        """Make the cluster or repair it."""
        kwok.ensure(region, cluster, say)

    def remove(self, region: Region, cluster: str) -> None:
        """Remove it."""
        kwok.remove(region, cluster)


class Kind:
    """Containers of a local Docker, with kwok's controller beside them for the stages."""

    name = "kind"
    loopback = False

    def ensure(self, region: Region, cluster: str, say: Say) -> None:
        """Make the cluster, from a node image that is already here."""
        name = kind_name(region, cluster)
        folder = region.cluster_folder(cluster)
        kubeconfig = folder / "kubeconfig.yaml"
        if name not in _run("kind", "get", "clusters").split():
            image = os.environ.get(KIND_IMAGE, _KIND_DEFAULT_IMAGE)
            try:
                _run("docker", "image", "inspect", "--format", "{{.Id}}", image)
            except RehearsalError as error:
                msg = f"docker: image {image} is not here; pull it, or name another in {KIND_IMAGE}, or unset {CLUSTER}"
                raise RehearsalError(msg) from error
            say(f"{cluster}: kind makes {name}")
            folder.mkdir(parents=True, exist_ok=True)
            _run("kind", "create", "cluster", "--name", name, "--image", image, "--kubeconfig", str(kubeconfig))
        elif not kubeconfig.exists():
            replace_private(kubeconfig, _run("kind", "get", "kubeconfig", "--name", name))
        _run("docker", "start", f"{name}-control-plane")
        _adopt(region, cluster)

    def remove(self, region: Region, cluster: str) -> None:
        """Remove the containers and the controller."""
        if shutil.which("kind"):
            _run("kind", "delete", "cluster", "--name", kind_name(region, cluster))
        kwok.remove(region, cluster)


class Context:
    """A management cluster that somebody else made; hosted control planes are kwok clusters."""

    loopback = False

    def __init__(self, context: str) -> None:
        self.name = f"context:{context}"
        self.context = context

    def ensure(self, region: Region, cluster: str, say: Say) -> None:
        """Take the cluster that the context leads to."""
        if cluster != MANAGEMENT:
            kwok.ensure(region, cluster, say)
            return
        command = [str(binaries.path("kubectl")), "config", "view", "--minify", "--flatten", "--raw"]
        try:
            text = _run(*command, "--context", self.context, environment=_users_own(region))
        except RehearsalError as error:
            msg = f"{CLUSTER}: no context '{self.context}' in the kubeconfig; `kubectl config get-contexts` lists them"
            raise RehearsalError(msg) from error
        replace_private(region.cluster_folder(cluster) / "kubeconfig.yaml", text)
        _adopt(region, cluster)

    def remove(self, region: Region, cluster: str) -> None:
        """Stop what runs here; the cluster is not ours to remove."""
        kwok.remove(region, cluster)


def chosen() -> Backend:
    """Return the backend that ``JACQUARD_CLUSTER`` names.

    Raises:
        RehearsalError: What it needs is not installed.
        SettingError: It names none.
    """
    backend = named(settings.cluster())
    if isinstance(backend, Kind):
        absent = [program for program in ("docker", "kind") if not shutil.which(program)]
        if absent:
            msg = f"{CLUSTER}: 'kind' needs {' and '.join(absent)} on PATH; install, or unset {CLUSTER} to use kwok"
            raise RehearsalError(msg)
    return backend


def named(name: str) -> Backend:
    """Return the backend of a name that `settings.cluster` gave, now or when a cluster was made."""
    if name == "kwok":
        return Kwok()
    return Kind() if name == "kind" else Context(name.removeprefix("context:"))


def kind_name(region: Region, cluster: str) -> str:
    """Return a name that no other clone on this machine gives to a cluster; Docker has one name space for all."""
    digest = hashlib.sha256(str(region.folder).encode()).hexdigest()[:8]
    return f"{region.environment}-{cluster}-{digest}"


def _adopt(region: Region, cluster: str) -> None:
    """Publish the kubeconfig of a cluster made elsewhere, and run kwok's controller for it."""
    folder = region.cluster_folder(cluster)
    kubeconfig = folder / "kubeconfig.yaml"
    if cluster == MANAGEMENT:
        text = kubeconfigs.embedded(kubeconfig, f"{region.environment}-{cluster}")
        replace_private(paths.kubeconfig(region.environment, cluster), text)
    if any(process.part == kwok.CONTROLLER for process in processes.running(folder)):
        return
    program = folder / "bin" / kwok.CONTROLLER
    program.parent.mkdir(parents=True, exist_ok=True)
    program.unlink(missing_ok=True)
    program.symlink_to(binaries.path("kwok"))
    [port] = ports.free(1)
    arguments = [str(program), f"--kubeconfig={kubeconfig}", "--enable-crds=Stage", "--manage-all-nodes=false"]
    arguments += [f"--manage-nodes-with-annotation-selector={kwok.NODES}", f"--server-address={ports.LOOPBACK}:{port}"]
    kwok.link_logs(region, cluster)
    log = kwok.controller_log(region, cluster)
    stage_coverage.set_aside(log)
    processes.launch(arguments, log=log, environment=os.environ, folder=folder)


def _users_own(region: Region) -> dict[str, str]:
    """Return the environment without the region's own kubeconfig, which the engine's environment points to."""
    own = str(region.kubeconfig(MANAGEMENT))
    return {name: value for name, value in os.environ.items() if (name, value) != ("KUBECONFIG", own)}


def _run(*command: str, environment: Mapping[str, str] = os.environ) -> str:
    try:
        answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600, env=dict(environment))
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip() or "no reason given").splitlines()[-1]
        msg = f"{' '.join(command)}: exit status {error.returncode}: {last}"
        raise RehearsalError(msg) from error
    return answer.stdout
