"""kind's configuration of a local cluster."""

from typing import Any

import yaml

from jacquard.lab.rehearsal import ports

FILE = "kind.yaml"
_KUBEADM = "node-role.kubernetes.io/control-plane"
_REAL = "jacquard.dev/real-node"


def configuration(name: str, image: str) -> dict[str, Any]:
    """Return kind's configuration of the cluster ``name``: one container, whose API server listens on loopback.

    Pods of the region run on simulated nodes, so the real node has a taint. kind removes kubeadm's own taint from a
    single node, and fails if the taint is missing (sigs.k8s.io/kind: pkg/cluster/internal/create/actions/kubeadminit).
    """
    taints = [{"key": key, "effect": "NoSchedule"} for key in (_KUBEADM, _REAL)]
    patch = {"kind": "InitConfiguration", "nodeRegistration": {"taints": taints}}
    return {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "name": name,
        "networking": {"apiServerAddress": ports.LOOPBACK},
        "nodes": [
            {
                "role": "control-plane",
                "image": image,
                "kubeadmConfigPatches": [yaml.safe_dump(patch, sort_keys=False)],
            }
        ],
    }


def text(name: str, image: str) -> str:
    """Return `configuration` as YAML."""
    return yaml.safe_dump(configuration(name, image), sort_keys=False)
