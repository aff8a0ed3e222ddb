"""Storage of a tenant cluster: drivers, storage classes and snapshot classes.

Most fields of a StorageClass are immutable in Kubernetes, except labels and options: a changed class is replaced, and
volumes keep the parameters they were created with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import given, manifest, namespace
from components.render.region.operators import Operator, sources, tenant_release
from components.specs.region.versions import Chart
from components.specs.storage.storage import NfsClassSpec, StorageClassSpec, TopolvmClassSpec, VastClassSpec

NFS_NAMESPACE = "csi-nfs"
VAST_NAMESPACE = "vast-csi"
TOPOLVM_NAMESPACE = "topolvm-system"
SNAPSHOTS = Operator(chart="snapshot-controller", namespace="snapshot-controller")
"""The only chart that installs the snapshot CRDs of a cluster."""
DEFAULT_OF_VMS = "storageclass.kubevirt.io/is-default-virt-class"
"""Annotation of the default class for VM disks, which takes precedence over the default class of all claims."""
_NFS_DRIVER = "nfs.csi.k8s.io"
_VAST_DRIVER = "csi.vastdata.com"
_TOPOLVM_DRIVER = "topolvm.io"
_ANYWHERE = {"tolerations": [{"operator": "Exists"}]}
"""Additional tolerations of driver agents: they run on all nodes, including nodes with tenant taints, since a pod on a
node without an agent gets no volume."""
_VAST_SECRETS = ("provisioner", "controller-publish", "node-publish", "controller-expand")


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageCatalogInput:
    """Storage offering of one cluster."""

    name: str
    cluster: str
    classes: tuple[StorageClassSpec, ...]
    """Storage classes of the cluster, with the tenant's name filled in."""
    annotations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Annotations by class name: client networks, and the tenant's quota."""
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Pinned chart releases of the cluster, by chart."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the objects of one cluster's storage, in the order they are applied."""
        drivers, annotations = storage_drivers(self.classes), self.annotations
        return (
            *(namespace(driver.namespace, cluster=self.cluster) for driver in drivers),
            *sources(drivers, self.cluster, self.pins),
            *(tenant_release(driver, self.cluster, self.pins, awaited=driver is SNAPSHOTS) for driver in drivers),
            *(
                item
                for spec in self.classes
                for item in render_class(self.cluster, spec, annotations.get(spec.name, {}))
            ),
        )


def storage_drivers(classes: tuple[StorageClassSpec, ...]) -> tuple[Operator, ...]:
    """Return the operators required by ``classes``, in installation order."""
    vast = [spec for spec in classes if isinstance(spec, VastClassSpec)]
    nfs = [spec for spec in classes if isinstance(spec, NfsClassSpec)]
    topolvm = [spec for spec in classes if isinstance(spec, TopolvmClassSpec)]
    return (
        *((SNAPSHOTS,) if classes else ()),
        *((Operator(chart="csi-driver-nfs", namespace=NFS_NAMESPACE),) if nfs else ()),
        *((_vast_driver(vast[0]),) if vast else ()),
        *((_topolvm_driver(topolvm),) if topolvm else ()),
    )


def _vast_driver(spec: VastClassSpec) -> Operator:
    """Return the VAST driver without a global login: each class has its own Secret.

    With a global login, pods could request inline volumes with any path and policy, and the chart would create a
    default snapshot class. ``spec`` provides the endpoint that the driver shows in errors, and the settings to delete
    data on a VAST system without a trash folder: through the driver's own mount, at an address that it looks up.
    """
    deletion = {"deletionVipPool": spec.vip_pool, "deletionViewPolicy": spec.view_policy} if spec.vip_pool else {}
    return Operator(
        chart="vast-csi",
        namespace=VAST_NAMESPACE,
        values={
            "endpoint": spec.endpoint,
            "verifySsl": True,
            "node": _ANYWHERE,
            **deletion,
            # The chart fails without a class. Pulumi manages our classes, since Helm cannot replace a changed class.
            "storageClasses": {"none": {"storagePath": "/", "viewPolicy": "none"}},
        },
        without=("storage.k8s.io/StorageClass",),
    )


def _topolvm_driver(classes: list[TopolvmClassSpec]) -> Operator:
    """Return TopoLVM with a device class for each volume group of ``classes``, without the chart's storage class."""
    groups = {spec.device_class: spec.spare_gib for spec in classes}
    devices = [
        {
            "name": group,
            "volume-group": group,
            "default": place == 0,
            **given(**{"spare-gb": spare}),
        }
        for place, (group, spare) in enumerate(groups.items())
    ]
    return Operator(
        chart="topolvm",
        namespace=TOPOLVM_NAMESPACE,
        values={"lvmd": {"deviceClasses": devices, **_ANYWHERE}, "node": _ANYWHERE, "storageClasses": []},
    )


