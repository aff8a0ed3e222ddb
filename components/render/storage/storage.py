"""Storage of a tenant cluster: drivers, storage classes and snapshot classes.

Most fields of a StorageClass are immutable in Kubernetes, except labels and options: a changed class is replaced, and
volumes keep the parameters they were created with.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import given, manifest, namespace
from components.render.region.operators import Operator, sources, tenant_release
from components.render.storage import nfs, topolvm, vast
from components.render.storage.driver_placement import ANYWHERE, DriverPlacement
from components.specs.region.versions import Chart
from components.specs.storage.storage import StorageClassSpec
from components.specs.storage.storage_class import ClassSpec
from components.specs.struct import Struct, field, replace

SNAPSHOTS = Operator(chart="snapshot-controller", namespace="snapshot-controller")
"""The only chart that installs the snapshot CRDs of a cluster."""
DEFAULT_OF_VMS = "storageclass.kubevirt.io/is-default-virt-class"
"""Annotation of the default class for VM disks, which takes precedence over the default class of all claims."""
_Class = TypeVar("_Class", bound=ClassSpec)


class StorageBackend(Struct, Generic[_Class]):
    """Driver of one backend, and the parameters of its storage classes."""

    chart: str
    """Chart of the driver, which runs an agent on each node."""
    namespace: str
    provisioner: str
    """Name of the driver in classes and volumes."""
    values: Callable[[Sequence[_Class], DriverPlacement], Mapping[str, Any]] = lambda _classes, _placement: {}
    """Returns the values of the chart, by the classes of a cluster and the placement of the driver's pods."""
    without: tuple[str, ...] = ()
    """Kinds, as ``<API group>/<Kind>``, whose objects are removed from the chart."""
    merged: tuple[Mapping[str, Any], ...] = ()
    """Partial objects that are merged into the chart's objects (`Operator.merged`)."""
    node_finalizer: str | None = None
    """Finalizer that agents set on their Nodes, and that only the driver's controller removes; None without one."""
    parameters: Callable[[str, _Class], dict[str, str]]
    """Returns the parameters of a storage class of a cluster."""
    snapshot_parameters: Callable[[str, _Class], dict[str, str]] = lambda _cluster, _spec: {}
    """Returns the parameters of its snapshot class."""


class StorageCatalogInput(Struct):
    """Storage offering of one cluster."""

    name: str
    cluster: str
    classes: tuple[StorageClassSpec, ...]
    """Storage classes of the cluster, with the tenant's name filled in."""
    annotations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Annotations by class name: client networks, and the tenant's quota."""
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Pinned chart releases of the cluster, by chart."""
    placement: DriverPlacement = ANYWHERE
    """Nodes that run the pods of the drivers."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the objects of one cluster's storage, in the order they are applied."""
        drivers, annotations = storage_drivers(self.classes, self.placement), self.annotations
        return (
            *(namespace(driver.namespace, cluster=self.cluster) for driver in drivers),
            *sources(drivers, self.cluster, self.pins),
            *(tenant_release(driver, self.cluster, self.pins, awaited=is_snapshots(driver)) for driver in drivers),
            *(
                item
                for spec in self.classes
                for item in render_class(self.cluster, spec, annotations.get(spec.name, {}))
            ),
        )


def storage_drivers(
    classes: tuple[StorageClassSpec, ...], placement: DriverPlacement = ANYWHERE
) -> tuple[Operator, ...]:
    """Return the operators required by ``classes``, in installation order."""
    drivers = (
        Operator(
            chart=one.chart,
            namespace=one.namespace,
            values=one.values(own, placement),
            without=one.without,
            merged=one.merged,
        )
        for driver, one in STORAGE_BACKENDS.items()
        if (own := [spec for spec in classes if spec.driver == driver])
    )
    snapshots = replace(SNAPSHOTS, values={"controller": placement.critical_services})
    return (*((snapshots,) if classes else ()), *drivers)


def is_snapshots(driver: Operator) -> bool:
    """Return whether ``driver`` installs the snapshot CRDs, of which later objects are instances."""
    return driver.chart == SNAPSHOTS.chart


def of_management(classes: Iterable[StorageClassSpec]) -> tuple[StorageClassSpec, ...]:
    """Return the classes that the management cluster also has; never a default, since claims there name their class."""
    return tuple(spec.model_copy(update={"default": False}) for spec in classes if spec.management)


def render_class(cluster: str, spec: StorageClassSpec, annotations: Mapping[str, str]) -> Iterator[Manifest]:
    """Yield one storage class of ``cluster`` with its snapshot class."""
    backend = STORAGE_BACKENDS[spec.driver]
    durability = {keys.DURABLE: str(spec.durable).lower()} if spec.LOCAL else {}
    yield manifest(
        "storage.k8s.io/v1",
        "StorageClass",
        spec.name,
        cluster=cluster,
        labels={**durability, **({keys.ENCRYPTED: "true"} if spec.encrypted else {})},
        annotations={**_default("storageclass.kubernetes.io/is-default-class", spec), **annotations},
        provisioner=backend.provisioner,
        parameters=backend.parameters(cluster, spec),
        reclaimPolicy=spec.reclaim.value,
        # A local volume is created on the node of its pod, so binding must wait for the pod.
        volumeBindingMode="WaitForFirstConsumer" if spec.LOCAL else "Immediate",
        allowVolumeExpansion=True,
        **given(mountOptions=list(spec.mount_options)),
    )
    if spec.VOLUME_SNAPSHOTS:
        yield manifest(
            "snapshot.storage.k8s.io/v1",
            "VolumeSnapshotClass",
            spec.name,
            cluster=cluster,
            annotations=_default("snapshot.storage.kubernetes.io/is-default-class", spec),
            driver=backend.provisioner,
            deletionPolicy=spec.reclaim.value,
            parameters=backend.snapshot_parameters(cluster, spec),
        )


def _default(key: str, spec: StorageClassSpec) -> dict[str, str]:
    return {key: "true"} if spec.default else {}


STORAGE_BACKENDS: Mapping[str, StorageBackend[Any]] = {
    "nfs": StorageBackend(
        chart="csi-driver-nfs",
        namespace="csi-nfs",
        provisioner="nfs.csi.k8s.io",
        values=nfs.values,
        parameters=nfs.parameters,
        snapshot_parameters=nfs.snapshot_parameters,
    ),
    "vast": StorageBackend(
        chart="vast-csi",
        namespace=vast.NAMESPACE,
        provisioner="csi.vastdata.com",
        values=vast.values,
        # Pulumi manages storage classes, since Helm cannot replace a changed class.
        without=("storage.k8s.io/StorageClass",),
        merged=(vast.FS_GROUPS,),
        parameters=vast.parameters,
        snapshot_parameters=vast.snapshot_parameters,
    ),
    "topolvm": StorageBackend(
        chart="topolvm",
        namespace=topolvm.NAMESPACE,
        provisioner="topolvm.io",
        node_finalizer="topolvm.io/node",
        values=topolvm.values,
        merged=(topolvm.PACE,),
        parameters=topolvm.parameters,
    ),
}
"""Backends by ``driver`` of the class, in the order of installation."""
