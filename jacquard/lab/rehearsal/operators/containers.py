"""What a container runs whose image is here as a program: arguments, variables and files, as its kubelet makes them.

What is changed are ports and addresses, since all clusters share one machine, and webhooks, which stay off: nobody can
reach them.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.lab.toolchain import binaries
from jacquard.machine.errors import ToolchainError
from jacquard.providers.kube.objects import dig


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program of the toolchain that an image has inside."""

    name: str
    image: str
    """End of the image's name."""
    command: str = ""
    """What the container runs, where an image has several programs."""
    in_management: bool = False
    """Whether it runs in the management cluster, and else in those of tenants."""
    options: tuple[str, ...]
    """Options that are different here, in the place of the container's own of the same name. Filled in are two free
    ports, ``metrics`` and ``health``; ``name_server``, the port of the region's; ``namespace``; ``kubeconfig``; and
    ``files``, the folder below which the container's files lie."""
    namespace_variable: str = ""
    """Variable that says the namespace to a program which else reads it from a file that its kubelet puts there."""


PROGRAMS = (
    Program(
        name="metallb-controller",
        image="metallb/controller",
        options=(
            "--port={metrics}",
            "--health-probe-port={health}",
            "--webhook-mode=disabled",
            # A pod reads it from a file that its kubelet puts there.
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
        # One for metrics and health.
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
"""What a variable of a container may be filled with from its pod."""


class NotThere(Exception):  # noqa: N818 - no error, but a reason to wait
    """A Secret or ConfigMap that a container needs is not there, or lacks a key: it does not start, as on a node."""


def program_of(container: Object) -> Program | None:
    """Return the program that is here for a container, whatever its image's registry and version; None without one."""
    repository = container["image"].partition("@")[0]
    if ":" in repository.rpartition("/")[2]:
        repository = repository.rpartition(":")[0]
    command = [*(container.get("command") or ()), ""][0]
    found = next(
        (one for one in PROGRAMS if f"/{repository}".endswith(f"/{one.image}") and one.command in {"", command}), None
    )
    try:
        return found if found and binaries.path(found.name) else None
    except ToolchainError:
        return None


def is_run(deployment: Object, name: str) -> bool:
    """Tell whether pods of a Deployment run the program ``name``."""
    containers = deployment["spec"]["template"]["spec"]["containers"]
    return any(found.name == name for found in map(program_of, containers) if found)


def arguments(program: Program, container: Object, filled: dict[str, Any]) -> list[str]:
    """Return a container's arguments, and in the place of those that cannot be the same here what ``filled`` says."""
    changed = [option.format(**filled) for option in program.options]
    names = {_name(option) for option in changed}
    return [*(one for one in container.get("args") or () if _name(one) not in names), *changed]


def variables(view: View, pod: Object, container: Object, program: Program | None = None) -> dict[str, str]:
    """Return a container's variables, those filled in that come from its pod or from a Secret.

    Raises:
        NotThere: A Secret is missing, or its key.
    """
    told = program.namespace_variable if program else ""
    found: dict[str, Any] = {told: pod["metadata"]["namespace"]} if told else {}
    for source in container.get("envFrom") or ():
        found |= _entries(view, pod, dig(source, "secretRef", "name"))
    for variable in container.get("env") or ():
        path = dig(variable, "valueFrom", "fieldRef", "fieldPath")
        secret = dig(variable, "valueFrom", "secretKeyRef")
        if secret:
            found[variable["name"]] = _value(view, pod, secret["name"], secret["key"])
        else:
            found[variable["name"]] = dig(pod, *_FIELDS[path]) if path in _FIELDS else variable.get("value")
    return {name: str(value) for name, value in found.items() if value is not None}


def files(view: View, pod: Object, container: Object) -> dict[PurePosixPath, str]:
    """Return the files that a container has from ConfigMaps, by where it finds them.

    Raises:
        NotThere: A ConfigMap is missing, or its key.
    """
    found = {}
    volumes = {volume["name"]: volume.get("configMap") for volume in dig(pod, "spec", "volumes") or ()}
    for mount in container.get("volumeMounts") or ():
        named = volumes.get(mount["name"])
        if named is None:
            continue
        data = dig(view.find("v1", "ConfigMap", named["name"], pod["metadata"]["namespace"]), "data") or {}
        for item in named.get("items") or [{"key": key, "path": key} for key in data]:
            if item["key"] not in data:
                raise _waits(pod, item["key"], f"ConfigMap {named['name']}")
            found[PurePosixPath(mount["mountPath"], item["path"])] = data[item["key"]]
    return found


def given_kubeconfig(view: View, pod: Object, container: Object) -> str | None:
    """Return the kubeconfig that a container is told to go by and has from a Secret; None where it is told of none.

    Raises:
        NotThere: The Secret is missing, or its key.
    """
    told = next((one for one in container.get("args") or () if _name(one) == _KUBECONFIG), None)
    if told is None:
        return None
    path = PurePosixPath(told.partition("=")[2])
    return _value(view, pod, mounted_secret(pod, container, path), path.name)


def mounted_secret(pod: Object, container: Object, path: PurePosixPath) -> str | None:
    """Return the Secret of which a container has the file at ``path``; None where it is of none."""
    mounts = {mount["mountPath"]: mount["name"] for mount in container.get("volumeMounts") or ()}
    volumes = {volume["name"]: volume for volume in dig(pod, "spec", "volumes") or ()}
    secret: str | None = dig(volumes.get(mounts.get(str(path.parent), ""), {}), "secret", "secretName")
    return secret


def _entries(view: View, pod: Object, secret: str | None) -> dict[str, str]:
    """Return all entries of a Secret, each a variable."""
    found = view.find("v1", "Secret", secret, pod["metadata"]["namespace"])
    if found is None:
        msg = f'secret "{secret}" not found'
        raise NotThere(msg)
    return {key: base64.b64decode(value).decode() for key, value in (found.get("data") or {}).items()}


def _value(view: View, pod: Object, secret: str | None, key: str) -> str:
    found = dig(view.find("v1", "Secret", secret, pod["metadata"]["namespace"]), "data", key)
    if not found:
        raise _waits(pod, key, f"Secret {secret}")
    return base64.b64decode(found).decode()


def _waits(pod: Object, key: str, of: str) -> NotThere:
    return NotThere(f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']} waits for key {key} of {of}")


def _name(option: str) -> str:
    """Return what an option is called; programs in Go take one dash as two."""
    return option.partition("=")[0].lstrip("-")
