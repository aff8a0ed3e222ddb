"""Bringing a cluster of a region up with all that lives in it, and taking it down."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jacquard.lab.rehearsal import backends, crds, kwok, manager, processes, stage_coverage, stages, webhooks
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.kinds import Kind, stand_ins
from jacquard.lab.rehearsal.locks import held
from jacquard.lab.rehearsal.region import MANAGEMENT, Region, checked
from jacquard.machine import settings
from jacquard.machine.files import replace_private
from jacquard.providers.kube import ApiServer

STAGE = Kind("kwok.x-k8s.io", "v1alpha1", "Stage", cluster_scoped=True)
OPERATORS = "operators"
_CODE = Path(__file__).parent


def up(region: Region, cluster: str, say: Callable[[str], None]) -> None:
    """Make a cluster of the region, or repair it; fast and harmless when all is well.

    Clusters may be brought up side by side by several processes. The management cluster brings the region's own
    processes with it.

    Raises:
        RehearsalError: Something does not come up.
        SettingError: An environment variable has a value that nothing can be done with.
    """
    checked("cluster", cluster)
    backend = backends.chosen()
    mark = region.backend_mark(cluster)
    content = stages.stages(cluster, settings.speed())
    with held(_lock(region), f"up {cluster}", shared=True), held(_lock(region, cluster), f"up {cluster}"):
        made_with = mark.read_text() if mark.exists() else backend.name
        if made_with != backend.name:
            remedy = f"set {settings.CLUSTER}={made_with}, or take it down first"
            msg = f"cluster {cluster} was made with {made_with}; {remedy}"
            raise RehearsalError(msg)
        replace_private(mark, backend.name)
        backend.ensure(region, cluster, say)
        with _filled(region, cluster, content):
            if cluster == MANAGEMENT:
                manager.ensure(region, say, webhooks=backend.loopback)
                _operators(region, say)


def down(region: Region, cluster: str | None) -> None:
    """End and remove one cluster, or the whole region; harmless when nothing is there.

    Raises:
        RehearsalError: A process does not end.
    """
    if cluster and cluster != MANAGEMENT:
        with held(_lock(region), f"down {cluster}", shared=True), held(_lock(region, cluster), f"down {cluster}"):
            _remove(region, checked("cluster", cluster))
            _lock(region, cluster).unlink()
        return
    with held(_lock(region), "down"):
        own = [process for process in processes.running(region.folder) if "/" not in process.part]
        processes.kill(own)
        for name in region.clusters() if cluster is None else [cluster]:
            _remove(region, name)
        if cluster is None:
            # Whatever a crash may have left running.
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
    """Apply kinds and stages, unless this very process plays these very ones; at the end see that they are played.

    At the end, since kwok takes seconds to begin.
    """
    mark = region.cluster_folder(cluster) / "content"
    wanted = f"{_digest(cluster, repr(content))} {_player(region, cluster)}"
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


def _player(region: Region, cluster: str) -> str:
    """Return which process plays the stages of the cluster."""
    part = f"{cluster}/{kwok.CONTROLLER}"
    return " ".join(f"{one.pid} {one.started}" for one in processes.running(region.folder) if one.part == part)


def _digest(cluster: str, content: str) -> str:
    digest = hashlib.sha256(content.encode())
    digest.update(repr([os.environ.get(crds.VARIABLE), stand_ins(cluster)]).encode())
    for path in (*crds.sources(cluster), webhooks.FILE):
        stat = path.stat()
        digest.update(f"{path} {stat.st_size} {stat.st_mtime_ns}".encode())
    return digest.hexdigest()


def _operators(region: Region, say: Callable[[str], None]) -> None:
    """Run the simulated joins, with the code as it is now."""
    mark = region.folder / "bin" / "operators.code"
    code = hashlib.sha256()
    for path in sorted(_CODE.rglob("*.py")):
        code.update(path.read_bytes())
    alive = [process for process in processes.running(region.folder) if process.part == OPERATORS]
    if len(alive) == 1 and mark.exists() and mark.read_text() == code.hexdigest():
        return
    if mark.exists() and not alive:
        say(f"{OPERATORS}: not running; starting again")
    processes.kill(alive)
    arguments = [sys.executable, "-m", processes.OPERATORS, str(region.folder)]
    processes.launch(arguments, log=region.logs / f"{OPERATORS}.log", environment=os.environ, folder=_CODE.parent)
    mark.write_text(code.hexdigest())


def _lock(region: Region, cluster: str | None = None) -> Path:
    """Return a lock's file, beside the region's folder so that it outlives that while it is held."""
    name = f".{region.environment}.{cluster}.lock" if cluster else f".{region.environment}.lock"
    return region.folder.parent / name
