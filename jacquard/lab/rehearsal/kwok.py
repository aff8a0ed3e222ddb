"""Clusters created by kwokctl: a real API server, controller manager, scheduler and etcd, with kwok as simulator."""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from jacquard.lab.rehearsal import ports, processes, stage_coverage
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.kubeconfigs import controlled, embedded, ready
from jacquard.lab.rehearsal.kwok_configuration import CONTROLLER, PARTS, configuration
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.lab.toolchain import binaries
from jacquard.machine.files import replace_private

_SERVER = {"etcd", "kube-apiserver"}
"""Processes that serve API requests."""
_ATTEMPTS = 5
_SLOW_ATTEMPTS = 15
"""The controller manager waits 20 s for the API server at each start. A busy machine needs minutes."""
_READY_SECONDS = 90.0
_POLL_SECONDS = 0.1
_SLOW = "failed to wait for apiserver being healthy"
_AGAIN = {
    "address already in use": "a port is in use by another process; trying other ports",
    _SLOW: "the API server did not become healthy in time; starting it again",
}
"""Message to print for each transient failure of a busy machine, by a part of the failure's text."""

Say = Callable[[str], None]


def ensure(region: Region, cluster: str, say: Say) -> None:
    """Create the cluster, or repair dead or incomplete parts; return when the API server is ready.

    Raises:
        RehearsalError: The cluster does not start; the message contains the last log lines of the failed part.
    """
    _end_kwokctl(region, cluster)
    if not _made(region, cluster).exists():
        _make(region, cluster, say)
        return
    dead = sorted(PARTS.keys() - _alive(region, cluster).keys())
    if dead:
        say(f"{cluster}: {', '.join(dead)} not running; starting them again")
    elif ready(_own_kubeconfig(region, cluster)):
        return
    else:
        say(f"{cluster}: the API server does not respond; starting all parts again")
        processes.kill(_alive(region, cluster).values())
    failure = ""
    for _ in range(_ATTEMPTS):
        if _outlast(region, cluster, say, ready):
            return
        failure = _failure(region, cluster)
        processes.kill(_alive(region, cluster).values())
        if not _transient(failure):
            break
    raise RehearsalError(failure)


def remove(region: Region, cluster: str) -> None:
    """End all processes of the cluster and remove its data."""
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
        # A partial cluster cannot be used, and its processes would be orphans.
        remove(region, cluster)
        raise


def _try_to_make(region: Region, cluster: str, say: Say) -> None:
    failure = ""
    for _ in range(_ATTEMPTS):
        # Remove the remains of an interrupted command.
        remove(region, cluster)
        config = region.workdir / f"{cluster}.yaml"
        numbers = ports.free(len(PARTS) + 1)
        replace_private(config, json.dumps(configuration(numbers), indent=1))
        created = _kwokctl(region, cluster, ["create", "cluster", "--config", str(config)])
        created = created and _wait_ready(region, cluster, controlled)
        if created or (_is_slow(region, cluster) and _outlast(region, cluster, say, controlled)):
            _publish(region, cluster)
            _made(region, cluster).touch()
            return
        failure = _failure(region, cluster)
        if not _transient(failure):
            break
        say(f"{cluster}: {_transient(failure)}")
    raise RehearsalError(failure)


def _outlast(region: Region, cluster: str, say: Say, is_ready: Callable[[Path], bool]) -> bool:
    """Start dead parts, again if they stopped because a running API server is slow; return whether all became ready.

    The API server keeps running, so that each attempt continues its start instead of repeating it.
    """
    for _ in range(_SLOW_ATTEMPTS):
        if _start(region, cluster, is_ready):
            return True
        if not _is_slow(region, cluster):
            return False
        say(f"{cluster}: the API server is not healthy yet; starting the other parts again")
    return False


def _is_slow(region: Region, cluster: str) -> bool:
    return _SLOW in _failure(region, cluster) and _alive(region, cluster).keys() >= _SERVER


def _transient(failure: str) -> str:
    """Return the message for a transient failure, or an empty string for any other failure."""
    return next((message for part, message in _AGAIN.items() if part in failure), "")


def _start(region: Region, cluster: str, is_ready: Callable[[Path], bool]) -> bool:
    """Start dead parts, on other ports if their ports are in use; return whether the cluster became ready."""
    alive = _alive(region, cluster)
    dead = PARTS.keys() - alive.keys()
    if dead & _SERVER and CONTROLLER in alive:
        # kwok drops a stage whose request was interrupted, and backs off exponentially after a rejected request
        # (shouldRetry and defaultBackoff of pkg/kwok/controllers/utils.go, v0.8.0). A new process continues from the
        # current status of each object.
        processes.kill([alive[CONTROLLER]])
        dead |= {CONTROLLER}
    if any(not ports.is_free(_ports(region, cluster)[part]) for part in dead):
        processes.kill(_alive(region, cluster).values())
        _renumber(region, cluster)
        dead = set(PARTS)
    for part in dead:
        # kwokctl trusts its pid files, but a pid may now belong to another program.
        (region.cluster_folder(cluster) / "pids" / f"{part}.pid").unlink(missing_ok=True)
    if CONTROLLER in dead:
        stage_coverage.set_aside(controller_log(region, cluster))
    if not _kwokctl(region, cluster, ["start", "cluster"]) or not _wait_ready(region, cluster, is_ready):
        return False
    _publish(region, cluster)
    return True


