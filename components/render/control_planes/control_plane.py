"""A tenant's control plane as its backends see it: the wish, the address and the data store it was given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from components.render import labels as keys
from components.render.control_planes.etcd_upkeep import MadeEtcd
from components.render.manifest import Readiness
from components.render.objects import given
from components.render.pools.template_revisions import CLUSTER_WIDE
from components.specs.base import Address, Domain, KubernetesVersion
from components.specs.control_planes.data_stores import DataStoreSpec
from components.specs.control_planes.hosted_control_plane import ClusterSpec, Events
from components.specs.network.vpc_allocation import VpcAllocation
from components.specs.pools.intents import NodeIntent

API_PORT = 6443
ADDRESS_POOL = "control-plane-vips"
"""Pool of MetalLB that each control plane asks for its own address by name."""
READY = Readiness(
    conditions=("jsonpath={.status.initialization.controlPlaneInitialized}=true", "condition=Available"),
    timeout_seconds=1200,
)
"""Conditions under which a control plane serves, in the words of Cluster API that all backends write; nodes are not
waited for."""
HOST_NAME = "external-dns.alpha.kubernetes.io/hostname"
"""Annotation of a Service by which it asks ExternalDNS for a name."""
_NAMES_BY = "external-dns.alpha.kubernetes.io/controller"
"""Annotation that says who writes the name; ExternalDNS calls itself ``dns-controller``."""
MANAGEMENT_DOMAIN = "svc.cluster.local"
"""Domain of Services of the management cluster."""
DataStore: TypeAlias = DataStoreSpec | MadeEtcd
"""What holds a cluster's objects: an entry that several clusters name, or how the cluster's own one is made."""
ZONE = "topology.kubernetes.io/zone"
"""Label of the management cluster's hosts by what fails together."""
_HOST = "kubernetes.io/hostname"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """One control plane, in the terms that no backend owns."""

    spec: ClusterSpec
    tenant: str
    version: KubernetesVersion
    """Kubernetes version that it runs, whatever the cluster wishes for next."""
    network: VpcAllocation
    """Numbers of the cluster's VPC."""
    vip: Address
    data_store: DataStore
    """Data store that has its state, whatever the cluster wishes for next."""
    nodes: int
    """Most nodes that the cluster may come to run."""
    hosts: int | None
    """Hosts of the management cluster for control planes; None where nobody says how many there are."""
    domain: Domain | None
    """Domain in which control planes have names; None where they have none."""
    writes_names: bool = False
    """Whether the region writes these names itself, and leaves it to nobody else."""
    failure_domains: tuple[str, ...]
    """Failure domains in which the cluster has rollout groups, in order."""
    intents: tuple[NodeIntent, ...]
    """Intents of the cluster's nodes, each once."""

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of each of its objects."""
        return {keys.TENANT: self.tenant, keys.CLUSTER: self.spec.name}

    @property
    def address_request(self) -> dict[str, str]:
        """Return the annotations by which a Service asks for the control plane's address."""
        asked = {"metallb.io/address-pool": ADDRESS_POOL, "metallb.io/loadBalancerIPs": str(self.vip)}
        keeper = {_NAMES_BY: "dns-controller"} if self.writes_names else {}
        return asked | keeper | given(**{HOST_NAME: self.host_name})

    @property
    def host_name(self) -> str | None:
        """Return the name of its address."""
        return f"{self.spec.name}.{self.domain}" if self.domain else None

    @property
    def names(self) -> list[str]:
        """Return all names and addresses that its certificate is good for."""
        names = [str(self.vip), *([self.host_name] if self.host_name else []), *self.spec.api_server.additional_sans]
        return list(dict.fromkeys(names))

    @property
    def protected(self) -> bool:
        """Tell whether nothing that holds the tenant's state may be deleted."""
        return not self.spec.retire

    @property
    def events_apart(self) -> bool:
        """Tell whether events have an etcd of their own."""
        own = isinstance(self.data_store, MadeEtcd)
        return own and self.spec.control_plane.events is Events.APART

    @property
    def kubelet(self) -> Mapping[str, Any]:
        """Return what nodes that join find of ``KubeletConfiguration``, if their templates are too old to say it."""
        return next((one.kubelet_configuration for one in self.intents if one.revision in CLUSTER_WIDE), {})


def spread(pods: dict[str, str], count: int, hosts: int | None, alike: str | None = None) -> list[dict[str, Any]]:
    """Return the constraints that keep the ``count`` pods with these labels apart, as far as there is room.

    Where the management cluster has a host for each of them, no two share one: a pod waits rather. Zones and hosts are
    the management cluster's; where racks fail together, its nodes have the rack as their zone. With ``alike``, a label,
    pods of each of its values are spread by themselves: old ones and new ones, or those of each component.
    """
    apart = hosts is not None and hosts >= count
    return [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule" if apart and key == _HOST else "ScheduleAnyway",
            "labelSelector": {"matchLabels": pods},
            **given(matchLabelKeys=[alike] if alike else None),
        }
        for key in (ZONE, _HOST)
    ]
