"""Clusters made by kwokctl: a real API server, controller manager, scheduler and etcd, and kwok for the rest."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from jacquard.lab.rehearsal import ports, processes, stage_coverage
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.kubeconfigs import controlled, embedded, ready
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.lab.toolchain import binaries
from jacquard.machine.files import replace_private

CONTROLLER = "kwok-controller"
PARTS = {
    "etcd": "etcdPort",
    "kube-apiserver": "kubeApiserverPort",
    "kube-controller-manager": "kubeControllerManagerPort",
    "kube-scheduler": "kubeSchedulerPort",
    CONTROLLER: "kwokControllerPort",
}
"""Processes of a cluster, and the option with the port each listens on."""
_SERVER = {"etcd", "kube-apiserver"}
"""Parts without which no request is answered."""
NODES = "kwok.x-k8s.io/node=fake"
"""Annotation of the nodes that kwok keeps alive."""
_ATTEMPTS = 5
_READY_SECONDS = 90.0
_POLL_SECONDS = 0.1
_AGAIN = {
    "address already in use": "a port was taken meanwhile; choosing others",
    "failed to wait for apiserver being healthy": "the API server was slow to get healthy; starting again",
}
"""What goes wrong on a busy machine and may go well the next time, and what is said of it."""

Say = Callable[[str], None]


def ensure(region: Region, cluster: str, say: Say) -> None:
    """Make the cluster, or repair what is dead or half-made, until its API server is ready.

    Raises:
        RehearsalError: It does not come up; with the end of the log of the part that failed.
    """
    _end_kwokctl(region, cluster)
    if not _made(region, cluster).exists():
        _make(region, cluster, say)
        return
    dead = sorted(PARTS.keys() - _alive(region, cluster).keys())
    if dead:
        say(f"{cluster}: {', '.join(dead)} not running; starting again")
    elif ready(_own_kubeconfig(region, cluster)):
        return
    else:
        say(f"{cluster}: the API server does not answer; starting all parts again")
        processes.kill(_alive(region, cluster).values())
    why = ""
    for _ in range(_ATTEMPTS):
        if _start(region, cluster):
            return
        why = _failure(region, cluster)
        processes.kill(_alive(region, cluster).values())
        if not _passing(why):
            break
    raise RehearsalError(why)


def remove(region: Region, cluster: str) -> None:
    """End all processes of the cluster and remove everything it kept."""
    _end_kwokctl(region, cluster)
    processes.kill(_alive(region, cluster).values())
    shutil.rmtree(region.cluster_folder(cluster), ignore_errors=True)
    leftovers = (region.logs / cluster, region.workdir / f"{cluster}.yaml", region.workdir / f"{cluster}.kubeconfig")
    for path in (*leftovers, *([region.kubeconfig(cluster)] if cluster == MANAGEMENT else [])):
        path.unlink(missing_ok=True)


def _make(region: Region, cluster: str, say: Say) -> None:
    try:
        _try_to_make(region, cluster, say)
    except BaseException:
        # A part of a cluster is of no use, and its processes would be orphans.
        remove(region, cluster)
        raise


def _try_to_make(region: Region, cluster: str, say: Say) -> None:
    why = ""
    for _ in range(_ATTEMPTS):
        # What a killed command left behind is worth nothing yet.
        remove(region, cluster)
        config = region.workdir / f"{cluster}.yaml"
        chosen = ports.free(len(PARTS) + 1)
        replace_private(config, json.dumps(configuration(chosen), indent=1))
        begun = _kwokctl(region, cluster, ["create", "cluster", "--config", str(config)])
        if begun and _wait_ready(region, cluster, controlled):
            _publish(region, cluster)
            _made(region, cluster).touch()
            return
        why = _failure(region, cluster)
        if not _passing(why):
            break
        say(f"{cluster}: {_passing(why)}")
    raise RehearsalError(why)


def _passing(why: str) -> str:
    """Return what is to be said of a failure that may not come again; nothing for one that will."""
    return next((said for part, said in _AGAIN.items() if part in why), "")


def configuration(chosen: list[int]) -> dict[str, Any]:
    """Return kwokctl's configuration of a cluster that listens on the ``chosen`` ports.

    Light means: etcd does not wait for the disk (what is lost in a power cut can be made again), nothing elects a
    leader of one, and no client is throttled.
    """
    names = [*PARTS.values(), "etcdPeerPort"]
    alone = {"extraArgs": [{"key": "leader-elect", "value": "false"}]}
    return {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokctlConfiguration",
        "options": {
            "runtime": "binary",
            "bindAddress": ports.LOOPBACK,
            "enableCRDs": ["Stage"],
            "disableQPSLimits": True,
            **dict(zip(names, chosen, strict=True)),
            "etcdBinary": str(binaries.path("etcd")),
            "kubeApiserverBinary": str(binaries.path("kube-apiserver")),
            "kubeControllerManagerBinary": str(binaries.path("kube-controller-manager")),
            "kubeSchedulerBinary": str(binaries.path("kube-scheduler")),
            "kubectlBinary": str(binaries.path("kubectl")),
            "kwokControllerBinary": str(binaries.path("kwok")),
        },
        "componentsPatches": [
            {"name": "etcd", "extraArgs": [{"key": "unsafe-no-fsync", "value": "true"}]},
            {"name": "kube-controller-manager", **alone},
            {"name": "kube-scheduler", **alone},
            {
                "name": CONTROLLER,
                "extraArgs": [
                    {"key": "manage-all-nodes", "value": "false", "override": True},
                    {"key": "manage-nodes-with-annotation-selector", "value": NODES},
                ],
            },
        ],
    }


def _start(region: Region, cluster: str) -> bool:
    """Start what is dead, on other ports where another program took them; return whether the API server got ready."""
    alive = _alive(region, cluster)
    dead = PARTS.keys() - alive.keys()
    if dead & _SERVER and CONTROLLER in alive:
        # kwok drops a stage whose request broke off and waits ever longer after one that was refused (shouldRetry and
        # defaultBackoff of pkg/kwok/controllers/utils.go, v0.8.0). A new process plays every object from where it is.
        processes.kill([alive[CONTROLLER]])
        dead |= {CONTROLLER}
    if any(not ports.is_free(_ports(region, cluster)[part]) for part in dead):
        processes.kill(_alive(region, cluster).values())
        _renumber(region, cluster)
        dead = set(PARTS)
    for part in dead:
        # kwokctl believes its pid files, and the number may be another program's by now.
        (region.cluster_folder(cluster) / "pids" / f"{part}.pid").unlink(missing_ok=True)
    if CONTROLLER in dead:
        stage_coverage.set_aside(controller_log(region, cluster))
    if not _kwokctl(region, cluster, ["start", "cluster"]) or not _wait_ready(region, cluster):
        return False
    _publish(region, cluster)
    return True


def _kwokctl(region: Region, cluster: str, arguments: list[str]) -> bool:
    """Run kwokctl; give up as soon as a part that it started has died, since it would wait for minutes."""
    log = region.logs / "kwokctl.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    folder = region.cluster_folder(cluster)
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("KWOK_")},
        "KWOK_WORKDIR": str(region.workdir),
        "KUBECONFIG": str(region.workdir / f"{cluster}.kubeconfig"),
    }
    program = _kwokctl_folder(region, cluster) / "bin" / "kwokctl"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.symlink_to(binaries.path("kwokctl"))
    with log.open("ab") as output:
        command = subprocess.Popen(
            [str(program), *arguments, "--name", cluster],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
        )
        try:
            while command.poll() is None:
                time.sleep(_POLL_SECONDS)
                if _died(folder):
                    return False
        finally:
            command.kill()
            command.wait()
            _end_kwokctl(region, cluster)
    link_logs(region, cluster)
    return command.returncode == 0 and not _died(folder)


def _end_kwokctl(region: Region, cluster: str) -> None:
    """End the kwokctl of a command that was killed, which would go on starting parts."""
    processes.kill(processes.running(_kwokctl_folder(region, cluster)))
    shutil.rmtree(_kwokctl_folder(region, cluster), ignore_errors=True)


def _kwokctl_folder(region: Region, cluster: str) -> Path:
    return region.workdir / "kwokctl" / cluster


def controller_log(region: Region, cluster: str) -> Path:
    """Return the log of the process that plays the stages of the cluster."""
    return region.cluster_folder(cluster) / "logs" / f"{CONTROLLER}.log"


def link_logs(region: Region, cluster: str) -> None:
    """Make the cluster's logs a subfolder of the region's."""
    region.logs.mkdir(parents=True, exist_ok=True)
    (region.logs / cluster).unlink(missing_ok=True)
    (region.logs / cluster).symlink_to(region.cluster_folder(cluster) / "logs")


def _died(folder: Path) -> bool:
    started = {path.stem for path in (folder / "pids").glob("*.pid")}
    return not started <= {process.part.rpartition("/")[2] for process in processes.running(folder)}


def _alive(region: Region, cluster: str) -> dict[str, processes.Process]:
    folder = region.cluster_folder(cluster)
    return {process.part.rpartition("/")[2]: process for process in processes.running(folder)}


def _wait_ready(region: Region, cluster: str, is_ready: Callable[[Path], bool] = ready) -> bool:
    end = time.monotonic() + _READY_SECONDS
    while not is_ready(_own_kubeconfig(region, cluster)):
        if time.monotonic() > end or PARTS.keys() - _alive(region, cluster).keys():
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _publish(region: Region, cluster: str) -> None:
    """Write the management cluster's kubeconfig where everyone looks for it."""
    if cluster == MANAGEMENT:
        source = _own_kubeconfig(region, cluster)
        replace_private(region.kubeconfig(cluster), embedded(source, f"{region.environment}-{cluster}"))


