"""Golden volumes of VM images, DataSources for orders, and the permission to clone golden volumes."""

from collections.abc import Iterator, Mapping

from components.render.manifest import Json, Manifest
from components.render.objects import LABEL_LIMIT, fit, given, manifest
from components.render.platform_pods import RBAC, role_for
from components.specs.base import DnsLabel, Quantity
from components.specs.vms.guests import GuestSystem
from components.specs.vms.tenant_images import DiskInClusterSpec, HttpImageSpec
from components.specs.vms.vm_offering import VmImage, VmImageSpec

NAMESPACE = "virtual-machines"
"""Namespace of golden volumes and the platform's VMs: an ephemeral root disk requires both in the same namespace."""
CDI = "cdi.kubevirt.io/v1beta1"
FILE_FOR_ALL = ("ReadWriteMany", "ReadOnlyMany")
"""Access modes of a golden volume. Only the import writes it; VMs map it read-only."""
GOLDEN = "cdi.kubevirt.io/storage.bind.immediate.requested"
"""Annotation of golden volumes: CDI imports them immediately instead of waiting for a first consumer."""
_CLONES = "golden-images"
_EVERY_ACCOUNT = "system:serviceaccounts"


def root_volume(image: VmImage, root_disk: Quantity) -> str:
    """Return the name of the golden volume of ``image`` for root disks of size ``root_disk``.

    Each size of root disk has a separate golden volume, because an overlay is as large as its base.
    """
    return fit(f"{image.version}-{root_disk.lower()}".replace(".", "-"), LABEL_LIMIT)


def golden_images(
    cluster: str,
    images: tuple[VmImage, ...],
    roots: tuple[Quantity, ...],
    storage_class: DnsLabel,
    preferences: Mapping[GuestSystem, Manifest],
) -> Iterator[Manifest]:
    """Yield the golden volumes of ``images`` for each root disk size, their DataSources, and the clone permission.

    Args:
        cluster: cluster of the VMs.
        images: images that can be ordered there, at least one.
        roots: sizes of root disks, at least one. The DataSource of an image refers to the first size.
        storage_class: storage class of the golden volumes.
        preferences: preferences of guests, by operating system.
    """
    for image in images:
        for root in roots:
            yield _golden_volume(cluster, image, root, storage_class)
        yield _source(cluster, image, roots[0], preferences[image.os])
    names = [root_volume(image, root) for image in images for root in roots]
    rule = {
        "apiGroups": [CDI.partition("/")[0]],
        "resources": ["datavolumes/source"],
        # The role lists names, because the namespace also contains disks of the platform's machines.
        "resourceNames": names,
        "verbs": ["create"],
    }
    # Volumes are cloned with the ServiceAccount of the VM, so even VMs of administrators need this permission.
    subject = {"kind": "Group", "name": _EVERY_ACCOUNT, "apiGroup": RBAC}
    yield from role_for(_CLONES, [rule], subject=subject, namespace=NAMESPACE, cluster=cluster)


def _source(cluster: str, image: VmImage, root: Quantity, preference: Manifest) -> Manifest:
    return manifest(
        CDI,
        "DataSource",
        image.name,
        namespace=NAMESPACE,
        labels={
            "instancetype.kubevirt.io/default-preference": preference.name,
            "instancetype.kubevirt.io/default-preference-kind": preference.kind,
        },
        cluster=cluster,
        spec={"source": {"pvc": {"name": root_volume(image, root), "namespace": NAMESPACE}}},
    )


def _golden_volume(cluster: str, image: VmImage, root: Quantity, storage_class: DnsLabel) -> Manifest:
    return manifest(
        CDI,
        "DataVolume",
        root_volume(image, root),
        namespace=NAMESPACE,
        annotations={GOLDEN: "true"},
        # Machines that were not restarted map the volume of an earlier version. Its claim would terminate as long as
        # they run, and no pod on a terminating claim is scheduled, such as the target of their migration
        # (kubernetes/kubernetes:pkg/scheduler/framework/plugins/volumebinding/volume_binding.go).
        retain=True,
        cluster=cluster,
        spec={
            "source": _image_source(image),
            "storage": {
                "storageClassName": storage_class,
                "accessModes": list(FILE_FOR_ALL),
                "volumeMode": "Filesystem",
                "resources": {"requests": {"storage": root}},
            },
        },
    )


def _image_source(image: VmImage) -> Json:
    """Return the source from which CDI imports a golden volume, verified by checksum or digest if possible."""
    if isinstance(image, VmImageSpec):
        return _http(image)
    if image.http is not None:
        return _http(image.http)
    if image.registry is not None:
        registry = image.registry
        return {"registry": {"url": f"docker://{registry.image}", **given(secretRef=registry.secret)}}
    return {"pvc": _in_cluster(image.claim)} if image.claim else {"snapshot": _in_cluster(image.snapshot)}


def _http(source: VmImageSpec | HttpImageSpec) -> Json:
    login = source.secret if isinstance(source, HttpImageSpec) else None
    return {"http": {"url": source.url, "checksum": f"sha256:{source.sha256}", **given(secretRef=login)}}


def _in_cluster(disk: DiskInClusterSpec | None) -> Json:
    return disk.model_dump() if disk else {}
