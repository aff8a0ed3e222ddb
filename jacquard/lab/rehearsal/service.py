"""Creation and removal of a region's clusters with their controllers."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from jacquard.lab.rehearsal import (
    backends,
    crds,
    kwok,
    manager,
    processes,
    python_parts,
    registry,
    stage_coverage,
    stages,
    webhooks,
)
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.kinds import Kind, stand_ins
from jacquard.lab.rehearsal.kwok_configuration import CONTROLLER
from jacquard.lab.rehearsal.monitoring import switch as monitoring
from jacquard.lab.rehearsal.region import MANAGEMENT, Region, checked
from jacquard.machine import settings
from jacquard.machine.files import replace_private
from jacquard.machine.lock import locked
from jacquard.providers.kube import ApiServer

STAGE = Kind("kwok.x-k8s.io", "v1alpha1", "Stage", cluster_scoped=True)


def up(region: Region, cluster: str, say: Callable[[str], None]) -> None:
    """Create or repair a cluster of the region; fast and without effect for a complete cluster.

    Several processes may create clusters in parallel. The management cluster includes the processes of the region.

    Raises:
        RehearsalError: A part does not start.
        SettingError: An environment variable has an invalid value.
    """
    checked("cluster", cluster)
    backend = backends.chosen()
    mark = region.backend_mark(cluster)
    content = stages.stages(cluster, settings.speed())
    with held(_lock(region), f"up {cluster}", shared=True), held(_lock(region, cluster), f"up {cluster}"):
        recorded = mark.read_text() if mark.exists() else backend.name
        if recorded != backend.name:
            remedy = f"set {settings.CLUSTER}={recorded}, or remove it first"
            msg = f"cluster {cluster} was created with {recorded}; {remedy}"
            raise RehearsalError(msg)
        replace_private(mark, backend.name)
        backend.ensure(region, cluster, say)
        with _filled(region, cluster, content):
            if cluster == MANAGEMENT:
                registry.ensure(region, say)
                manager.ensure(region, say, webhooks=backend.loopback)
                python_parts.ensure(region, processes.OPERATORS, say)
                monitoring.ensure(region, say)


def down(region: Region, cluster: str | None) -> None:
    """Remove one cluster, or the whole region; do nothing if the cluster or region does not exist.

    Raises:
        RehearsalError: A process does not end.
    """
    if cluster and cluster != MANAGEMENT:
        with held(_lock(region), f"down {cluster}", shared=True), held(_lock(region, cluster), f"down {cluster}"):
            _remove(region, checked("cluster", cluster))
            _lock(region, cluster).unlink()
        return
    with held(_lock(region), "down"):
        region_processes = [process for process in processes.running(region.folder) if "/" not in process.part]
        processes.kill(region_processes)
        for name in region.clusters() if cluster is None else [cluster]:
            _remove(region, name)
        if cluster is None:
            # A crash may have left other processes of the region running.
            processes.kill(processes.running(region.folder))
            shutil.rmtree(region.folder, ignore_errors=True)
            for lock in region.folder.parent.glob(f".{region.environment}.*.lock"):
                lock.unlink()
            _lock(region).unlink()


def _remove(region: Region, cluster: str) -> None:
    mark = region.backend_mark(cluster)
    if mark.exists():
        backends.named(mark.read_text()).remove(region, cluster)
        mark.unlink()


@contextmanager
def _filled(region: Region, cluster: str, content: list[dict[str, Any]]) -> Iterator[None]:
    """Apply CRDs and stages, unless the running kwok already has both; finally, ensure that kwok runs the stages.

    The check is done at the end because kwok needs seconds to start.
    """
    mark = region.cluster_folder(cluster) / "content"
    wanted = f"{_digest(cluster, repr(content))} {_kwok_process(region, cluster)}"
    if mark.exists() and mark.read_text() == wanted:
        yield
        return
    api = ApiServer.from_kubeconfig(region.kubeconfig(cluster), user_agent="rehearsal")
    crds.install(api, [*crds.definitions(cluster), crds.stand_in(STAGE)])
    webhooks.install(api, cluster)
    stages.install(api, content)
    yield
    stage_coverage.ensure(api, content, kwok.controller_log(region, cluster))
    mark.write_text(wanted)


def _kwok_process(region: Region, cluster: str) -> str:
    """Return the identity of the process that runs the stages of the cluster."""
    part = f"{cluster}/{CONTROLLER}"
    return " ".join(
        f"{process.pid} {process.started}" for process in processes.running(region.folder) if process.part == part
    )


def _digest(cluster: str, content: str) -> str:
    digest = hashlib.sha256(content.encode())
    digest.update(repr([os.environ.get(crds.VARIABLE), stand_ins(cluster)]).encode())
    for path in (*crds.sources(cluster), webhooks.FILE):
        stat = path.stat()
        digest.update(f"{path} {stat.st_size} {stat.st_mtime_ns}".encode())
    return digest.hexdigest()


def _lock(region: Region, cluster: str | None = None) -> Path:
    """Return the lock file, which is next to the region's folder, because it must remain when the folder is removed."""
    name = f".{region.environment}.{cluster}.lock" if cluster else f".{region.environment}.lock"
    return region.folder.parent / name


def held(
    path: Path, purpose: str, *, shared: bool = False, wait_seconds: float = 300.0
) -> AbstractContextManager[object]:
    """Hold the lock at ``path`` while the block runs.

    The operating system holds a lock as long as its process runs. The lock of a killed command is therefore released
    immediately, and stale locks do not exist.

    Args:
        path: File of the lock; it may be removed while the lock is held.
        purpose: Purpose of the lock, shown to other commands whose wait times out.
        shared: Share the lock with other ``shared`` holders; only exclusive holders are excluded.
        wait_seconds: Maximum time to wait for the lock.

    Raises:
        RehearsalError: Another command held the lock for longer than ``wait_seconds``.
    """

    def refusal(holder: str) -> RehearsalError:
        owner = holder or "another process"
        return RehearsalError(f"{path}: locked by {owner} for over {wait_seconds:g} s; wait for its end, or end it")

    owner = f"process {os.getpid()} ({purpose})"
    return locked(path, owner, shared=shared, refusal=refusal, wait_seconds=wait_seconds)
