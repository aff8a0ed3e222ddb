"""Who uses a storage class or an image of VMs now: claims, disks and machines, whoever made them.

Kubernetes and CDI let either be deleted while it is used: claims that name the class wait for ever from then on, and so
do disks that are to be cloned from the image.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from jacquard.observe.objects import Kind, Object, key
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ApiServer
from jacquard.providers.kube.objects import dig

CLASS, DISK, SOURCE = "storage.k8s.io/StorageClass", "cdi.kubevirt.io/DataVolume", "cdi.kubevirt.io/DataSource"
USED = frozenset({CLASS, DISK, SOURCE})
"""Kinds, with their group, of what others use."""
_CDI = "cdi.kubevirt.io/v1beta1"
USERS: tuple[Kind, ...] = (
    ("v1", "PersistentVolumeClaim"),
    (_CDI, "DataVolume"),
    (_CDI, "DataSource"),
    ("kubevirt.io/v1", "VirtualMachine"),
    ("pool.kubevirt.io/v1beta1", "VirtualMachinePool"),
)
"""Kinds of what uses it."""

Name: TypeAlias = tuple[str, str, str]
"""Kind with its group, namespace, name."""
Known: TypeAlias = Callable[[Name], bool]


class UnseenError(Exception):
    """Nobody could look; the text says why."""


def users(connect: Callable[[], ApiServer], used: Name, known: Known) -> tuple[str, ...]:
    """Return who uses ``used`` in a cluster, as ``Kind namespace/name``, in order; of what owns another only the owner.

    Args:
        connect: opens the cluster.
        used: the thing, of a kind of `USED`.
        known: tells which users are somebody else's affair.

    Raises:
        UnseenError: the cluster does not answer, or refuses.
    """
    return using(seen(connect, USERS), used, known)


def using(found: Iterable[Object], used: Name, known: Known) -> tuple[str, ...]:
    """Return which of the objects that were ``found`` use ``used``, as `users` does."""
    return told(found, lambda body: used in _refers(body), lambda name: name == used or known(name))


def seen(connect: Callable[[], ApiServer], kinds: Iterable[Kind]) -> list[Object]:
    """Return all objects of ``kinds`` in a cluster, of those that it serves.

    Raises:
        UnseenError: the cluster does not answer, or refuses.
    """
    try:
        api = connect()
        return [body for kind in kinds for body in _each(api, kind)]
    except (ProviderError, OSError) as error:
        raise UnseenError(str(error)) from None


def told(found: Iterable[Object], uses: Callable[[Object], bool], known: Known) -> tuple[str, ...]:
    """Return what owns those of ``found`` that ``uses`` holds for and is not ``known``, as text and in order."""
    objects = {_name(body): body for body in found}
    owners = {_owner(objects, name) for name, body in objects.items() if uses(body)}
    return tuple(
        f"{kind.rpartition('/')[2]} {'/'.join(filter(None, (namespace, name)))}"
        for kind, namespace, name in sorted(owners)
        if not known((kind, namespace, name))
    )


def _each(api: ApiServer, kind: Kind) -> Iterator[Object]:
    try:
        for body in api.each(*kind):
            yield {**body, "apiVersion": kind[0], "kind": kind[1]}
    except ApiError as error:
        if not error.not_found:  # the kind is not served here, so nothing of it uses anything
            raise


def _name(body: Object) -> Name:
    return _kind(body), *key(body)


def _kind(body: Mapping[str, str]) -> str:
    group = body["apiVersion"].rpartition("/")[0]
    return f"{group}/{body['kind']}" if group else body["kind"]


def _owner(objects: Mapping[Name, Object], name: Name) -> Name:
    """Return what made an object, in as many steps as it takes: the machine of a disk of a claim."""
    for owner in dig(objects.get(name), "metadata", "ownerReferences") or ():
        if owner.get("controller"):
            return _owner(objects, (_kind(owner), name[1], owner["name"]))
    return name


def _refers(body: Object) -> Iterator[Name]:
    """Yield what an object takes its class, its content or its disks from."""
    namespace, spec = key(body)[0], body.get("spec") or {}
    if body["kind"] == "VirtualMachinePool":
        spec = dig(spec, "virtualMachineTemplate", "spec") or {}
    if named := spec.get("storageClassName"):
        yield CLASS, "", named
    for disk in (spec, *(dig(one, "spec") or {} for one in spec.get("dataVolumeTemplates") or ())):
        yield from _content(disk, namespace)
    for volume in dig(spec, "template", "spec", "volumes") or ():
        claim = dig(volume, "persistentVolumeClaim", "claimName") or dig(volume, "dataVolume", "name")
        if claim := claim or dig(volume, "ephemeral", "persistentVolumeClaim", "claimName"):
            yield DISK, namespace, claim


def _content(disk: Object, namespace: str) -> Iterator[Name]:
    if named := dig(disk, "storage", "storageClassName") or dig(disk, "pvc", "storageClassName"):
        yield CLASS, "", named
    for kind, named in ((DISK, dig(disk, "source", "pvc")), (SOURCE, disk.get("sourceRef"))):
        if named:
            yield kind, named.get("namespace") or namespace, named["name"]
