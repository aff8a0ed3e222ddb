"""Backends of local clusters: kwok (default), kind, or an existing kubeconfig context."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from typing import Protocol

from jacquard.lab.rehearsal import (
    kind_configuration,
    kubeconfigs,
    kwok,
    kwok_configuration,
    ports,
    processes,
    stage_coverage,
)
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.lab.toolchain import binaries
from jacquard.lab.toolchain import kind as kind_tools
from jacquard.machine import paths, settings
from jacquard.machine.files import replace_private
from jacquard.machine.settings import CLUSTER

Say = Callable[[str], None]


class Backend(Protocol):
    """Creates, repairs and removes clusters."""

    name: str
    """Name of the backend, in the notation of ``JACQUARD_CLUSTER``."""
    loopback: bool
    """Whether the API server can reach the loopback interface of this machine, as required for webhooks."""

    def ensure(self, region: Region, cluster: str, say: Say) -> None:
        """Create or repair the cluster; return when its API server is ready."""

    def remove(self, region: Region, cluster: str) -> None:
        """Remove the cluster and all its processes; do nothing if it does not exist."""


class Kwok:
    """Clusters of local processes."""

    name = "kwok"
    loopback = True

    def ensure(self, region: Region, cluster: str, say: Say) -> None:
        """Create or repair the cluster."""
        kwok.ensure(region, cluster, say)

    def remove(self, region: Region, cluster: str) -> None:
        """Remove the cluster."""
        kwok.remove(region, cluster)


class Kind:
    """Clusters in containers of the local Docker; a local kwok controller runs the stages."""

    name = "kind"
    loopback = False

    def ensure(self, region: Region, cluster: str, say: Say) -> None:
        """Create the cluster from a local node image."""
        name = kind_name(region, cluster)
        folder = region.cluster_folder(cluster)
        kubeconfig = folder / "kubeconfig.yaml"
        if name not in _run("kind", "get", "clusters").split():
            image = kind_tools.node_image()
            if problem := kind_tools.image_problem(image):
                raise RehearsalError(problem)
            say(f"{cluster}: creating kind cluster {name}")
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / kind_configuration.FILE
            file.write_text(kind_configuration.text(name, image))
            _run("kind", "create", "cluster", "--name", name, "--config", str(file), "--kubeconfig", str(kubeconfig))
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
    """An existing management cluster; hosted control planes are kwok clusters."""

    loopback = False

    def __init__(self, context: str) -> None:
        self.name = f"context:{context}"
        self.context = context

    def ensure(self, region: Region, cluster: str, say: Say) -> None:
        """Use the cluster of the context as management cluster."""
        if cluster != MANAGEMENT:
            kwok.ensure(region, cluster, say)
            return
        command = [str(binaries.path("kubectl")), "config", "view", "--minify", "--flatten", "--raw"]
        try:
            text = _run(*command, "--context", self.context, environment=_user_environment(region))
        except RehearsalError as error:
            msg = f"{CLUSTER}: no context '{self.context}' in the kubeconfig; `kubectl config get-contexts` lists them"
            raise RehearsalError(msg) from error
        replace_private(region.cluster_folder(cluster) / "kubeconfig.yaml", text)
        _adopt(region, cluster)

    def remove(self, region: Region, cluster: str) -> None:
        """Stop the local processes; the cluster is not removed."""
        kwok.remove(region, cluster)


def chosen() -> Backend:
    """Return the backend of ``JACQUARD_CLUSTER``.

    Raises:
        RehearsalError: A required program is not installed, or Docker's daemon does not answer.
        SettingError: The value is unknown.
    """
    backend = named(settings.cluster())
    if isinstance(backend, Kind) and (problems := kind_tools.problems()):
        raise RehearsalError("\n".join(problems))
    return backend


def named(name: str) -> Backend:
    """Return the backend with this name, from `settings.cluster` or from the record of a cluster."""
    if name == "kwok":
        return Kwok()
    return Kind() if name == "kind" else Context(name.removeprefix("context:"))


def kind_name(region: Region, cluster: str) -> str:
    """Return a cluster name that is unique on this machine, because all clones share the names of Docker."""
    digest = hashlib.sha256(str(region.folder).encode()).hexdigest()[:8]
    return f"{region.environment}-{cluster}-{digest}"


def _adopt(region: Region, cluster: str) -> None:
    """Publish the kubeconfig of a cluster of kind or a context, and run kwok's controller for it."""
    folder = region.cluster_folder(cluster)
    kubeconfig = folder / "kubeconfig.yaml"
    if cluster == MANAGEMENT:
        text = kubeconfigs.embedded(kubeconfig, f"{region.environment}-{cluster}")
        replace_private(paths.kubeconfig(region.environment, cluster), text)
    if any(process.part == kwok_configuration.CONTROLLER for process in processes.running(folder)):
        return
    program = folder / "bin" / kwok_configuration.CONTROLLER
    program.parent.mkdir(parents=True, exist_ok=True)
    program.unlink(missing_ok=True)
    program.symlink_to(binaries.path("kwok"))
    [port] = ports.free(1)
    arguments = [str(program), f"--kubeconfig={kubeconfig}", "--enable-crds=Stage", "--manage-all-nodes=false"]
    arguments += [
        f"--manage-nodes-with-annotation-selector={kwok_configuration.NODES}",
        f"--server-address={ports.LOOPBACK}:{port}",
    ]
    kwok.link_logs(region, cluster)
    log = kwok.controller_log(region, cluster)
    stage_coverage.set_aside(log)
    processes.launch(arguments, log=log, environment=os.environ, folder=folder)


def _user_environment(region: Region) -> dict[str, str]:
    """Return the environment variables without a KUBECONFIG that points to the region's kubeconfig."""
    regions = str(region.kubeconfig(MANAGEMENT))
    return {name: value for name, value in os.environ.items() if (name, value) != ("KUBECONFIG", regions)}


def _run(*command: str, environment: Mapping[str, str] = os.environ) -> str:
    try:
        answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600, env=dict(environment))
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip() or "no reason given").splitlines()[-1]
        msg = f"{' '.join(command)}: exit status {error.returncode}: {last}"
        raise RehearsalError(msg) from error
    return answer.stdout
