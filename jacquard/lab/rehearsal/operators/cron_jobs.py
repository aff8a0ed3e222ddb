"""CronJobs whose program is here: those of a plain Python, which bring their program in a ConfigMap.

What a kubelet would give the container is given: its files, its arguments, and a token with the rights of its account.
A run begins as soon as the last one has ended and a moment has passed, not at the times that the schedule says.
"""

from __future__ import annotations

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
_PAUSE_SECONDS = 1.0
_TOKEN_SECONDS = 3600


class CronJobs:
    """The CronJobs of a management cluster, as far as their program is here."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._not_before: dict[str, float] = {}

    def reconcile(self, view: View) -> None:
        """Begin a run of each CronJob of which none goes on."""
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
        given = mounted(view, job, folder)
        if given is None:
            return
        config = yaml.load(embedded(self._region.kubeconfig(MANAGEMENT), MANAGEMENT), yaml.CSafeLoader)
        cluster = config["clusters"][0]["cluster"]
        account = folder / "account"
        account.mkdir(parents=True, exist_ok=True)
        (account / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        who = (job["metadata"]["namespace"], pod_of(job)["serviceAccountName"])
        replace_private(account / "token", view.account_token(*who, seconds=_TOKEN_SECONDS))
        given |= {_SERVER: cluster["server"], _ACCOUNT: str(account)}
        [container, *_] = pod_of(job)["containers"]
        words = [placed(word, given) for word in (*container["command"][1:], *container.get("args", ()))]
        log = self._region.logs / MANAGEMENT / f"{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._running[name] = subprocess.Popen(
                [sys.executable, *words],
                cwd=placed(container.get("workingDir", str(folder)), given),
                env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
                stdout=output,
                stderr=output,
            )
        LOG.debug("a run of %s", name)


def pod_of(job: Object) -> dict[str, Any]:
    """Return the pod that a CronJob runs."""
    return dict(dig(job, "spec", "jobTemplate", "spec", "template", "spec"))


def runs_here(image: str) -> bool:
    """Tell whether an image is a plain Python, by the end of its name."""
    return image.partition("@")[0].rpartition(":")[0].endswith(_PYTHON) or image.partition("@")[0].endswith(_PYTHON)


def mounted(view: View, job: Object, folder: Path) -> dict[str, str] | None:
    """Write the ConfigMaps that a pod mounts, and return where each mount is here; None when one is not there."""
    pod, namespace, given = pod_of(job), job["metadata"]["namespace"], {}
    places = {one["name"]: one["mountPath"] for one in pod["containers"][0].get("volumeMounts") or ()}
    for volume in pod.get("volumes") or ():
        source = view.find("v1", "ConfigMap", dig(volume, "configMap", "name"), namespace)
        if source is None:
            return None
        for item in volume["configMap"]["items"]:
            path = folder / volume["name"] / item["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source["data"][item["key"]], encoding="utf-8")
        given[places[volume["name"]]] = str(folder / volume["name"])
    return given


def placed(word: str, given: dict[str, str]) -> str:
    """Return an argument with the place or server that it begins with as it is here."""
    begin = next((one for one in given if word == one or word.startswith(f"{one}/")), None)
    return word if begin is None else given[begin] + word.removeprefix(begin)