def of_management(classes: Iterable[StorageClassSpec]) -> tuple[TopolvmClassSpec, ...]:
    """Return the classes that the management cluster also has; never a default, since claims there name their class."""
    local = (spec for spec in classes if isinstance(spec, TopolvmClassSpec) and spec.management)
    return tuple(spec.model_copy(update={"default": False}) for spec in local)


def render_class(cluster: str, spec: StorageClassSpec, annotations: Mapping[str, str]) -> Iterator[Manifest]:
    """Yield one storage class of ``cluster`` with its snapshot class."""
    if isinstance(spec, NfsClassSpec):
        location = {"server": str(spec.server), "share": spec.share}
        # Clusters of a tenant are on one share: without separate folders they could delete each other's volumes.
        folder = {"subDir": f"{cluster}/{spec.sub_directory}"}
        yield _storage_class(cluster, spec, _NFS_DRIVER, {**location, **folder}, annotations)
        # The driver mounts the share again to create a snapshot, and reads the mount options only from here.
        options = {"mountOptions": ",".join(spec.mount_options)} if spec.mount_options else {}
        yield _snapshot_class(cluster, spec, _NFS_DRIVER, {**location, **options})
    elif isinstance(spec, TopolvmClassSpec):
        # No snapshot class: TopoLVM stores snapshots on the disks of the volume, and supports thin pools only.
        labels = {keys.DURABLE: str(spec.durable).lower(), **({keys.ENCRYPTED: "true"} if spec.encrypted else {})}
        # A local volume must wait for its pod, whose node it follows.
        parameters = _topolvm_parameters(spec)
        wait = "WaitForFirstConsumer"
        yield _storage_class(cluster, spec, _TOPOLVM_DRIVER, parameters, annotations, labels=labels, binding=wait)
    else:
        yield _storage_class(cluster, spec, _VAST_DRIVER, _vast_parameters(spec), annotations)
        yield _snapshot_class(cluster, spec, _VAST_DRIVER, _secret("snapshotter", spec))


def _topolvm_parameters(spec: TopolvmClassSpec) -> dict[str, str]:
    return {"topolvm.io/device-class": spec.device_class, "csi.storage.k8s.io/fstype": "xfs"}


def _vast_parameters(spec: VastClassSpec) -> dict[str, str]:
    secrets = {key: value for role in _VAST_SECRETS for key, value in _secret(role, spec).items()}
    return {
        "root_export": spec.root_export,
        "view_policy": spec.view_policy,
        **given(vip_pool_name=spec.vip_pool, vip_pool_fqdn=spec.vip_pool_fqdn, qos_policy=spec.qos_policy),
        **secrets,
    }


def _secret(role: str, spec: VastClassSpec) -> dict[str, str]:
    return {
        f"csi.storage.k8s.io/{role}-secret-name": spec.secret,
        f"csi.storage.k8s.io/{role}-secret-namespace": VAST_NAMESPACE,
    }


def _storage_class(
    cluster: str,
    spec: StorageClassSpec,
    driver: str,
    parameters: dict[str, str],
    annotations: Mapping[str, str],
    *,
    labels: dict[str, str] | None = None,
    binding: str = "Immediate",
) -> Manifest:
    return manifest(
        "storage.k8s.io/v1",
        "StorageClass",
        spec.name,
        cluster=cluster,
        labels=labels,
        annotations={**_default("storageclass.kubernetes.io/is-default-class", spec), **annotations},
        provisioner=driver,
        parameters=parameters,
        reclaimPolicy=spec.reclaim.value,
        volumeBindingMode=binding,
        allowVolumeExpansion=True,
        **given(mountOptions=list(spec.mount_options)),
    )


def _snapshot_class(cluster: str, spec: StorageClassSpec, driver: str, parameters: dict[str, Any]) -> Manifest:
    return manifest(
        "snapshot.storage.k8s.io/v1",
        "VolumeSnapshotClass",
        spec.name,
        cluster=cluster,
        annotations=_default("snapshot.storage.kubernetes.io/is-default-class", spec),
        driver=driver,
        deletionPolicy=spec.reclaim.value,
        parameters=parameters,
    )


def _default(key: str, spec: StorageClassSpec) -> dict[str, str]:
    return {key: "true"} if spec.default else {}
