"""Cluster API providers that the backends need; the Cluster API operator installs them (``cluster_api``)."""

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
"""Kind in the API of the Cluster API operator, by the role of a provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A separately installed provider of Cluster API."""

    role: str
    """Role of the provider in Cluster API, a key of `KINDS`."""
    name: str
    namespace: str
    release: str
    """Release that contains the provider, a key of ``cluster_api`` in the version vector."""
    releases: str | None = None
    """URL of upstream's releases; None if it is built into the operator."""
    gates: Mapping[str, bool] = field(default_factory=dict)
    """Feature gates of the provider that differ from the default."""
    flags: Mapping[str, str] = field(default_factory=dict)
    workers: int | None = None
    """Number of objects that the provider reconciles in parallel, if it has a single setting for all kinds."""

    mislabelled: Release | None = None
    """Last release whose kinds are labelled for contract v1beta2 but implement v1beta1."""

    @property
    def label(self) -> str:
        """Return the provider's label in Cluster API, such as ``bootstrap-kubeadm``; the core has no role prefix."""
        return self.name if self.role == "core" else f"{self.role}-{self.name}"
