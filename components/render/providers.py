"""Cluster API providers of the backends. The Cluster API operator installs these providers (``cluster_api``)."""

from collections.abc import Mapping
from typing import Any

from components.specs.region.cluster_api import Release
from components.specs.struct import Struct, field

KINDS = {
    "core": "CoreProvider",
    "bootstrap": "BootstrapProvider",
    "control-plane": "ControlPlaneProvider",
    "infrastructure": "InfrastructureProvider",
    "ipam": "IPAMProvider",
}
"""Kinds in the API of the Cluster API operator, by role of the provider."""


class Provider(Struct):
    """Provider of Cluster API, installed separately."""

    role: str
    """Role of the provider in Cluster API, a key of `KINDS`."""
    name: str
    namespace: str
    release: str
    """Release that contains the provider, a key of ``cluster_api`` in the version vector."""
    releases: str | None = None
    """URL of upstream's releases; None if the operator already knows the URL."""
    gates: Mapping[str, bool] = field(default_factory=dict)
    """Feature gates of the provider that differ from the default."""
    container: str = "manager"
    """Container with the controllers in the published Deployment."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Arguments of `container`, which replace those of the published Deployment."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of `container`, which replace those of the published Deployment."""
    resources: Mapping[str, Any] = field(default_factory=dict)
    """Resources of `container`, which replace those of the published Deployment; empty to keep them."""
    workers: int | None = None
    """Number of objects that the provider reconciles in parallel, for providers with a single setting for all kinds."""

    mislabelled: Release | None = None
    """Last release whose kinds are labelled for contract v1beta2 but implement v1beta1."""

    @property
    def label(self) -> str:
        """Return the provider's label in Cluster API, such as ``bootstrap-kubeadm``. The core has no role prefix."""
        return self.name if self.role == "core" else f"{self.role}-{self.name}"
