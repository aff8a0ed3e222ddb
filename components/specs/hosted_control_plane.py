"""A tenant cluster: its hosted control plane, and the pools and storage that belong to it."""

from __future__ import annotations

from pydantic import Field

from components.specs.base import ClusterName, DnsLabel, Domain, HttpsUrl, KubernetesVersion, ShortName, Spec, Text
from components.specs.node_pool import NodePoolSpec


class OidcSpec(Spec):
    """Who may log in to a cluster's API."""

    issuer_url: HttpsUrl
    client_id: Text


class ControlPlaneSpec(Spec):
    """Pods of the management cluster that are a tenant's Kubernetes API."""

    replicas: int = Field(default=3, ge=1, le=9)
    data_store: DnsLabel
    """A data store of ``region.yaml``."""


class ClusterSpec(Spec):
    """A tenant's Kubernetes cluster."""

    name: ClusterName
    version: KubernetesVersion
    vpc: ShortName
    control_plane: ControlPlaneSpec
    service_domain: Domain = "cluster.local"
    """Immutable in Kamaji, and must contain a dot."""
    oidc: OidcSpec | None = None
    pools: tuple[NodePoolSpec, ...] = Field(min_length=1)
    storage: tuple[DnsLabel, ...] = ()
    """Storage classes of ``region.yaml`` that this cluster offers."""
