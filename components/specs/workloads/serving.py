"""Serving of models in a tenant cluster: endpoints whose groups of pods span several nodes, for LeaderWorkerSet."""

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from components.specs.base import CheckedSpec, ConstraintViolation, DnsLabel, Label, Port, Quantity, ShortName, Spec
from components.specs.workloads.queues import GangDomain, NodeCount


class Exposure(StrEnum):
    """Clients that can reach an endpoint."""

    CLUSTER = "cluster"
    """Pods of the namespace, and of the namespaces in its ``admits``."""
    LOAD_BALANCER = "load-balancer"
    """In addition, clients outside the cluster, at a load balancer address of the VPC, with a DNS name if the region
    has a DNS zone."""


class ModelCacheSpec(Spec):
    """Volume of each pod for a copy of the weights."""

    storage_class: DnsLabel
    """Storage class of the cluster on the disks of nodes."""
    size: Quantity
    """Size of the volume of one pod, such as ``2Ti``."""


class EndpointSpec(CheckedSpec):
    """Endpoint of one model. The tenant creates its LeaderWorkerSet, from the ConfigMap ``endpoint-<name>``."""

    name: ShortName
    """Name of the endpoint and of its LeaderWorkerSet, unique in the cluster. The Service is ``endpoint-<name>``."""
    namespace: Label
    """Namespace of the LeaderWorkerSet, from ``namespaces`` of the cluster."""
    pool: ShortName
    """Pool whose nodes run the model."""
    groups: int = Field(default=1, ge=1, le=1000)
    """Number of groups. Each group serves a whole model."""
    nodes: NodeCount = 1
    """Number of nodes of a group; one pod on each node uses all its GPUs."""
    within: GangDomain | None = None
    """Domain of the network that all nodes of a group share; any nodes by default. In a cluster with queues, groups can
    share a domain; without queues, each group has its own."""
    port: Port = 8000
    """Port of the leader of each group, and of the Service."""
    exposure: Exposure = Exposure.CLUSTER
    """Clients that can reach the endpoint."""
    cache: ModelCacheSpec | None = None
    """Volume of each pod for a copy of the weights; none by default."""
    bucket: ShortName | None = None
    """Bucket of the tenant with the weights; its keys must be in the namespace. None by default."""

    @property
    def found_as(self) -> str:
        """Return the name of the Service, the ConfigMap and the NetworkPolicy of the endpoint."""
        return f"endpoint-{self.name}"

    @property
    def all_nodes(self) -> int:
        """Return the number of nodes of all groups."""
        return self.groups * self.nodes

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a domain for groups of one node."""
        if self.within is not None and self.nodes == 1:
            text = "has no effect on groups of one node; remove it, or raise nodes"
            yield ConstraintViolation(text, ("within",), self.within.value)


class ServingSpec(CheckedSpec):
    """Endpoints of one cluster, and the priority of their pods."""

    priority: DnsLabel
    """Pod priority of the cluster for all endpoints, above those of other work. In a cluster with queues, it is the
    priority of the highest class."""
    endpoints: tuple[EndpointSpec, ...] = Field(min_length=1, max_length=100)
    """Endpoints of the cluster, each with a unique name."""

    @property
    def names_by_namespace(self) -> dict[str, tuple[str, ...]]:
        """Return the names of endpoints by namespace."""
        spaces = dict.fromkeys(endpoint.namespace for endpoint in self.endpoints)
        return {space: tuple(item.name for item in self.endpoints if item.namespace == space) for space in spaces}

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield endpoints with the name of an earlier one, which would have the same DNS name."""
        names = [endpoint.name for endpoint in self.endpoints]
        for index, name in enumerate(names):
            if name in names[:index]:
                text = "is the name of an earlier endpoint; rename it"
                yield ConstraintViolation(text, ("endpoints", index, "name"), name)
