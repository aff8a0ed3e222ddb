"""Node templates, revision 6: revision 5 with GPU sharing between pods. Frozen.

The kubelet registers with the labels that NVIDIA's MIG manager and device plugin read (MIGP:cmd/nvidia-mig-manager,
NVDP:cmd/config-manager). So GPUs are partitioned before any pod uses them, and the setting of a node never changes:
repartitioning GPUs of a node would require that no process uses them. Kubelets may write labels of ``nvidia.com``.

If GPUs are not shared, the templates are byte-identical to those of revision 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from components.render.manifest import Json
from components.render.pools import template_revision_5
from components.render.pools.node_templates import NodeTemplates, TemplateIntent
from components.specs.pools.gpu_sharing import GpuSharingSpec
from components.specs.region.region import ControlPlaneBackend

_KUBEADM_LABELS, _K0S_LABELS = "node-labels", "--labels="


def build(intent: TemplateIntent) -> NodeTemplates:
    """Return the specs of the templates of a rollout group."""
    before = template_revision_5.build(intent)
    if intent.gpu_sharing is None:
        return before
    return replace(before, bootstrap=_LABELLED[intent.control_plane](before.bootstrap, _labels(intent.gpu_sharing)))


def time_slicing(slices: int) -> str:
    """Return the name of the device plugin configuration with ``slices`` time slices per GPU."""
    return f"time-slices-{slices}"


def _labels(sharing: GpuSharingSpec) -> str:
    if sharing.time_slices is not None:
        return f"nvidia.com/device-plugin.config={time_slicing(sharing.time_slices)}"
    # The MIG manager's name of the layout with one profile on all GPUs (MIGP:pkg/mig/builder/builder.go).
    return f"nvidia.com/mig.config=all-{sharing.mig}"


def _kubeadm(bootstrap: Json, labels: str) -> Json:
    spec = bootstrap["template"]["spec"]
    join = spec["joinConfiguration"]
    registration: dict[str, Any] = join["nodeRegistration"]
    arguments = [
        {**argument, "value": f"{argument['value']},{labels}"} if argument["name"] == _KUBEADM_LABELS else argument
        for argument in registration["kubeletExtraArgs"]
    ]
    labelled = {**registration, "kubeletExtraArgs": arguments}
    return {"template": {"spec": {**spec, "joinConfiguration": {**join, "nodeRegistration": labelled}}}}


def _k0s(bootstrap: Json, labels: str) -> Json:
    spec = bootstrap["template"]["spec"]
    arguments = [f"{argument},{labels}" if argument.startswith(_K0S_LABELS) else argument for argument in spec["args"]]
    return {"template": {"spec": {**spec, "args": arguments}}}


_LABELLED: Mapping[ControlPlaneBackend, Callable[[Json, str], Json]] = {
    ControlPlaneBackend.KAMAJI: _kubeadm,
    ControlPlaneBackend.K0SMOTRON: _k0s,
}
