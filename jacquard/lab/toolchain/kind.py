"""Node images of kind, and whether kind and Docker of this machine can create clusters."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from jacquard.lab.toolchain import tools, versions
from jacquard.machine.settings import CLUSTER

KIND, DOCKER = "kind", "docker"
KIND_IMAGE = "JACQUARD_KIND_IMAGE"
_TIMEOUT_SECONDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeImage:
    """Node image that a release of kind was tested with."""

    kubernetes: str
    kind: str
    """Release of kind whose default is the image (sigs.k8s.io/kind: pkg/apis/config/defaults/image.go)."""
    digest: str

    @property
    def name(self) -> str:
        """Return the reference of the image with its digest."""
        return f"kindest/node:{self.kubernetes}@{self.digest}"


NODE_IMAGES = (
    NodeImage(
        kubernetes="v1.37.0",
        kind="v0.33.0",
        digest="sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5",
    ),
    NodeImage(
        kubernetes="v1.36.1",
        kind="v0.32.0",
        digest="sha256:3489c7674813ba5d8b1a9977baea8a6e553784dab7b84759d1014dbd78f7ebd5",
    ),
    NodeImage(
        kubernetes="v1.35.0",
        kind="v0.31.0",
        digest="sha256:452d707d4862f52530247495d180205e029056831160e22870e37e3f6c1ac31f",
    ),
    NodeImage(
        kubernetes="v1.34.0",
        kind="v0.30.0",
        digest="sha256:7416a61b42b1662ca6ca89f02028ac133a309a2a30ba309614e8ec94d976dc5a",
    ),
)
"""Known node images, the newest first."""
DEFAULT = NODE_IMAGES[1]
"""Image with the minor version of Kubernetes that local clusters without kind run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """kind, Docker or the node image: what is used, and the problem, empty if there is none."""

    name: str
    used: str = ""
    where: str = ""
    problem: str = ""


def node_image() -> str:
    """Return the node image of new clusters: ``JACQUARD_KIND_IMAGE``, an image or a Kubernetes version of the table."""
    chosen = os.environ.get(KIND_IMAGE) or DEFAULT.name
    return next((image.name for image in NODE_IMAGES if image.kubernetes == chosen), chosen)


def parts() -> Iterator[Part]:
    """Yield kind, Docker and the node image, without changing anything."""
    yield _kind()
    docker = _docker()
    yield docker
    image = node_image()
    if docker.problem:
        yield Part(name="node image", used=image, problem="docker: not usable, so the image cannot be looked up")
    else:
        yield Part(name="node image", used=image, where="Docker", problem=image_problem(image))


def problems() -> list[str]:
    """Return the reasons why kind cannot create clusters, without looking for the node image."""
    return [part.problem for part in (_kind(), _docker()) if part.problem]


def image_problem(image: str) -> str:
    """Return the problem of a node image that Docker does not have; empty if it has the image."""
    if _answer(DOCKER, "image", "inspect", "--format", "{{.Id}}", image)[0] is not None:
        return ""
    remedy = f"run 'docker pull {image}', set {KIND_IMAGE} to another image, or unset {CLUSTER}"
    return f"docker: image {image} does not exist; {remedy}"


def _kind() -> Part:
    where = shutil.which(KIND)
    if where is None:
        problem = f"kind: is not on PATH; run 'go install sigs.k8s.io/kind@{_required()}', or unset {CLUSTER}"
        return Part(name=KIND, problem=problem)
    version = tools.ask_version(where, "version")
    required, used = versions.parse(_required()), versions.dotted(version) if version else "of unknown version"
    is_old = version is not None and required is not None and version < required
    problem = (
        f"kind: {used} is too old for node image {node_image()}; run 'go install sigs.k8s.io/kind@{_required()}'"
        if is_old
        else ""
    )
    return Part(name=KIND, used=used, where=where, problem=problem)


def _required() -> str:
    """Return the release of kind that was tested with the node image; the oldest known one for an unknown image."""
    image = node_image()
    return next((row.kind for row in NODE_IMAGES if row.name == image), NODE_IMAGES[-1].kind)


def _docker() -> Part:
    where = shutil.which(DOCKER)
    if where is None:
        return Part(name=DOCKER, problem=f"docker: is not on PATH; install Docker Engine, or unset {CLUSTER}")
    version, reason = _answer(DOCKER, "version", "--format", "{{.Server.Version}}")
    if version is None:
        problem = f"docker: the daemon does not answer ({reason}); start it, or unset {CLUSTER}"
        return Part(name=DOCKER, where=where, problem=problem)
    return Part(name=DOCKER, used=version, where=where)


def _answer(*command: str) -> tuple[str | None, str]:
    """Return the output of a command, or None and the reason of its failure."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    if done.returncode:
        return None, (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    return done.stdout.strip(), ""
