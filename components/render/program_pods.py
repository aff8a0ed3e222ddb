"""Pods that run a program of the library: its modules are in a ConfigMap, and the image is plain Python."""

from collections.abc import Iterable, Mapping
from importlib import resources
from types import MappingProxyType
from typing import Any

from components.render.manifest import MANAGEMENT, Manifest
from components.render.objects import SERVICES_PRIORITY, manifest
from components.render.platform_pods import cron_job, pod

TOOL = "python"
"""Name of the image in the tools of the version vector. The image must contain Python 3.11 or newer."""
FOLDER = "/program"
"""Folder of the ConfigMap in the container."""
SECRETS = "/secrets"
"""Folder of further Secrets in the container."""
_KUBECONFIG = "/kubeconfig"
_PACKAGE = "components/programs"
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_SERVER = "https://kubernetes.default.svc"
_IN_MANAGEMENT: Mapping[str, Any] = MappingProxyType({"priorityClassName": SERVICES_PRIORITY})


def program_files(modules: Iterable[str]) -> dict[str, str]:
    """Return the source of each of ``modules``, files of the package of programs, as data of a ConfigMap."""
    package = resources.files(_PACKAGE.replace("/", "."))
    return {name: package.joinpath(name).read_text(encoding="utf-8") for name in modules}


def program(
    name: str,
    image: str,
    modules: tuple[str, ...],
    *,
    settings: Mapping[str, str],
    every_minutes: int,
    run_seconds: int,
    namespace: str,
    labels: Mapping[str, str],
    kubeconfig: str | None = None,
    secrets: tuple[Mapping[str, Any], ...] = (),
    cluster: str = MANAGEMENT,
    pod_fields: Mapping[str, Any] = _IN_MANAGEMENT,
) -> tuple[Manifest, Manifest]:
    """Return the ConfigMap with ``modules``, and the CronJob that runs the first of them as ServiceAccount ``name``.

    The arguments of the program are the API server, the folder of its credentials, the paths of ``settings``, and the
    path of the kubeconfig.

    Args:
        name: name of both objects and of the ServiceAccount.
        image: container image of Python.
        modules: modules of the program.
        settings: content of further files, by name.
        every_minutes: minutes between two runs. A run that cannot start in this time is skipped.
        run_seconds: seconds after which a run ends.
        namespace: namespace of both objects.
        labels: labels of both objects.
        kubeconfig: Secret with the kubeconfig of another cluster, as Cluster API writes it.
        secrets: Secrets whose keys are files in `SECRETS`, as sources of a projected volume.
        cluster: cluster that runs the program.
        pod_fields: priority and placement of the pod.
    """
    place: dict[str, Any] = {"namespace": namespace, "labels": labels, "cluster": cluster}
    job = _job(
        name,
        image,
        modules,
        run_seconds=run_seconds,
        settings=tuple(settings),
        kubeconfig=kubeconfig,
        secrets=secrets,
        pod_fields=pod_fields,
    )
    return (
        manifest("v1", "ConfigMap", name, **place, data={**program_files(modules), **settings}),
        cron_job(
            name,
            job,
            **place,
            schedule=f"*/{every_minutes} * * * *",
            time_zone="Etc/UTC",
            late_seconds=60 * every_minutes,
        ),
    )


def _job(
    name: str,
    image: str,
    modules: tuple[str, ...],
    *,
    run_seconds: int,
    settings: tuple[str, ...],
    kubeconfig: str | None,
    secrets: tuple[Mapping[str, Any], ...],
    pod_fields: Mapping[str, Any],
) -> dict[str, Any]:
    items = [{"key": module, "path": f"{_PACKAGE}/{module}"} for module in modules]
    items += [{"key": file, "path": file} for file in settings]
    container: dict[str, Any] = {
        "name": TOOL,
        "image": image,
        "workingDir": FOLDER,
        "command": ["python3", "-m", f"{_PACKAGE.replace('/', '.')}.{modules[0].removesuffix('.py')}"],
        "args": [_SERVER, _ACCOUNT, *(f"{FOLDER}/{file}" for file in settings)],
        "env": [{"name": "PYTHONDONTWRITEBYTECODE", "value": "1"}],
        "volumeMounts": [{"name": "program", "mountPath": FOLDER, "readOnly": True}],
    }
    volumes: list[dict[str, Any]] = [{"name": "program", "configMap": {"name": name, "items": items}}]
    if kubeconfig:
        container["args"] += [f"{_KUBECONFIG}/value"]
        # The key pair of the kubeconfig is written to a file for a moment, in memory.
        container["volumeMounts"] += [
            {"name": "kubeconfig", "mountPath": _KUBECONFIG, "readOnly": True},
            {"name": "temporary", "mountPath": "/tmp"},  # noqa: S108 - a mount
        ]
        volumes += [
            {"name": "kubeconfig", "secret": {"secretName": kubeconfig}},
            {"name": "temporary", "emptyDir": {"medium": "Memory"}},
        ]
    if secrets:
        container["volumeMounts"] += [{"name": "secrets", "mountPath": SECRETS, "readOnly": True}]
        volumes += [{"name": "secrets", "projected": {"sources": [{"secret": dict(item)} for item in secrets]}}]
    spec = pod(name, [container], **pod_fields, volumes=volumes)
    return {"backoffLimit": 0, "activeDeadlineSeconds": run_seconds, "template": {"spec": spec}}
