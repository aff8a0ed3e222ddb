"""Finds the users of a storage class, a VM image or a queue: claims, disks, machines and jobs of any creator.

Kubernetes and CDI allow the deletion of a class or image in use. Afterwards, claims of the class and disks cloned from
the image wait forever. Kueue keeps a deleted queue until its last admitted job has finished
(KUEUE:pkg/controller/core/clusterqueue_controller.go), so that the engine's deletion fails after ten minutes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from jacquard.observe.objects import Kind, Object, key
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ApiServer
from jacquard.providers.kube.objects import dig

CLASS, DISK, SOURCE = "storage.k8s.io/StorageClass", "cdi.kubevirt.io/DataVolume", "cdi.kubevirt.io/DataSource"
QUEUE = "kueue.x-k8s.io/ClusterQueue"
USED = frozenset({CLASS, DISK, SOURCE, QUEUE})
"""Kinds, with their group, whose users this module finds."""
_CDI = "cdi.kubevirt.io/v1beta1"
USERS: tuple[Kind, ...] = (
    ("v1", "PersistentVolumeClaim"),
    (_CDI, "DataVolume"),
    (_CDI, "DataSource"),
    ("kubevirt.io/v1", "VirtualMachine"),
    ("pool.kubevirt.io/v1beta1", "VirtualMachinePool"),
    ("kueue.x-k8s.io/v1beta1", "Workload"),
)
"""Kinds of users."""

Name: TypeAlias = tuple[str, str, str]
"""Kind with its group, namespace, name."""
Known: TypeAlias = Callable[[Name], bool]


class UnreadableError(Exception):
    """The users could not be read; the message contains the reason."""


def users(connect: Callable[[], ApiServer], used: Name, known: Known) -> tuple[str, ...]:
    """Return the users of ``used`` in a cluster, as ``Kind namespace/name``, sorted; of owned objects only the owner.

    Args:
        connect: opens a client of the cluster.
        used: object of a kind in `USED`.
        known: returns whether a user is ignored, because the plan handles it.

    Raises:
        UnreadableError: the cluster does not answer, or rejects the request.
    """
    return using(read(connect, USERS), used, known)


def using(found: Iterable[Object], used: Name, known: Known) -> tuple[str, ...]:
    """Return the users of ``used`` among the objects in ``found``, as `users` does."""
    return user_names(found, lambda body: used in _refers(body), lambda name: name == used or known(name))


def read(connect: Callable[[], ApiServer], kinds: Iterable[Kind], namespace: str | None = None) -> list[Object]:
    """Return all objects of ``kinds`` in a cluster or a namespace; kinds that the cluster does not serve are skipped.

    Raises:
        UnreadableError: the cluster does not answer, or rejects the request.
    """
    try:
        api = connect()
        return [body for kind in kinds for body in _each(api, kind, namespace)]
    except (ProviderError, OSError) as error:
        raise UnreadableError(str(error)) from None


def user_names(found: Iterable[Object], uses: Callable[[Object], bool], known: Known) -> tuple[str, ...]:
    """Return the owners of the objects in ``found`` that satisfy ``uses``, without ``known`` ones, sorted, as text."""
    objects = {_name(body): body for body in found}
    owners = {_owner(objects, name) for name, body in objects.items() if uses(body)}
    return tuple(
        f"{kind.rpartition('/')[2]} {'/'.join(filter(None, (namespace, name)))}"
        for kind, namespace, name in sorted(owners)
        if not known((kind, namespace, name))
    )


def _each(api: ApiServer, kind: Kind, namespace: str | None) -> Iterator[Object]:
    try:
        for body in api.each(*kind, namespace=namespace):
            yield {**body, "apiVersion": kind[0], "kind": kind[1]}
    except ApiError as error:
        if not error.not_found:  # the kind is not served here, so it has no users
            raise


def _name(body: Object) -> Name:
    return _kind(body), *key(body)


def _kind(body: Mapping[str, str]) -> str:
    group = body["apiVersion"].rpartition("/")[0]
    return f"{group}/{body['kind']}" if group else body["kind"]


def _owner(objects: Mapping[Name, Object], name: Name) -> Name:
    """Return the top owner of an object, such as the machine of a disk of a claim."""
    for owner in dig(objects.get(name), "metadata", "ownerReferences") or ():
        if owner.get("controller"):
            return _owner(objects, (_kind(owner), name[1], owner["name"]))
    return name


def _refers(body: Object) -> Iterator[Name]:
    """Yield the objects that an object uses as class, content or disks."""
    namespace, spec = key(body)[0], body.get("spec") or {}
    if (queue := dig(body, "status", "admission", "clusterQueue")) and not _is_finished(body):
        yield QUEUE, "", queue
    if body["kind"] == "VirtualMachinePool":
        spec = dig(spec, "virtualMachineTemplate", "spec") or {}
    if named := spec.get("storageClassName"):
        yield CLASS, "", named
    for disk in (spec, *(dig(template, "spec") or {} for template in spec.get("dataVolumeTemplates") or ())):
        yield from _content(disk, namespace)
    for volume in dig(spec, "template", "spec", "volumes") or spec.get("volumes") or ():
        claim = dig(volume, "persistentVolumeClaim", "claimName") or dig(volume, "dataVolume", "name")
        if claim := claim or dig(volume, "ephemeral", "persistentVolumeClaim", "claimName"):
            yield DISK, namespace, claim


def _is_finished(workload: Object) -> bool:
    conditions = dig(workload, "status", "conditions") or ()
    return any(item["type"] == "Finished" and item["status"] == "True" for item in conditions)


def _content(disk: Object, namespace: str) -> Iterator[Name]:
    if named := dig(disk, "storage", "storageClassName") or dig(disk, "pvc", "storageClassName"):
        yield CLASS, "", named
    for kind, named in ((DISK, dig(disk, "source", "pvc")), (SOURCE, disk.get("sourceRef"))):
        if named:
            yield kind, named.get("namespace") or namespace, named["name"]
