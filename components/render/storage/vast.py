"""Driver of VAST CSI and parameters of its storage classes, each of which has its own Secret."""

from collections.abc import Sequence
from typing import Any

from components.render.objects import given
from components.render.pod_placement import EVERY_NODE
from components.render.storage.driver_placement import DriverPlacement
from components.specs.storage.vast import VastClassSpec

NAMESPACE = "vast-csi"
FS_GROUPS = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "spec": {"fsGroupPolicy": "File"}}
"""Policy with which the kubelet assigns a volume to the ``fsGroup`` of its pod, as for csi-driver-nfs. By default, the
kubelet does so only for volumes of a single node with a file system type, which VAST's volumes are not
(K8S:pkg/apis/storage/types.go). VAST creates the directory of a volume, and pods with a user of their own cannot write
to it without the group."""
PACE = ("kube-api-qps=100", "kube-api-burst=200")
"""Requests per second of the sidecar that attaches volumes. It patches the VolumeAttachment of each volume and node
twice, so that with its default of 5 a job with one volume on 1,000 nodes waits for seven minutes
(kubernetes-csi/external-attacher:cmd/csi-attacher/main.go, pkg/controller/csi_handler.go)."""
_ROLES = ("provisioner", "controller-publish", "node-publish", "controller-expand")


def values(classes: Sequence[VastClassSpec], placement: DriverPlacement) -> dict[str, Any]:
    """Return the values of the driver without a global login.

    With a global login, pods could request inline volumes with any path and policy, and the chart would create a
    default snapshot class. The first class provides the endpoint that the driver shows in errors, and the settings to
    delete data on a VAST system without a trash folder: through the driver's own mount, at an address that it looks up.
    """
    spec = classes[0]
    deletion = {"deletionVipPool": spec.vip_pool, "deletionViewPolicy": spec.view_policy} if spec.vip_pool else {}
    return {
        "endpoint": spec.endpoint,
        "verifySsl": True,
        "controller": {**placement.services, "extraArgs": {"csiAttacher": list(PACE)}},
        "node": {"tolerations": EVERY_NODE},
        **deletion,
        # The chart fails without a class; Jacquard removes this class from the release.
        "storageClasses": {"none": {"storagePath": "/", "viewPolicy": "none"}},
    }


def parameters(_cluster: str, spec: VastClassSpec) -> dict[str, str]:
    """Return the location of volumes and the Secret of each operation."""
    return {
        "root_export": spec.root_export,
        "view_policy": spec.view_policy,
        **given(vip_pool_name=spec.vip_pool, vip_pool_fqdn=spec.vip_pool_fqdn, qos_policy=spec.qos_policy),
        **{key: value for role in _ROLES for key, value in _secret(role, spec).items()},
    }


def snapshot_parameters(_cluster: str, spec: VastClassSpec) -> dict[str, str]:
    """Return the Secret of snapshots."""
    return _secret("snapshotter", spec)


def _secret(role: str, spec: VastClassSpec) -> dict[str, str]:
    return {
        f"csi.storage.k8s.io/{role}-secret-name": spec.secret,
        f"csi.storage.k8s.io/{role}-secret-namespace": NAMESPACE,
    }
