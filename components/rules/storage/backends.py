"""Rules about the classes of one backend: directories of NFS, volume groups of TopoLVM, and logins of VAST."""

from collections.abc import Iterator

from components.lookups.pools import place, problem
from components.rules.rule import Rules
from components.rules.storage.storage import offered
from components.specs.base import bytes_of
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType
from components.specs.reading.loader import INSTANCE_TYPES, REGION, WAIVERS
from components.specs.reading.problems import Problem
from components.specs.storage.nfs import VOLUME, NfsClassSpec
from components.specs.storage.storage_class import ReclaimPolicy
from components.specs.storage.topolvm import TopolvmClassSpec
from components.specs.storage.vast import VastClassSpec

AREA = "storage"
"""Prefix of the names of these rules in waivers and reports."""


def unique_directories(environment: Environment) -> Iterator[Problem]:
    """Report NFS classes that delete volumes and reuse the directory of a deleted volume.

    A claim that is deleted and recreated under its name gets the directory of the former volume. If the driver deletes
    the former volume afterwards, it deletes this directory with the new content (NFSCSI:pkg/nfs/controllerserver.go).
    """
    for index, entry in enumerate(environment.region.storage):
        if not isinstance(entry, NfsClassSpec) or entry.reclaim is not ReclaimPolicy.DELETE:
            continue
        if VOLUME not in entry.sub_directory:
            text = (
                f"'{entry.sub_directory}' is the same directory for a claim that is recreated under its name, and the"
                f" deletion of the former volume (reclaim: Delete) would delete the new content; write"
                f" {entry.sub_directory}-{VOLUME}, or add a waiver for {entry.name} to {WAIVERS}"
            )
            yield problem(environment, REGION, ("storage", index, "sub_directory"), text, entry.name)


def spare_room(environment: Environment) -> Iterator[Problem]:
    """Report spare capacity that uses a node's whole disks, or differs within one volume group."""
    first: dict[str, tuple[int, TopolvmClassSpec]] = {}
    for index, entry in enumerate(environment.region.storage):
        if not isinstance(entry, TopolvmClassSpec):
            continue
        at, other = first.setdefault(entry.device_class, (index, entry))
        spare, kept = entry.reserved_gib, other.reserved_gib
        if spare != kept:
            value = f"is {spare}Gi" if entry.spare else f"is missing and defaults to {spare}Gi"
            text = (
                f"{value}, but {other.name} keeps {kept}Gi of the same volume group '{entry.device_class}'"
                f" ({place(environment, REGION, ('storage', at, 'spare'))}); write {kept}Gi"
            )
            yield problem(environment, REGION, ("storage", index, "spare"), text)
        for kind, size in _volume_groups(environment, entry):
            if spare >= size:
                text = (
                    f"is {spare}Gi, but the {kind.nvme_disks} disks of {kind.name} have {size}Gi ({INSTANCE_TYPES}),"
                    f" which leaves nothing for volumes; write at most {size - 1}Gi"
                )
                yield problem(environment, REGION, ("storage", index, "spare"), text)
                break


def _volume_groups(environment: Environment, entry: TopolvmClassSpec) -> Iterator[tuple[InstanceType, int]]:
    """Yield the instance types of nodes with volumes of ``entry`` and their disk size in GiB, smallest first."""
    kinds, names = environment.instance_types.by_name, dict[str, int]()
    for placed, _, one in offered(environment):
        for pool in placed.cluster.pools if one is entry else ():
            kind = kinds.get(pool.instance_type)
            if kind and kind.nvme_disks and kind.nvme_disk_size:
                names[kind.name] = kind.nvme_disks * (bytes_of(kind.nvme_disk_size) >> 30)
    for name, size in sorted(names.items(), key=lambda item: item[1]):
        yield kinds[name], size


def shared_secrets(environment: Environment) -> Iterator[Problem]:
    """Report classes with different endpoints that share a secret: it contains one endpoint."""
    first: dict[str, tuple[int, str]] = {}
    for index, entry in enumerate(environment.region.storage):
        if not isinstance(entry, VastClassSpec):
            continue
        other, endpoint = first.setdefault(entry.secret, (index, entry.endpoint))
        if endpoint != entry.endpoint:
            there = place(environment, REGION, ("storage", other, "endpoint"))
            text = (
                f"'{entry.secret}' has the endpoint of {environment.region.storage[other].name} ({endpoint}, {there}),"
                f" but this class is at {entry.endpoint}; use a separate secret"
            )
            yield problem(environment, REGION, ("storage", index, "secret"), text)


RULES = Rules(data=(unique_directories, spare_room, shared_secrets), waivable=(unique_directories,))
