"""Node templates, revision 3: kubelet settings are part of the node template instead of the cluster. Frozen.

Up to revision 2, a node used the settings of the cluster at the time of its join, so two nodes of a pool could differ.
From revision 3 on, each template contains all settings, and removes settings of the cluster that its intent lacks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from components.render.manifest import Json
from components.render.objects import digest
from components.render.pools import template_revision_2
from components.render.pools.node_templates import NodeTemplates, TemplateIntent
from components.specs.region.region import ControlPlaneBackend

MANAGED = (
    "allowedUnsafeSysctls",
    "containerLogMaxFiles",
    "containerLogMaxSize",
    "cpuManagerPolicy",
    "imageGCHighThresholdPercent",
    "imageGCLowThresholdPercent",
    "maxParallelImagePulls",
    "maxPods",
    "podPidsLimit",
    "registryBurst",
    "registryPullQPS",
    "serializeImagePulls",
    "systemReserved",
    "topologyManagerPolicy",
    "topologyManagerScope",
)
"""Fields of ``KubeletConfiguration`` that an intent can set."""
_FOLDER = "/etc/kubernetes/patches"
_PATCH = f"{_FOLDER}/kubeletconfiguration0+merge.json"
"""File name that ``kubeadm join`` recognises as a merge patch of the kubelet's configuration (kubernetes#110405)."""
_KUBELET_MAX_PODS = 110
"""Default of the kubelet, for which revision 2 sets no flag."""
_PROFILE_DIGITS = 10


def build(intent: TemplateIntent) -> NodeTemplates:
    """Return the specs of both templates of a rollout group."""
    before = template_revision_2.build(replace(intent, max_pods=_KUBELET_MAX_PODS))
    return NodeTemplates(machine=before.machine, bootstrap=_BUILDERS[intent.control_plane](before.bootstrap, intent))


def profile(configuration: Json) -> str:
    """Return the name of the k0s worker profile with ``configuration``."""
    return f"node-{digest(configuration, _PROFILE_DIGITS)}"


def settings(configuration: Mapping[str, Any], max_pods: int) -> dict[str, Any]:
    """Return the fields of ``KubeletConfiguration`` for nodes with at most ``max_pods`` pods."""
    return {**configuration, "maxPods": max_pods}


def _kubeadm(bootstrap: Json, intent: TemplateIntent) -> Json:
    # In a merge patch (RFC 7386) null removes a field, including fields that older nodes of the cluster still need.
    patch = {**dict.fromkeys(MANAGED), **_settings(intent)}
    spec = bootstrap["template"]["spec"]
    file = {"path": _PATCH, "owner": "root:root", "permissions": "0644", "content": json.dumps(patch, sort_keys=True)}
    join = {**spec["joinConfiguration"], "patches": {"directory": _FOLDER}}
    return {"template": {"spec": {**spec, "files": [file], "joinConfiguration": join}}}


def _k0s(bootstrap: Json, intent: TemplateIntent) -> Json:
    spec = bootstrap["template"]["spec"]
    return {"template": {"spec": {**spec, "args": [*spec["args"], f"--profile={profile(_settings(intent))}"]}}}


def _settings(intent: TemplateIntent) -> dict[str, Any]:
    return settings(intent.kubelet_configuration, intent.max_pods)


_BUILDERS = {ControlPlaneBackend.KAMAJI: _kubeadm, ControlPlaneBackend.K0SMOTRON: _k0s}
