"""Node templates, revision 2: revision 1 with ``live-iso`` images and a configurable number of pods. Frozen.

If an intent uses neither, the templates are byte-identical to those of revision 1.
"""

from __future__ import annotations

from typing import Any

from components.render.manifest import Json
from components.render.pools import template_revision_1
from components.render.pools.node_templates import NodeTemplates, TemplateIntent
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.region.catalog import BootMode
from components.specs.region.region import ControlPlaneBackend

INTENT = (*template_revision_1.INTENT, "boot", "max_pods")
_KUBELET_MAX_PODS = 110
"""Default of the kubelet."""


def build(intent: TemplateIntent) -> NodeTemplates:
    """Return the specs of both templates of a rollout group."""
    first = template_revision_1.build(intent)
    machine, bootstrap = first.machine, first.bootstrap
    if (intent.bare_metal, intent.boot) == (BareMetalBackend.METAL3, BootMode.LIVE_ISO):
        machine = _live_iso(machine)
    if intent.max_pods != _KUBELET_MAX_PODS:
        bootstrap = _SIZED[intent.control_plane](bootstrap, intent.max_pods)
    return NodeTemplates(machine=machine, bootstrap=bootstrap)


def _live_iso(machine: Json) -> Json:
    # Metal3 does not verify an ISO. The digest is kept so that another build changes the template; policies read it.
    return _with(machine, ("template", "spec", "image"), diskFormat="live-iso")


def _kubeadm(bootstrap: Json, max_pods: int) -> Json:
    path = ("template", "spec", "joinConfiguration", "nodeRegistration")
    arguments = [*_section(bootstrap, path)["kubeletExtraArgs"], {"name": "max-pods", "value": str(max_pods)}]
    return _with(bootstrap, path, kubeletExtraArgs=arguments)


def _k0s(bootstrap: Json, max_pods: int) -> Json:
    path = ("template", "spec")
    return _with(
        bootstrap, path, args=[*_section(bootstrap, path)["args"], f"--kubelet-extra-args=--max-pods={max_pods}"]
    )


_SIZED = {ControlPlaneBackend.KAMAJI: _kubeadm, ControlPlaneBackend.K0SMOTRON: _k0s}


def _section(content: Json, path: tuple[str, ...]) -> Json:
    for key in path:
        content = content[key]
    return content


def _with(content: Json, path: tuple[str, ...], **fields: Any) -> Json:
    """Return ``content`` with ``fields`` set in the mapping at ``path``; the order of keys is preserved."""
    if not path:
        return {**content, **fields}
    return {**content, path[0]: _with(content[path[0]], path[1:], **fields)}
