"""A tenant: who to ask, what was contracted, and its networks, clusters and VMs."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from components.specs.base import DataFile, DnsLabel, Label, Quantity, ShortName, Spec, Text
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.network.security_groups import SecurityGroupSpec
from components.specs.network.tenant_network import VpcSpec
from components.specs.storage.buckets import BucketSpec
from components.specs.times import WindowSpec
from components.specs.vms.vm_offering import VmsSpec


class ContactsSpec(Spec):
    """Who is told and who is asked. The contacts are on each namespace of the tenant, for people and for alerts."""

    alerts: Text
    """Who is told when something is wrong with the tenant's nodes: an address, or whatever people reach them by, such
    as a channel."""
    changes: Text
    """Who is asked before a disruptive change."""
    maintenance: Text | None = None
    """Who is told of planned maintenance; ``changes`` is told when it is left out."""


class ContractSpec(Spec):
    """Capacity a tenant has paid for."""

    instance_type: Label
    """Hardware class that was paid for, an entry of ``catalog/instance_types.yaml``."""
    nodes: int = Field(ge=1)
    """Number of nodes over all pools and failure domains of the region, without spares."""


class Approval(StrEnum):
    """Word of a tenant on disruptive changes."""

    REQUIRED = "required"
    """The tenant has to agree before a disruptive change."""
    NOT_REQUIRED = "not-required"
    """A disruptive change needs no word of the tenant."""


class ChangesSpec(Spec):
    """When the tenant's nodes may be disrupted."""

    approval: Approval = Approval.REQUIRED
    """Whether a disruptive change waits for the tenant's word, which ``jacquard approve`` records. It is written on the
    tenant's namespaces, too, for people."""
    window: WindowSpec | None = None
    """Hours in which nodes may be drained; they may be drained at any hour when it is left out."""


class VmQuotasSpec(Spec):
    """Upper limits of a tenant's VMs. What is not listed has no limit but the nodes'."""

    machines: int | None = Field(default=None, ge=0, le=100_000)
    """Most VMs."""
    cpus: int | None = Field(default=None, ge=0, le=10_000_000)
    """Most CPUs of all VMs."""
    memory: Quantity | None = None
    """Most memory of all VMs, such as ``4Ti``."""
    gpus: int | None = Field(default=None, ge=0, le=100_000)
    """Most GPUs of all VMs."""


class QuotasSpec(Spec):
    """Upper limits of what a tenant may use. What is not listed has no limit but the region's.

    The data is checked against them. In a cluster a ResourceQuota bounds the namespace of VMs, and nothing the others:
    tenants rule their own clusters. What a storage system or a VPC's prefix has room for does.
    """

    public_ips: int | None = Field(default=None, ge=0, le=4096)
    """Most public addresses of VMs and load balancers."""
    load_balancers: int | None = Field(default=None, ge=0, le=4096)
    """Most Services of type LoadBalancer, over all clusters."""
    storage: dict[DnsLabel, Quantity] = Field(default_factory=dict)
    """Most bytes of each storage class, over all clusters of the tenant, such as ``500Ti``."""
    vms: VmQuotasSpec = VmQuotasSpec()
    """Most that VMs of the tenant may have."""


class TenantSpec(DataFile):
    """``tenants/<tenant>.yaml``: the one hand-written file of a tenant."""

    tenant: ShortName
    """Name of the tenant, equal to that of its file and unique in the region."""
    contacts: ContactsSpec
    """Who is told and who is asked."""
    contract: tuple[ContractSpec, ...] = ()
    """Capacity the tenant has paid for, by instance type; its pools may not ask for more. Where any is listed, all
    types with GPUs are; nodes without, such as those of add-ons, may go unsaid. Without a contract nothing bounds the
    pools but the region's hosts."""
    changes: ChangesSpec = ChangesSpec()
    """When the tenant's nodes may be disrupted."""
    quotas: QuotasSpec = QuotasSpec()
    """Upper limits of what the tenant may use."""
    vpcs: tuple[VpcSpec, ...] = Field(min_length=1)
    """Private networks of the tenant."""
    security_groups: tuple[SecurityGroupSpec, ...] = ()
    """Rules about what crosses the edges of VPCs; a VPC names its own."""
    clusters: tuple[ClusterSpec, ...] = Field(min_length=1)
    """Kubernetes clusters of the tenant."""
    buckets: tuple[BucketSpec, ...] = ()
    """Buckets of the tenant in object stores of the region."""
    vms: VmsSpec | None = None
    """What the tenant can order as VMs; it can order none when it is left out."""
