"""Nodes whose GPUs are for VMs, in a cluster whose other nodes have GPUs for containers.

NVIDIA's operator starts its agents on all nodes with an NVIDIA GPU. On a node whose image binds GPUs to vfio-pci, they
wait forever for a driver. Node Feature Discovery therefore labels nodes on which the kernel module of the driver is not
loaded, and the operator starts no agents there (GPUOP:controllers/state_manager.go, hasOperandsDisabled).
"""

from collections.abc import Iterator

from components.render.manifest import Manifest
from components.render.objects import manifest

_NAME = "gpus-of-vms"
_OPERANDS = "nvidia.com/gpu.deploy.operands"
_GPU = {"vendor": {"op": "In", "value": ["10de"]}, "class": {"op": "In", "value": ["0300", "0302"]}}


def without_agents(cluster: str) -> Iterator[Manifest]:
    """Yield the rule that labels the nodes of ``cluster`` with GPUs for VMs, by hardware and kernel modules.

    Node Feature Discovery may write labels of any domain that is not of Kubernetes
    (NFD:pkg/apis/nfd/validate/validate.go).
    """
    rule = {
        "name": "GPUs without the driver of NVIDIA",
        "labels": {_OPERANDS: "false"},
        "matchFeatures": [
            {"feature": "pci.device", "matchExpressions": _GPU},
            {"feature": "kernel.loadedmodule", "matchExpressions": {"nvidia": {"op": "DoesNotExist"}}},
        ],
    }
    yield manifest("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule", _NAME, cluster=cluster, spec={"rules": [rule]})
