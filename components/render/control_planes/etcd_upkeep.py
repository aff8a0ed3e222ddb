"""How an etcd is made, in terms that no backend owns, and what keeps it small and saved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from components.render.control_planes.etcd_backup import Backup, render_backup
from components.render.control_planes.etcd_client import Etcd
from components.render.control_planes.etcd_defragmentation import Defragmentation, render_defragmentation
from components.render.manifest import Manifest
from components.specs.control_planes.data_stores import DedicatedDataStoreSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """When an etcd is defragmented, and when and where it is saved."""

    defragmentation: Defragmentation
    backup: Backup | None
    """How snapshots are saved; None where they are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeEtcd:
    """An etcd that the library makes."""

    spec: DedicatedDataStoreSpec
    upkeep: Upkeep
    hosts: int | None
    """Hosts of the management cluster for its members; None where nobody says how many there are."""


def render_upkeep(
    name: str, namespace: str, labels: dict[str, str], etcd: Etcd, upkeep: Upkeep, *, folder: str
) -> Iterator[Manifest]:
    """Yield the CronJobs of the etcd ``name``; snapshots go to ``folder`` of the bucket."""
    yield render_defragmentation(f"{name}-defrag", namespace, labels, etcd, upkeep.defragmentation)
    if upkeep.backup is not None:
        yield render_backup(f"{name}-backup", namespace, labels, etcd, upkeep.backup, folder=folder)
