"""Reads the golden volumes of a cluster, and the objects that use each of them."""

from collections.abc import Callable, Iterator

from components.render.vms.vm_images import CDI, NAMESPACE
from components.reports.garbage import Retained, golden_volumes, is_golden, is_managed
from components.specs.environment import Environment
from jacquard.observe.objects import Object, key
from jacquard.observe.users import DISK, USERS, read, using
from jacquard.providers.kube import ApiServer
from jacquard.providers.kube.objects import dig

_VOLUMES = (CDI, "DataVolume")
_MOUNTING = (("kubevirt.io/v1", "VirtualMachineInstance"), ("v1", "Pod"))
"""Kinds of users in the namespace of the volumes. An instance that was not restarted uses another than its machine."""
_FILLED = "Succeeded"


def retained_volumes(environment: Environment, cluster: str, connect: Callable[[], ApiServer]) -> list[Retained]:
    """Return all golden volumes in ``cluster``, sorted, each with its users.

    Raises:
        UnreadableError: the cluster does not answer, or rejects the request.
    """
    volumes = [body for body in read(connect, (_VOLUMES,), NAMESPACE) if is_golden(body) and is_managed(body)]
    if not volumes:
        return []
    # Users are read last, so that no new user is missed.
    users = [*read(connect, USERS), *read(connect, _MOUNTING, NAMESPACE)]
    found = [body for body in users if not _is_filled(body)]
    clones = tuple(_clones(found))
    declared = golden_volumes(environment, cluster)
    return sorted(
        Retained.of(cluster, body, ("the data",) if key(body)[1] in declared else _users(found, body) or clones)
        for body in volumes
    )


def _users(found: list[Object], volume: Object) -> tuple[str, ...]:
    return using(found, (DISK, *key(volume)), lambda _: False)


def _is_filled(body: Object) -> bool:
    """Return whether a disk is filled, so that it no longer reads the volume that it was cloned from."""
    return (body["apiVersion"], body["kind"]) == _VOLUMES and dig(body, "status", "phase") == _FILLED


def _clones(found: list[Object]) -> Iterator[str]:
    """Yield the disks that are being cloned from a DataSource, which may have referred to another volume before."""
    for body in found:
        if (body["apiVersion"], body["kind"]) == _VOLUMES and dig(body, "spec", "sourceRef"):
            yield f"DataVolume {'/'.join(key(body))}"
