"""A tenant cluster: its hosted control plane, and the pools and storage that belong to it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from components.specs.add_ons.add_on_values import AddOnValuesSpec
from components.specs.add_ons.flux import FluxSpec
from components.specs.base import (
    DEFAULT_SERVICE_DOMAIN,
    ClusterName,
    DnsLabel,
    Domain,
    KubernetesVersion,
    Label,
    ShortName,
    Spec,
    Text,
)
from components.specs.control_planes.api_server import ApiServerSpec, OidcSpec
from components.specs.control_planes.cluster_namespaces import NamespaceSpec
from components.specs.pools.kubelet import KubeletSpec
from components.specs.pools.node_pool import NodePoolSpec


class Events(StrEnum):
    """Where a cluster's events are kept: most of what a large cluster writes, and least of what it must not lose."""

    TOGETHER = "together"
    """Events are kept with everything else, in the cluster's data store."""
    APART = "apart"
    """Events are kept in an etcd of their own. It needs a dedicated data store, since both must trust one authority."""


class ControlPlaneSpec(Spec):
    """Pods of the management cluster that are a tenant's Kubernetes API."""

    replicas: int = Field(default=3, ge=1, le=9)
    """Number of pods of each component, on different hosts of the management cluster as far as there is room."""
    data_store: Literal["auto", "dedicated"] | DnsLabel = "auto"
    """A data store of ``region.yaml``, ``dedicated`` for one that no other cluster uses, or ``auto``: dedicated above
    ``dedicated_above_nodes``, else the emptiest shared one. ``images.lock.yaml`` pins what was found."""
    events: Events = Events.TOGETHER
    """Where the cluster's events are kept: most of what a large cluster writes, and least of what it must not lose."""
    konnectivity_agents: int | None = Field(default=None, ge=1, le=50)
    """Number of pods that carry the API server's calls to nodes and pods; every node has one when it is left out."""


class ClusterSpec(Spec):
    """A tenant's Kubernetes cluster."""

    name: ClusterName
    """Name of the cluster, unique in the region. Its namespace in the management cluster is called the same."""
    version: KubernetesVersion
    """Kubernetes version of the control plane, one of ``kubernetes`` in ``catalog/versions.yaml``. It never goes down,
    and up one minor version at a time. The pin in ``images.lock.yaml`` decides what runs, and ``jacquard promote``
    moves it."""
    vpc: ShortName
    """VPC of the tenant that the cluster lives in for good. No other cluster may use it."""
    control_plane: ControlPlaneSpec = ControlPlaneSpec()
    """Size of the hosted control plane, and where it keeps its state."""
    service_domain: Domain = DEFAULT_SERVICE_DOMAIN
    """Domain that Services are called by, ``<service>.<namespace>.svc.<domain>``. It must contain a dot (Kamaji) and is
    kept for good."""
    oidc: OidcSpec | None = None
    """Identity provider whose users may log in; nobody logs in by OpenID Connect when it is left out."""
    api_server: ApiServerSpec = ApiServerSpec()
    """Options of the cluster's API server."""
    kubelet: KubeletSpec = KubeletSpec()
    """Settings of the kubelets of all pools, for nodes that join from now on."""
    cni_seed: DnsLabel | None = None
    """ConfigMap in the namespace of the cluster's name with the manifests of the network that the first nodes need.
    They are applied once; what keeps them up to date lives in the cluster, and no default add-on brings a network."""
    pools: tuple[NodePoolSpec, ...] = Field(min_length=1)
    """Node pools of the cluster, each with a name of its own."""
    storage: tuple[DnsLabel, ...] = ()
    """Storage classes of ``region.yaml`` that this cluster offers."""
    add_ons: Literal["default"] | tuple[DnsLabel, ...] = "default"
    """Names of add-ons of ``catalog/add_ons.yaml``, and only these, or ``default`` for what the catalogue installs
    everywhere. A list with ``default`` among its names has both; a name takes the place of a default add-on that gives
    the same."""
    without_add_ons: dict[DnsLabel, Text] = Field(default_factory=dict)
    """Default add-ons that the cluster goes without, each with the reason."""
    add_on_values: dict[DnsLabel, AddOnValuesSpec] = Field(default_factory=dict)
    """Values of add-ons in this cluster alone, by add-on, each with the reason; ahead of those of ``region.yaml``,
    where what is right for all belongs."""
    pod_priorities: tuple[DnsLabel, ...] = ()
    """Priorities of ``catalog/add_ons.yaml`` that pods of the cluster may name; Kubernetes has two more for the
    platform's own."""
    namespaces: tuple[NamespaceSpec, ...] = Field(default=(), max_length=200)
    """Namespaces of the tenant's teams, kept apart from each other. Whatever else the tenant makes stays as it makes
    it."""
    flux: FluxSpec | None = None
    """Git repository of the tenant's that a Flux inside the cluster applies; the cluster has no Flux when it is left
    out."""
    max_pods: int | None = Field(default=None, ge=16, le=1024)
    """Most pods of a node, for nodes that join from now on; the instance type decides when it is left out."""
    site: Label | None = None
    """The one site of all nodes; required when the region has several."""
    retire: bool = False
    """Whether the cluster is about to end, the first of two steps: its pools have no nodes, and it is no longer
    protected."""
