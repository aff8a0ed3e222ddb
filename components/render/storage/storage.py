"""What a tenant cluster offers as storage: drivers, classes and snapshot classes.

Kubernetes forbids every change of a class but its labels and options: a class is replaced, and volumes keep what they
were made with.
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
"""Chart that alone owns the snapshot CRDs of a cluster."""
DEFAULT_OF_VMS = "storageclass.kubevirt.io/is-default-virt-class"
"""Annotation of the class that disks of VMs get which name none, before the default of all claims."""
_NFS_DRIVER = "nfs.csi.k8s.io"
_VAST_DRIVER = "csi.vastdata.com"
_TOPOLVM_DRIVER = "topolvm.io"
_ANYWHERE = {"tolerations": [{"operator": "Exists"}]}
"""Where agents of a driver run, beside what its chart says: a pod on a node without one gets no volume, whatever taint
the tenant put there."""
_VAST_SECRETS = ("provisioner", "controller-publish", "node-publish", "controller-expand")


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageCatalogInput:
    """The storage of one cluster."""

    name: str
    cluster: str
    classes: tuple[StorageClassSpec, ...]
    """What the cluster offers, with its tenant's name filled in."""
    annotations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What each class says beside, by its name: from where it is mounted, and how much its tenant may have of it."""
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Releases of charts that are pinned for the cluster, by chart."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the objects of one cluster's storage, in the order they are applied."""
        drivers, beside = storage_drivers(self.classes), self.annotations
        return (
            *(namespace(driver.namespace, cluster=self.cluster) for driver in drivers),
            *sources(drivers, self.cluster, self.pins),
            *(tenant_release(driver, self.cluster, self.pins, awaited=driver is SNAPSHOTS) for driver in drivers),
            *(item for spec in self.classes for item in render_class(self.cluster, spec, beside.get(spec.name, {}))),
        )


def storage_drivers(classes: tuple[StorageClassSpec, ...]) -> tuple[Operator, ...]:
    """Return what a cluster with ``classes`` needs, in the order it is installed."""
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
    """Return the VAST driver without a login of its own: each class brings one.

    With one, pods could ask for volumes of any path and policy in line, and the chart would make a default snapshot
    class. ``spec`` gives the endpoint that the driver names in errors, and how it empties what a VAST system without a
    trash folder cannot: by a mount of its own, at an address that it looks up.
    """
    emptying = {"deletionVipPool": spec.vip_pool, "deletionViewPolicy": spec.view_policy} if spec.vip_pool else {}
    return Operator(
        chart="vast-csi",
        namespace=VAST_NAMESPACE,
        values={
            "endpoint": spec.endpoint,
            "verifySsl": True,
            "node": _ANYWHERE,
            **emptying,
            # The chart fails without a class. Ours are Pulumi's, since Helm cannot replace one whose parameters change.
            "storageClasses": {"none": {"storagePath": "/", "viewPolicy": "none"}},
        },
        without=("storage.k8s.io/StorageClass",),
    )


def _topolvm_driver(classes: list[TopolvmClassSpec]) -> Operator:
    """Return TopoLVM with a device class for each volume group that ``classes`` name, and no class of its own."""
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
    """Return those of ``classes`` that the management cluster has as well, where claims always name their class."""
    found = (spec for spec in classes if isinstance(spec, TopolvmClassSpec) and spec.management)
    return tuple(spec.model_copy(update={"default": False}) for spec in found)


def render_class(cluster: str, spec: StorageClassSpec, annotations: Mapping[str, str]) -> Iterator[Manifest]:
    """Yield one class of ``cluster`` with its class of snapshots."""
    if isinstance(spec, NfsClassSpec):
        location = {"server": str(spec.server), "share": spec.share}
        # Clusters of a tenant are on one share: without its own folder, one would open and delete another's volume.
        folder = {"subDir": f"{cluster}/{spec.sub_directory}"}
        yield _storage_class(cluster, spec, _NFS_DRIVER, {**location, **folder}, annotations)
        # The driver mounts the share again to make a snapshot, and takes the options from here only.
        options = {"mountOptions": ",".join(spec.mount_options)} if spec.mount_options else {}
        yield _snapshot_class(cluster, spec, _NFS_DRIVER, {**location, **options})
    elif isinstance(spec, TopolvmClassSpec):
        # No snapshot class: TopoLVM's are on the same disks as the volume, and of thin pools only.
        promised = {keys.DURABLE: str(spec.durable).lower(), **({keys.ENCRYPTED: "true"} if spec.encrypted else {})}
        # A local volume must wait for the pod, which decides the node.
        parameters = _topolvm_parameters(spec)
        wait = "WaitForFirstConsumer"
        yield _storage_class(cluster, spec, _TOPOLVM_DRIVER, parameters, annotations, labels=promised, binding=wait)
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
