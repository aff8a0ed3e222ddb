"""A tenant cluster: its hosted control plane, and the pools and storage that belong to it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from components.specs.api_server import ApiServerSpec, OidcSpec
from components.specs.base import (
    DEFAULT_SERVICE_DOMAIN,
    ClusterName,
    DnsLabel,
    Domain,
    KubernetesVersion,
    Label,
    ShortName,
    Spec,
)
from components.specs.kubelet import KubeletSpec
from components.specs.node_pool import NodePoolSpec


class Events(StrEnum):
    """Where a cluster's events are kept: most of what a large cluster writes, and least of what it must not lose."""

    TOGETHER = "together"
    """With everything else."""
    APART = "apart"
    """In an etcd of their own; only beside a dedicated data store, since both must trust one authority."""


class ControlPlaneSpec(Spec):
    """Pods of the management cluster that are a tenant's Kubernetes API."""

    replicas: int = Field(default=3, ge=1, le=9)
    """Pods of each component, on different hosts of the management cluster as far as there is room."""
    data_store: Literal["auto", "dedicated"] | DnsLabel = "auto"
    """A data store of ``region.yaml``, ``dedicated`` for one that no other cluster uses, or ``auto``: dedicated above
    ``dedicated_above_nodes``, else the emptiest shared one. What was found is pinned in ``images.lock.yaml``."""
    events: Events = Events.TOGETHER
    konnectivity_agents: int | None = Field(default=None, ge=1, le=50)
    """Pods that carry the API server's calls to nodes and pods; none given: one on every node."""


class ClusterSpec(Spec):
    """A tenant's Kubernetes cluster."""

    name: ClusterName
    version: KubernetesVersion
    """Of the control plane; one of ``kubernetes`` in ``catalog/versions.yaml``. Never goes down, and up one minor
    at a time. ``jacquard promote`` makes it run; until then the pin in ``images.lock.yaml`` does."""
    vpc: ShortName
    """A VPC of the tenant; no other cluster may use it, and a cluster stays in the one it was made in."""
    control_plane: ControlPlaneSpec = ControlPlaneSpec()
    service_domain: Domain = DEFAULT_SERVICE_DOMAIN
    """What Services are called by; must contain a dot (Kamaji), and is kept for good."""
    oidc: OidcSpec | None = None
    api_server: ApiServerSpec = ApiServerSpec()
    kubelet: KubeletSpec = KubeletSpec()
    cni_seed: DnsLabel | None = None
    """ConfigMap in the namespace of the cluster's name with the manifests of the network that the first nodes need.
    They are applied once; what keeps them up to date lives in the cluster."""
    pools: tuple[NodePoolSpec, ...] = Field(min_length=1)
    storage: tuple[DnsLabel, ...] = ()
    """Storage classes of ``region.yaml`` that this cluster offers."""
    add_ons: Literal["default"] | tuple[DnsLabel, ...] = "default"
    """``default``: what the catalogue installs everywhere; or names of ``catalog/add_ons.yaml``, and only these. They
    are checked; nothing renders them yet."""
    max_pods: int | None = Field(default=None, ge=16, le=1024)
    """Pods a node, for nodes that join from now on; none given: what the instance type says."""
    site: Label | None = None
    """The one site of all nodes; required when the region has several."""
    retire: bool = False
    """The first of two steps that end a cluster: its pools have no nodes, and it is no longer protected."""
