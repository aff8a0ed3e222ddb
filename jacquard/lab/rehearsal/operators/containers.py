"""Arguments, variables and files of containers whose image is available as a local program, as set by a kubelet.

Ports and addresses are changed, because all clusters share one machine. Webhooks are disabled, because they cannot be
reached.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from jacquard.lab.rehearsal.operators.container_references import Reference, environment_references
from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.lab.toolchain import binaries
from jacquard.machine.errors import ToolchainError
from jacquard.providers.kube.objects import dig


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program of the toolchain that an image contains."""

    name: str
    image: str
    """Suffix of the image name."""
    command: str = ""
    """Command of the container, for images with several programs."""
    in_management: bool = False
    """Whether the program runs in the management cluster; otherwise, it runs in clusters of tenants."""
    options: tuple[str, ...]
    """Options that replace the container's options of the same name. Placeholders: two free ports, ``metrics`` and
    ``health``; ``name_server``, the port of the region's name server; ``namespace``; ``kubeconfig``; and ``files``, the
    root folder of the container's files."""
    namespace_variable: str = ""
    """Variable with the namespace, for programs that otherwise read the namespace from a file of their kubelet."""


PROGRAMS = (
    Program(
        name="metallb-controller",
        image="metallb/controller",
        options=(
            "--port={metrics}",
            "--health-probe-port={health}",
            "--webhook-mode=disabled",
            # In a pod, the program reads this value from a file of the kubelet.
            "--namespace={namespace}",
            "--kubeconfig={kubeconfig}",
        ),
    ),
    Program(
        name="external-dns",
        image="external-dns/external-dns",
        in_management=True,
        options=(
            "--metrics-address=127.0.0.1:{metrics}",
            "--rfc2136-host=127.0.0.1",
            "--rfc2136-port={name_server}",
            "--kubeconfig={kubeconfig}",
        ),
    ),
    Program(
        name="nfd-master",
        image="nfd/node-feature-discovery",
        command="nfd-master",
        # This port serves metrics and health.
        options=(
            "--port={health}",
            "--config={files}/etc/kubernetes/node-feature-discovery/nfd-master.conf",
            "--kubeconfig={kubeconfig}",
        ),
        namespace_variable="KUBERNETES_NAMESPACE",
    ),
)
_KUBECONFIG = "kubeconfig"
_FIELDS = {
    "metadata.name": ("metadata", "name"),
    "metadata.namespace": ("metadata", "namespace"),
    "spec.nodeName": ("spec", "nodeName"),
}
"""Supported field paths of a container's variables, as keys of the container's pod."""


class NotThere(Exception):  # noqa: N818 - a reason to wait, not an error
    """A container does not start, because a Secret or ConfigMap is missing or lacks a key."""


def program_of(container: Object) -> Program | None:
    """Return the local program of a container, for any registry and version of its image; None without a program."""
    repository = container["image"].partition("@")[0]
    if ":" in repository.rpartition("/")[2]:
        repository = repository.rpartition(":")[0]
    command = [*(container.get("command") or ()), ""][0]
    candidates = (program for program in PROGRAMS if f"/{repository}".endswith(f"/{program.image}"))
    program = next((candidate for candidate in candidates if candidate.command in {"", command}), None)
    try:
        return program if program and _built(program.name) else None
    except ToolchainError:
        return None


@cache
def _built(name: str) -> Path:
    """Return the path of a program, which does not move once it is built; a missing program is looked up again.

    Raises:
        ToolchainError: the program is not built.
    """
    return binaries.path(name)


def is_run(deployment: Object, name: str) -> bool:
    """Return whether pods of a Deployment run the program ``name``."""
    containers = deployment["spec"]["template"]["spec"]["containers"]
    return any(program.name == name for program in map(program_of, containers) if program)


def arguments(program: Program, container: Object, placeholders: dict[str, Any]) -> list[str]:
    """Return a container's arguments, with the options of ``program`` filled from ``placeholders``."""
    changed = [option.format(**placeholders) for option in program.options]
    names = {_name(option) for option in changed}
    return [*(argument for argument in container.get("args") or () if _name(argument) not in names), *changed]


def variables(view: View, pod: Object, container: Object, program: Program | None = None) -> dict[str, str]:
    """Return a container's variables, including values from its pod, from Secrets or from ConfigMaps.

    Raises:
        NotThere: A Secret, a ConfigMap or a key is missing.
    """
    namespace_variable = program.namespace_variable if program else ""
    result: dict[str, Any] = {namespace_variable: pod["metadata"]["namespace"]} if namespace_variable else {}
    for reference in environment_references([container]):
        result |= _present(reference, view, pod).variables(view, pod["metadata"]["namespace"])
    for variable in container.get("env") or ():
        path = dig(variable, "valueFrom", "fieldRef", "fieldPath")
        if path in _FIELDS or "value" in variable:
            result[variable["name"]] = dig(pod, *_FIELDS[path]) if path in _FIELDS else variable["value"]
    return {name: str(value) for name, value in result.items() if value is not None}


def files(view: View, pod: Object, container: Object) -> dict[PurePosixPath, str]:
    """Return the files of a container from ConfigMaps, by path in the container.

    Raises:
        NotThere: A ConfigMap or its key is missing.
    """
    contents: dict[PurePosixPath, str] = {}
    volumes = {volume["name"]: volume.get("configMap") for volume in dig(pod, "spec", "volumes") or ()}
    for mount in container.get("volumeMounts") or ():
        config_map = volumes.get(mount["name"])
        if config_map is None:
            continue
        items = config_map.get("items")
        references = [Reference("ConfigMap", {**config_map, "key": item["key"]}) for item in items or ()]
        paths = {item["key"]: item["path"] for item in items or ()}
        for reference in references or [Reference("ConfigMap", config_map)]:
            data = _present(reference, view, pod).data(view, pod["metadata"]["namespace"]) or {}
            contents |= {PurePosixPath(mount["mountPath"], paths.get(key, key)): text for key, text in data.items()}
    return contents


def given_kubeconfig(view: View, pod: Object, container: Object) -> str | None:
    """Return the kubeconfig from a Secret that a container's option refers to; None without this option.

    Raises:
        NotThere: The Secret or its key is missing.
    """
    option = next((argument for argument in container.get("args") or () if _name(argument) == _KUBECONFIG), None)
    if option is None:
        return None
    path = PurePosixPath(option.partition("=")[2])
    reference = Reference("Secret", {"name": mounted_secret(pod, container, path), "key": path.name})
    data = _present(reference, view, pod).data(view, pod["metadata"]["namespace"]) or {}
    return data[path.name]


def mounted_secret(pod: Object, container: Object, path: PurePosixPath) -> str | None:
    """Return the Secret with the file at ``path`` in a container; None if the file is from another source."""
    mounts = {mount["mountPath"]: mount["name"] for mount in container.get("volumeMounts") or ()}
    volumes = {volume["name"]: volume for volume in dig(pod, "spec", "volumes") or ()}
    secret: str | None = dig(volumes.get(mounts.get(str(path.parent), ""), {}), "secret", "secretName")
    return secret


def _present(reference: Reference, view: View, pod: Object) -> Reference:
    if problem := reference.problem(view, pod["metadata"]["namespace"]):
        msg = f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']} waits: {problem}"
        raise NotThere(msg)
    return reference


def _name(option: str) -> str:
    """Return the name of an option; programs in Go accept one or two dashes."""
    return option.partition("=")[0].lstrip("-")
