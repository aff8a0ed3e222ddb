"""Providers of Cluster API: what each backend needs of it, installed by its operator (``cluster_api``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from components.specs.region.cluster_api import Release

KINDS = {
    "core": "CoreProvider",
    "bootstrap": "BootstrapProvider",
    "control-plane": "ControlPlaneProvider",
    "infrastructure": "InfrastructureProvider",
    "ipam": "IPAMProvider",
}
"""Kind of the Cluster API operator for each role of a provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A part of Cluster API that is installed by itself."""

    role: str
    """What the provider is to Cluster API, a key of `KINDS`."""
    name: str
    namespace: str
    release: str
    """Release that the provider is part of, a key of ``cluster_api`` in the version vector."""
    releases: str | None = None
    """URL at which upstream publishes releases; None where the operator knows it."""
    gates: Mapping[str, bool] = field(default_factory=dict)
    """Feature gates of the provider that differ from the default."""
    flags: Mapping[str, str] = field(default_factory=dict)
    workers: int | None = None
    """Number of objects the provider looks at side by side, where it has one number for all kinds."""

    mislabelled: Release | None = None
    """Last release whose kinds say that they keep contract v1beta2, and keep v1beta1."""

    @property
    def label(self) -> str:
        """Return what Cluster API calls it: ``bootstrap-kubeadm``; the core's name needs no role."""
        return self.name if self.role == "core" else f"{self.role}-{self.name}"
