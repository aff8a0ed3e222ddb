"""Processes of a simulated cluster and kwokctl's configuration of them."""

from typing import Any

from jacquard.lab.rehearsal import ports
from jacquard.lab.toolchain import binaries

CONTROLLER = "kwok-controller"
PARTS = {
    "etcd": "etcdPort",
    "kube-apiserver": "kubeApiserverPort",
    "kube-controller-manager": "kubeControllerManagerPort",
    "kube-scheduler": "kubeSchedulerPort",
    CONTROLLER: "kwokControllerPort",
}
"""Processes of a cluster with the option for their port."""
NODES = "kwok.x-k8s.io/node=fake"
"""Annotation of the nodes that kwok simulates."""


def configuration(numbers: list[int]) -> dict[str, Any]:
    """Return kwokctl's configuration of a cluster that listens on the ports ``numbers``.

    The cluster is lightweight: etcd does not wait for the disk (data lost in a power failure can be recreated), leader
    election is disabled, and clients are not throttled.
    """
    names = [*PARTS.values(), "etcdPeerPort"]
    without_election = {"key": "leader-elect", "value": "false"}
    # As by kubeadm and Kamaji: admission policies and audit logs distinguish controllers from administrators.
    own_accounts = {"key": "use-service-account-credentials", "value": "true"}
    return {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokctlConfiguration",
        "options": {
            "runtime": "binary",
            "bindAddress": ports.LOOPBACK,
            "enableCRDs": ["Stage"],
            "disableQPSLimits": True,
            **dict(zip(names, numbers, strict=True)),
            "etcdBinary": str(binaries.path("etcd")),
            "kubeApiserverBinary": str(binaries.path("kube-apiserver")),
            "kubeControllerManagerBinary": str(binaries.path("kube-controller-manager")),
            "kubeSchedulerBinary": str(binaries.path("kube-scheduler")),
            "kubectlBinary": str(binaries.path("kubectl")),
            "kwokControllerBinary": str(binaries.path("kwok")),
        },
        "componentsPatches": [
            {"name": "etcd", "extraArgs": [{"key": "unsafe-no-fsync", "value": "true"}]},
            {"name": "kube-controller-manager", "extraArgs": [without_election, own_accounts]},
            {"name": "kube-scheduler", "extraArgs": [without_election]},
            {
                "name": CONTROLLER,
                "extraArgs": [
                    {"key": "manage-all-nodes", "value": "false", "override": True},
                    {"key": "manage-nodes-with-annotation-selector", "value": NODES},
                ],
            },
        ],
    }
