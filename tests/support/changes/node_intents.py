"""A node intent for tests."""

from __future__ import annotations

from components.render.pools.node_templates import TemplateIntent
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.region.catalog import BootMode
from components.specs.region.region import ControlPlaneBackend

INTENT = TemplateIntent(
    control_plane=ControlPlaneBackend.KAMAJI,
    bare_metal=BareMetalBackend.METAL3,
    cluster="acme-train",
    pool="train",
    failure_domain="a01",
    image_version="gpu-1",
    image_url="https://images.cloud.example/gpu-1.raw",
    image_sha256="0" * 64,
    taints=(("workload", "training", "NoSchedule"), ("spare", "", "NoExecute")),
    boot=BootMode.DISK,
    max_pods=110,
    kubelet="v1.35.2",
)
"""Nodes with taints, which boot from disk and have no allocated addresses."""
