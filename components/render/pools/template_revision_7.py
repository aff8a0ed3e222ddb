"""Node templates, revision 7: revision 6 with dual-stack clusters. Frozen.

A k0s worker of a dual-stack cluster resolves its own name, and exits unless it finds an address of each family or the
kubelet has an explicit node IP (K0S:pkg/component/worker/kubelet.go). Hosts have IPv4 addresses only. With ``0.0.0.0``
the kubelet detects its IPv4 address (K8S:pkg/kubelet/nodestatus/setters.go), the same as in any other cluster. A
kubelet that joins by kubeadm does not look for a second address.

If a cluster has IPv4 only, the templates are byte-identical to those of revision 6.
"""

from __future__ import annotations

from dataclasses import replace

from components.render.pools import template_revision_6
from components.render.pools.node_templates import NodeTemplates, TemplateIntent
from components.specs.region.region import ControlPlaneBackend

_DETECTED_ADDRESS = "--kubelet-extra-args=--node-ip=0.0.0.0"


def build(intent: TemplateIntent) -> NodeTemplates:
    """Return the specs of the templates of a rollout group."""
    before = template_revision_6.build(intent)
    if not intent.dual_stack or intent.control_plane is not ControlPlaneBackend.K0SMOTRON:
        return before
    spec = before.bootstrap["template"]["spec"]
    return replace(before, bootstrap={"template": {"spec": {**spec, "args": [*spec["args"], _DETECTED_ADDRESS]}}})
