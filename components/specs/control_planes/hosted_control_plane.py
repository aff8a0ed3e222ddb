"""Tenant cluster: its hosted control plane, pools and storage."""

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
from components.specs.control_planes.data_stores import RestoreSpec
from components.specs.pools.kubelet import KubeletSpec
from components.specs.pools.node_pool import NodePoolSpec, PoolRole
from components.specs.workloads.queues import QueuesSpec
from components.specs.workloads.serving import ServingSpec
from components.specs.workloads.slurm import SlurmSpec


class Events(StrEnum):
    """Storage of a cluster's events. Events are most of the writes of a large cluster and its least important data."""

    TOGETHER = "together"
    """Events are stored in the cluster's data store, like everything else."""
    APART = "apart"
    """Events are stored in a separate etcd. This requires a dedicated data store, because both must trust the same
    certificate authority."""


class ControlPlaneSpec(Spec):
    """Hosted control plane of a tenant cluster, which runs as pods of the management cluster."""

    replicas: int = Field(default=3, ge=1, le=9)
    """Number of pods of each component, spread over hosts of the management cluster as far as capacity allows."""
    data_store: Literal["auto", "dedicated"] | DnsLabel = "auto"
    """Data store of ``region.yaml``, ``dedicated`` for an exclusive data store, or ``auto``. ``auto`` selects a
    dedicated data store above ``dedicated_above_nodes``, otherwise the shared data store with the most free capacity.
    ``images.lock.yaml`` pins the selection."""
    events: Events = Events.TOGETHER
    """Storage of the cluster's events, which are most of the writes of a large cluster and its least important data."""
    restore: RestoreSpec | None = None
    """Restore of the cluster's dedicated data store to one of its snapshots; none by default. Shared data stores have
    this field in ``region.yaml``."""
    konnectivity_agents: int | None = Field(default=None, ge=1, le=50)
    """Number of pods that forward requests of the API server to nodes and pods; one on every node by default."""


class ClusterSpec(Spec):
    """Kubernetes cluster of a tenant."""

    name: ClusterName
    """Name of the cluster, unique in the region. Its namespace in the management cluster has the same name."""
    version: KubernetesVersion
    """Kubernetes version of the control plane, one of ``kubernetes`` in ``catalog/versions.yaml``. It can only be
    raised, by one minor version at a time. The pin in ``images.lock.yaml`` determines the running version, and
    ``jacquard promote`` changes it."""
    vpc: ShortName
    """VPC of the cluster, which never changes. Other clusters cannot use it."""
    control_plane: ControlPlaneSpec = ControlPlaneSpec.defaults()
    """Size of the hosted control plane, and its data store."""
    service_domain: Domain = DEFAULT_SERVICE_DOMAIN
    """Domain of the names of Services, ``<service>.<namespace>.svc.<domain>``. It must contain a dot (Kamaji) and never
    changes."""
    oidc: OidcSpec | None = None
    """Identity provider whose users may log in; no OpenID Connect by default."""
    api_server: ApiServerSpec = ApiServerSpec.defaults()
    """Options of the cluster's API server."""
    kubelet: KubeletSpec = KubeletSpec.defaults()
    """Settings of the kubelets of all pools, for nodes that join after a change."""
    cni_seed: DnsLabel | None = None
    """ConfigMap in the namespace of the cluster with the manifests of the network for the first nodes. They are applied
    once. The network must be updated from within the cluster, and no default add-on provides one."""
    pools: tuple[NodePoolSpec, ...] = Field(min_length=1)
    """Node pools of the cluster, each with a unique name."""
    storage: tuple[DnsLabel, ...] = ()
    """Storage classes of ``region.yaml`` that this cluster offers."""
    add_ons: Literal["default"] | tuple[DnsLabel, ...] = "default"
    """Complete list of add-ons of ``catalog/add_ons.yaml``, or ``default`` for the default ones of the catalogue. A
    list that contains ``default`` adds to the default ones; an add-on in it replaces a default one with the same
    capability."""
    without_add_ons: dict[DnsLabel, Text] = Field(default_factory=dict)
    """Default add-ons that are not installed in the cluster, each with the reason."""
    add_on_values: dict[DnsLabel, AddOnValuesSpec] = Field(default_factory=dict)
    """Values of add-ons in this cluster only, by add-on, each with the reason. They override the values in
    ``region.yaml``, which apply to all clusters."""
    pod_priorities: tuple[DnsLabel, ...] = ()
    """Priorities of ``catalog/add_ons.yaml`` that pods of the cluster may use. Kubernetes defines two more for pods of
    the platform."""
    namespaces: tuple[NamespaceSpec, ...] = Field(default=(), max_length=200)
    """Namespaces of the tenant's teams, isolated from each other. Other namespaces that the tenant creates are not
    managed."""
    queues: QueuesSpec | None = None
    """Quotas of the tenant's teams on the pools, and the queues of their jobs, which Kueue admits; none by default."""
    serving: ServingSpec | None = None
    """Endpoints of models on pools of the cluster, for which the add-on ``lws`` creates groups of pods; none by
    default."""
    flux: FluxSpec | None = None
    """Git repository of the tenant, which Flux applies in the cluster; Flux is not installed by default."""
    slurm: SlurmSpec | None = None
    """Slurm cluster on pools of the cluster, which the add-on ``slurm`` creates; none by default."""
    max_pods: int | None = Field(default=None, ge=16, le=1024)
    """Maximum number of pods on a node, for nodes that join after a change; by default the value of the instance
    type."""
    site: Label | None = None
    """Site of all nodes; required if the region has several sites."""
    retire: bool = False
    """Whether the cluster is being retired, the first of two steps before its removal: its pools have no nodes, and its
    protection is removed."""

    @property
    def has_system_pool(self) -> bool:
        """Return whether a pool has role system, where services of the cluster run."""
        return any(pool.role is PoolRole.SYSTEM for pool in self.pools)
