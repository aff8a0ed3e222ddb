"""Driver of TopoLVM and parameters of its storage classes."""

from collections.abc import Sequence
from typing import Any

from components.render.add_ons.pod_priorities import AGENT
from components.render.objects import given
from components.render.pod_placement import EVERY_NODE
from components.render.storage.driver_placement import DriverPlacement
from components.specs.storage.topolvm import TopolvmClassSpec

NAMESPACE = "topolvm-system"
PACE = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "spec": {
        "template": {
            "spec": {
                "containers": [
                    {
                        "name": "csi-provisioner",
                        "args": [
                            *("--kube-api-qps=100", "--kube-api-burst=200"),
                            *("--kube-api-capacity-qps=100", "--kube-api-capacity-burst=200"),
                        ],
                    }
                ]
            }
        }
    },
}
"""Requests per second of the sidecar that creates volumes and reports the free capacity of each node. The chart has no
value for them, and one Deployment; the container's ``args`` follow its ``command``.

The scheduler uses no node without a reported capacity. By default the sidecar reports one node per second, so that the
last of 1,000 nodes would wait for 17 minutes. For volumes it has 5 requests per second
(kubernetes-csi/external-provisioner:cmd/csi-provisioner/csi-provisioner.go).
"""


def values(classes: Sequence[TopolvmClassSpec], placement: DriverPlacement) -> dict[str, Any]:
    """Return the values of TopoLVM: a device class for each volume group, without the chart's storage class.

    Agents run on nodes with local disks only: lvmd exits if one of its volume groups is missing
    (topolvm:cmd/lvmd/app/root.go).
    """
    groups = {spec.device_class: spec.spare_gib for spec in classes}
    devices = [
        {"name": group, "volume-group": group, "default": place == 0, **given(**{"spare-gb": spare})}
        for place, (group, spare) in enumerate(groups.items())
    ]
    agents = {"tolerations": EVERY_NODE, "priorityClassName": AGENT, **placement.on_disks}
    controller = {
        **placement.critical_services,
        # The chart's anti-affinity forbids two replicas on one node, so that a third pod cannot start on two nodes.
        "updateStrategy": {"rollingUpdate": {"maxUnavailable": 1}},
    }
    return {
        "controller": controller,
        "lvmd": {"deviceClasses": devices, **agents},
        "node": agents,
        "storageClasses": [],
    }


def parameters(_cluster: str, spec: TopolvmClassSpec) -> dict[str, str]:
    """Return the volume group and the file system of volumes."""
    return {"topolvm.io/device-class": spec.device_class, "csi.storage.k8s.io/fstype": "xfs"}
