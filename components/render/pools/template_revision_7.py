"""Node templates, revision 7: revision 6, and clusters with IPv6 beside IPv4. Frozen as the others are.

A k0s worker of such a cluster looks its name up and stops unless it finds an address of each family, except where the
kubelet is told one (K0S:pkg/component/worker/kubelet.go). Hosts have IPv4 alone. ``0.0.0.0`` stands for what a kubelet
finds by itself (K8S:pkg/kubelet/nodestatus/setters.go), the address with which it registers in any other cluster. A
kubelet that joins by kubeadm looks for no second address.

Where a cluster has IPv4 alone, the templates are those of revision 6 byte by byte.
"""

from __future__ import annotations

from dataclasses import replace

from components.render.pools import template_revision_6
from components.render.pools.node_templates import NodeTemplates, TemplateIntent
from components.specs.region.region import ControlPlaneBackend

_FOUND_BY_ITSELF = "--kubelet-extra-args=--node-ip=0.0.0.0"


def build(intent: TemplateIntent) -> NodeTemplates:
    """Return the specs of the templates of a rollout group."""
    before = template_revision_6.build(intent)
    if not intent.dual_stack or intent.control_plane is not ControlPlaneBackend.K0SMOTRON:
        return before
    spec = before.bootstrap["template"]["spec"]
    return replace(before, bootstrap={"template": {"spec": {**spec, "args": [*spec["args"], _FOUND_BY_ITSELF]}}})
