"""Control plane of a tenant as input of the backends: the spec, and the allocated address and data store."""

from typing import Any, TypeAlias

from components.render import labels as keys
from components.render.control_planes.etcd_upkeep import MadeEtcd
from components.render.manifest import Readiness
from components.render.objects import given
from components.render.platform_pods import address_request
from components.specs.base import Address, Domain, KubernetesVersion
from components.specs.control_planes.api_server import AuditSpec
from components.specs.control_planes.data_stores import DataStoreSpec
from components.specs.control_planes.hosted_control_plane import ClusterSpec, Events
from components.specs.network.vpc_allocation import VpcAllocation
from components.specs.pools.intents import NodeIntent
from components.specs.region.observability import SlosSpec
from components.specs.region.thresholds import Thresholds
from components.specs.struct import Struct

API_PORT = 6443
ADDRESS_POOL = "control-plane-vips"
"""MetalLB address pool from which each control plane requests a specific address."""
READY = Readiness(
    conditions=("jsonpath={.status.initialization.controlPlaneInitialized}=true", "condition=Available"),
    timeout_seconds=1200,
)
"""Conditions of a serving control plane, from the contract of Cluster API that all backends implement. The conditions
do not depend on nodes."""
HOST_NAME = "external-dns.alpha.kubernetes.io/hostname"
"""Annotation of a Service that requests a DNS name from ExternalDNS."""
_NAMES_BY = "external-dns.alpha.kubernetes.io/controller"
"""Annotation with the controller that publishes the DNS name; the value for ExternalDNS is ``dns-controller``."""
MANAGEMENT_DOMAIN = "svc.cluster.local"
"""Domain of Services of the management cluster."""
DataStore: TypeAlias = DataStoreSpec | MadeEtcd
"""Data store of a cluster: the entry of a shared data store, or the definition of a dedicated etcd."""
ZONE = "topology.kubernetes.io/zone"
"""Label of the management cluster's hosts with their failure domain."""
HOST = "kubernetes.io/hostname"


class ControlPlane(Struct):
    """Control plane, independent of the backend."""

    spec: ClusterSpec
    tenant: str
    version: KubernetesVersion
    """Running Kubernetes version, even if the spec of the cluster requests another version."""
    network: VpcAllocation
    """Allocated prefixes and numbers of the cluster's VPC."""
    vip: Address
    data_store: DataStore
    """Current data store, even if the spec of the cluster requests another data store."""
    nodes: int
    """Maximum number of nodes of the cluster."""
    hosts: int | None
    """Number of management cluster hosts for control planes; None if unknown."""
    registry: str | None = None
    """Registry of the control plane's images; None for upstream's registry."""
    domain: Domain | None
    """DNS domain of control planes; None if control planes have no names."""
    writes_names: bool = False
    """Whether only the region's ExternalDNS publishes the names of control planes."""
    failure_domains: tuple[str, ...]
    """Failure domains in which the cluster has rollout groups, in order."""
    intents: tuple[NodeIntent, ...]
    """Distinct intents of the cluster's nodes."""
    slos: SlosSpec
    """Service level objectives of the API servers."""
    thresholds: Thresholds = Thresholds()
    """Thresholds of alerts."""
    audited: bool = False
    """Whether the region has a store of logs, which gets the audit events of all API servers."""

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of all objects of the control plane."""
        return {keys.TENANT: self.tenant, keys.CLUSTER: self.spec.name}

    @property
    def address_request(self) -> dict[str, str]:
        """Return the Service annotations that request the control plane's address and DNS name."""
        request = address_request(ADDRESS_POOL, self.vip)
        writer = {_NAMES_BY: "dns-controller"} if self.writes_names else {}
        return request | writer | given(**{HOST_NAME: self.host_name})

    @property
    def host_name(self) -> str | None:
        """Return the DNS name of the control plane; None without a domain."""
        return f"{self.spec.name}.{self.domain}" if self.domain else None

    @property
    def names(self) -> list[str]:
        """Return all names and addresses for the API server's certificate (SANs)."""
        names = [str(self.vip), *([self.host_name] if self.host_name else []), *self.spec.api_server.additional_sans]
        return list(dict.fromkeys(names))

    @property
    def audit(self) -> AuditSpec | None:
        """Return the audit log: that of the cluster, or the default with a store of logs; None without audit."""
        return self.spec.api_server.audit or (AuditSpec() if self.audited else None)

    @property
    def protected(self) -> bool:
        """Return whether objects with the tenant's state are protected from deletion."""
        return not self.spec.retire

    @property
    def restored_to(self) -> str | None:
        """Return the snapshot of the last restore of the data store, if members run again; None without a restore."""
        restore = self.data_store.restore
        return restore.snapshot if restore and not restore.stops else None

    @property
    def events_apart(self) -> bool:
        """Return whether events are stored in a separate etcd."""
        dedicated = isinstance(self.data_store, MadeEtcd)
        return dedicated and self.spec.control_plane.events is Events.APART


def spread(pods: dict[str, str], count: int, hosts: int | None, alike: str | None = None) -> list[dict[str, Any]]:
    """Return the topology spread constraints of ``count`` pods with the labels ``pods``, over zones and hosts.

    If the management cluster has at least ``count`` hosts, pods never share a host: a pod stays pending instead. Zones
    and hosts belong to the management cluster. If racks are its failure domains, the zone of a node is the rack.
    ``alike`` is a label key: pods are spread separately for each of its values, such as old and new pods, or the pods
    of each component.
    """
    enough_hosts = hosts is not None and hosts >= count
    return [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule" if enough_hosts and key == HOST else "ScheduleAnyway",
            "labelSelector": {"matchLabels": pods},
            **given(matchLabelKeys=[alike] if alike else None),
        }
        for key in (ZONE, HOST)
    ]
