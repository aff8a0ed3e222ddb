"""CronJobs that run locally: CronJobs with a plain Python image and a program in a ConfigMap.

As with a kubelet, the container gets its files, those of mounted Secrets, its arguments, and a token of its
ServiceAccount. A run starts shortly
after the end of the previous run, independent of the schedule.
"""

import base64
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from jacquard.lab.rehearsal.kubeconfigs import embedded
from jacquard.lab.rehearsal.operators.view import LOG, Object, View, deleting
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.machine.files import replace_private
from jacquard.providers.kube.objects import dig

_PYTHON = "/python"
_SERVER = "https://kubernetes.default.svc"
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_PAUSE_SECONDS = 3.0
"""Pause between two runs of a CronJob. Each run starts an interpreter, which takes 0.1 s of processor time."""
_TOKEN_SECONDS = 3600


class CronJobs:
    """The CronJobs of a management cluster that can run locally."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._not_before: dict[str, float] = {}

    def reconcile(self, view: View) -> None:
        """Start a run of each CronJob that has no active run."""
        for job in view.all("batch/v1", "CronJob"):
            name = f"{job['metadata']['namespace']}-{job['metadata']['name']}"
            [container, *_] = pod_of(job)["containers"]
            if deleting(job) or job["spec"].get("suspend") or not runs_here(container["image"]):
                continue
            if (process := self._running.get(name)) is not None:
                if process.poll() is None:
                    continue
                del self._running[name]
                self._not_before[name] = time.monotonic() + _PAUSE_SECONDS
            if self._not_before.get(name, 0.0) <= time.monotonic():
                self._start(view, job, name)

    def _start(self, view: View, job: Object, name: str) -> None:
        folder = self._region.cluster_folder(MANAGEMENT) / "jobs" / name
        mounts = mounted(view, job, folder)
        if mounts is None:
            return
        config = yaml.load(embedded(self._region.kubeconfig(MANAGEMENT), MANAGEMENT), yaml.CSafeLoader)
        cluster = config["clusters"][0]["cluster"]
        account = folder / "account"
        account.mkdir(parents=True, exist_ok=True)
        (account / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        identity = (job["metadata"]["namespace"], pod_of(job)["serviceAccountName"])
        replace_private(account / "token", view.account_token(*identity, seconds=_TOKEN_SECONDS))
        mounts |= {_SERVER: cluster["server"], _ACCOUNT: str(account)}
        [container, *_] = pod_of(job)["containers"]
        arguments = [placed(argument, mounts) for argument in (*container["command"][1:], *container.get("args", ()))]
        log = self._region.logs / MANAGEMENT / f"{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._running[name] = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=placed(container.get("workingDir", str(folder)), mounts),
                env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
                stdout=output,
                stderr=output,
            )
        LOG.debug("a run of %s", name)


def pod_of(job: Object) -> dict[str, Any]:
    """Return the pod spec of a CronJob."""
    return dict(dig(job, "spec", "jobTemplate", "spec", "template", "spec"))


def runs_here(image: str) -> bool:
    """Return whether an image is a plain Python image, by the suffix of its name."""
    return image.partition("@")[0].rpartition(":")[0].endswith(_PYTHON) or image.partition("@")[0].endswith(_PYTHON)


def mounted(view: View, job: Object, folder: Path) -> dict[str, str] | None:
    """Write the mounted files of a pod, and return local paths by mount path; None if an object is missing.

    An empty directory is not mounted: a program has the temporary folder of this machine.
    """
    pod, namespace, folders = pod_of(job), job["metadata"]["namespace"], {}
    places = {mount["name"]: mount["mountPath"] for mount in pod["containers"][0].get("volumeMounts") or ()}
    for volume in pod.get("volumes") or ():
        if "emptyDir" in volume:
            continue
        files = _secret(view, volume, namespace) if "secret" in volume else _config_map(view, volume, namespace)
        if files is None:
            return None
        for name, text in files.items():
            path = folder / volume["name"] / name
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_private(path, text)
        folders[places[volume["name"]]] = str(folder / volume["name"])
    return folders


def _config_map(view: View, volume: Object, namespace: str) -> dict[str, str] | None:
    source = view.find("v1", "ConfigMap", volume["configMap"]["name"], namespace)
    return source and {item["path"]: source["data"][item["key"]] for item in volume["configMap"]["items"]}


def _secret(view: View, volume: Object, namespace: str) -> dict[str, str] | None:
    source = view.find("v1", "Secret", volume["secret"]["secretName"], namespace)
    return source and {key: base64.b64decode(value).decode() for key, value in source["data"].items()}


def placed(argument: str, replacements: dict[str, str]) -> str:
    """Return an argument with its path or server prefix replaced by the local path or server."""
    prefix = next((path for path in replacements if argument == path or argument.startswith(f"{path}/")), None)
    return argument if prefix is None else replacements[prefix] + argument.removeprefix(prefix)
