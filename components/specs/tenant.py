"""A tenant: who to ask, what was contracted, and its networks, clusters and VMs."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from components.specs.base import DataFile, DnsLabel, Label, Quantity, ShortName, Spec, Text
from components.specs.hosted_control_plane import ClusterSpec
from components.specs.tenant_network import VpcSpec
from components.specs.times import WindowSpec
from components.specs.vm_offering import VmsSpec


class ContactsSpec(Spec):
    """Who is told and who is asked: on each namespace of the tenant, for people and for alerts."""

    alerts: Text
    """Told when something is wrong with the tenant's nodes."""
    changes: Text
    """Asked before a disruptive change."""
    maintenance: Text | None = None
    """Told of planned maintenance; none given: as ``changes``."""


class ContractSpec(Spec):
    """Capacity a tenant has paid for."""

    instance_type: Label
    nodes: int = Field(ge=1)
    """Over all pools and failure domains of the region, without spares."""


class Approval(StrEnum):
    """Whether a disruptive change waits for the tenant."""

    REQUIRED = "required"
    NOT_REQUIRED = "not-required"


class ChangesSpec(Spec):
    """When the tenant's nodes may be disrupted."""

    approval: Approval = Approval.REQUIRED
    window: WindowSpec | None = None
    """Hours in which nodes may be drained; none given: any."""


class QuotasSpec(Spec):
    """Upper limits of what a tenant may use. What is not listed has no limit but the region's.

    The data is checked against them. Nothing enforces them inside tenants' clusters: a ResourceQuota bounds one
    namespace, and tenants rule their own clusters. What a storage system or a VPC's prefix has room for does.
    """

    public_ips: int | None = Field(default=None, ge=0, le=4096)
    """Of VMs and load balancers."""
    load_balancers: int | None = Field(default=None, ge=0, le=4096)
    """Services of type LoadBalancer, over all clusters."""
    storage: dict[DnsLabel, Quantity] = Field(default_factory=dict)
    """By storage class, over all clusters of the tenant."""


class TenantSpec(DataFile):
    """``tenants/<tenant>.yaml``: the one hand-written file of a tenant."""

    tenant: ShortName
    contacts: ContactsSpec
    contract: tuple[ContractSpec, ...] = ()
    changes: ChangesSpec = ChangesSpec()
    quotas: QuotasSpec = QuotasSpec()
    vpcs: tuple[VpcSpec, ...] = Field(min_length=1)
    clusters: tuple[ClusterSpec, ...] = Field(min_length=1)
    vms: VmsSpec | None = None