def _kwokctl(region: Region, cluster: str, arguments: list[str]) -> bool:
    """Run kwokctl; stop it when a part that it started has died, because kwokctl would wait for minutes."""
    log = region.logs / "kwokctl.log"
    log.parent.mkdir(parents=True, exist_ok=True)
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
                if _died(region, cluster):
                    return False
        finally:
            command.kill()
            command.wait()
            _end_kwokctl(region, cluster)
    link_logs(region, cluster)
    return command.returncode == 0 and not _died(region, cluster)


def _end_kwokctl(region: Region, cluster: str) -> None:
    """End the kwokctl process of a killed command, which would continue to start parts."""
    processes.kill(processes.running(_kwokctl_folder(region, cluster)))
    shutil.rmtree(_kwokctl_folder(region, cluster), ignore_errors=True)


def _kwokctl_folder(region: Region, cluster: str) -> Path:
    return region.workdir / "kwokctl" / cluster


def controller_log(region: Region, cluster: str) -> Path:
    """Return the log of the process that runs the stages of the cluster."""
    return region.cluster_folder(cluster) / "logs" / f"{CONTROLLER}.log"


def link_logs(region: Region, cluster: str) -> None:
    """Link the cluster's logs into the log folder of the region."""
    region.logs.mkdir(parents=True, exist_ok=True)
    (region.logs / cluster).unlink(missing_ok=True)
    (region.logs / cluster).symlink_to(region.cluster_folder(cluster) / "logs")


def _died(region: Region, cluster: str) -> bool:
    started = {path.stem for path in (region.cluster_folder(cluster) / "pids").glob("*.pid")}
    return not started <= _alive(region, cluster).keys()


def _alive(region: Region, cluster: str) -> dict[str, processes.Process]:
    folder = region.cluster_folder(cluster)
    return {process.part.rpartition("/")[2]: process for process in processes.running(folder)}


def _wait_ready(region: Region, cluster: str, is_ready: Callable[[Path], bool]) -> bool:
    end = time.monotonic() + _READY_SECONDS
    while not is_ready(_own_kubeconfig(region, cluster)):
        if time.monotonic() > end or PARTS.keys() - _alive(region, cluster).keys():
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _publish(region: Region, cluster: str) -> None:
    """Write the management cluster's kubeconfig to its public path."""
    if cluster == MANAGEMENT:
        source = _own_kubeconfig(region, cluster)
        replace_private(region.kubeconfig(cluster), embedded(source, f"{region.environment}-{cluster}"))


def _ports(region: Region, cluster: str) -> dict[str, int]:
    options = yaml.load(_config(region, cluster).read_text(), yaml.CSafeLoader)["options"]
    return {part: options[option] for part, option in PARTS.items()} | {"etcd-peer": options["etcdPeerPort"]}


def _renumber(region: Region, cluster: str) -> None:
    """Change the ports of all parts in all files that contain them; keep the data."""
    old = list(_ports(region, cluster).values())
    new = dict(zip(map(str, old), map(str, ports.free(len(old))), strict=True))
    pattern = re.compile(r"\b(" + "|".join(new) + r")\b")
    for path in (_config(region, cluster), _own_kubeconfig(region, cluster)):
        replace_private(path, pattern.sub(lambda match: new[match[0]], path.read_text()))


def _failure(region: Region, cluster: str) -> str:
    """Return the message for a cluster that did not start, with the last log lines of the failed part."""
    logs = region.cluster_folder(cluster) / "logs"
    dead = [part for part in PARTS if part not in _alive(region, cluster)] or ["kube-apiserver"]
    log = next((path for part in dead if (path := logs / f"{part}.log").exists()), region.logs / "kwokctl.log")
    lines = log.read_text(errors="replace").splitlines()[-8:] if log.exists() else []
    tail = "\n".join(f"  {line}" for line in lines)
    return f"cluster {cluster}: {', '.join(dead)} did not start; last lines of {log}:\n{tail}"


def _own_kubeconfig(region: Region, cluster: str) -> Path:
    return region.cluster_folder(cluster) / "kubeconfig.yaml"


def _config(region: Region, cluster: str) -> Path:
    return region.cluster_folder(cluster) / "kwok.yaml"


def _made(region: Region, cluster: str) -> Path:
    return region.cluster_folder(cluster) / "made"