def _ports(region: Region, cluster: str) -> dict[str, int]:
    options = yaml.load(_config(region, cluster).read_text(), yaml.CSafeLoader)["options"]
    return {part: options[option] for part, option in PARTS.items()} | {"etcd-peer": options["etcdPeerPort"]}


def _renumber(region: Region, cluster: str) -> None:
    """Give all parts other ports, everywhere these are written, and keep the data."""
    old = list(_ports(region, cluster).values())
    new = dict(zip(map(str, old), map(str, ports.free(len(old))), strict=True))
    pattern = re.compile(r"\b(" + "|".join(new) + r")\b")
    for path in (_config(region, cluster), _own_kubeconfig(region, cluster)):
        replace_private(path, pattern.sub(lambda match: new[match[0]], path.read_text()))


def _failure(region: Region, cluster: str) -> str:
    """Return the message for a cluster that did not come up, with the end of the log of the part that failed."""
    logs = region.cluster_folder(cluster) / "logs"
    dead = [part for part in PARTS if part not in _alive(region, cluster)] or ["kube-apiserver"]
    log = next((path for part in dead if (path := logs / f"{part}.log").exists()), region.logs / "kwokctl.log")
    lines = log.read_text(errors="replace").splitlines()[-8:] if log.exists() else []
    tail = "\n".join(f"  {line}" for line in lines)
    return f"cluster {cluster}: {', '.join(dead)} did not come up; the end of {log}:\n{tail}"


def _own_kubeconfig(region: Region, cluster: str) -> Path:
    return region.cluster_folder(cluster) / "kubeconfig.yaml"


def _config(region: Region, cluster: str) -> Path:
    return region.cluster_folder(cluster) / "kwok.yaml"


def _made(region: Region, cluster: str) -> Path:
    return region.cluster_folder(cluster) / "made"
