"""Paths on nodes by Kubernetes distribution, for charts whose pods mount them.

The kubelet's folder is the same everywhere: NVIDIA's operator (GPUOP:assets/state-device-plugin) and KubeVirt
(KV:pkg/util/util.go) have no setting for it, and it is the default of all charts. k0s has another default, which the
template of its nodes overrides.
"""

from components.specs.struct import Struct

KUBELET_ROOT = "/var/lib/kubelet"
"""Folder of the kubelet, with the sockets of drivers and the volumes of pods."""


class NodePaths(Struct):
    """Paths of containerd on nodes of one distribution."""

    socket: str
    """Socket of containerd."""
    config: str
    """Configuration file of containerd."""
    drop_ins: str
    """Folder with files ``*.toml`` that are part of the configuration."""
    config_is_generated: bool
    """Whether the distribution generates ``config``, and stops to do so if another program writes it."""


KUBEADM = NodePaths(
    socket="/run/containerd/containerd.sock",
    config="/etc/containerd/config.toml",
    drop_ins="/etc/containerd/conf.d",
    config_is_generated=False,
)
"""Paths of containerd as packaged, the defaults of NVIDIA's operator (GPUOP:controllers/object_controls.go)."""
K0S = NodePaths(
    socket="/run/k0s/containerd.sock",
    config="/etc/k0s/containerd.toml",
    drop_ins="/etc/k0s/containerd.d",
    config_is_generated=True,
)
"""Paths of the containerd that k0s runs (K0S:docs/runtime.md)."""
