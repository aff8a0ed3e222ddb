"""Tenant: contacts, contracted capacity, networks, clusters and VMs."""

import datetime as dt
from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from components.specs.base import (
    CheckedSpec,
    ConstraintViolation,
    DataFile,
    DnsLabel,
    Label,
    Quantity,
    ShortName,
    Spec,
    Text,
)
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.network.security_groups import SecurityGroupSpec
from components.specs.network.tenant_network import VpcSpec
from components.specs.region.log_sink import LogSinkSpec
from components.specs.region.metrics_sink import MetricsSinkSpec
from components.specs.region.observability import ReceiverSpec
from components.specs.storage.buckets import BucketSpec
from components.specs.times import WindowSpec
from components.specs.vms.vm_offering import VmsSpec


def ends_before(first: dt.date | None, last: dt.date | None) -> Iterator[ConstraintViolation]:
    """Yield the violation of a period whose last day ``until`` is before its first day ``from``."""
    if first is not None and last is not None and last < first:
        yield ConstraintViolation(f"is before from ({first}); write a later day", ("until",), str(last))


def is_between(day: dt.date, first: dt.date | None, last: dt.date | None) -> bool:
    """Return whether ``day`` is in the period from ``first`` to ``last``; None is no limit."""
    return (first or dt.date.min) <= day <= (last or dt.date.max)


class ContactsSpec(Spec):
    """Contacts of the tenant, written to each namespace of the tenant for operators and alerts."""

    alerts: Text
    """Contact for problems with the tenant's clusters: an e-mail address or another channel. An e-mail address gets the
    tenant's alerts if the tenant has no ``notify`` and the region has ``observability.mail``."""
    changes: Text
    """Contact for approval of disruptive changes."""
    maintenance: Text | None = None
    """Contact for notices of planned maintenance; ``changes`` by default."""


class ContractSpec(CheckedSpec):
    """Capacity that a tenant has paid for. Entries of one instance type add up on days that their periods share."""

    instance_type: Label
    """Hardware class of the capacity, an entry of ``catalog/instance_types.yaml``."""
    nodes: int = Field(ge=1)
    """Number of nodes in all pools and failure domains of the region, without spares."""
    from_: dt.date | None = Field(default=None, alias="from")
    """First day of the contract. By default, it has begun."""
    until: dt.date | None = None
    """Last day of the contract. By default, it has no end."""

    @property
    def period(self) -> str:
        """Return the period as text after the instance type; empty without dates."""
        days = (("from", self.from_), ("until", self.until))
        return "".join(f" {word} {day}" for word, day in days if day is not None)

    def is_active(self, day: dt.date) -> bool:
        """Return whether ``day`` is in the period of the contract."""
        return is_between(day, self.from_, self.until)

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield an end before the beginning."""
        yield from ends_before(self.from_, self.until)


class Approval(StrEnum):
    """Approval requirement for disruptive changes."""

    REQUIRED = "required"
    """Disruptive changes are blocked until the tenant approves them."""
    NOT_REQUIRED = "not-required"
    """Disruptive changes do not require the tenant's approval."""


class ChangesSpec(Spec):
    """Rules for disruption of the tenant's nodes."""

    approval: Approval = Approval.REQUIRED
    """Whether disruptive changes are blocked until the tenant approves them. ``jacquard approve`` records the approval.
    The value is also written to the tenant's namespaces for operators."""
    window: WindowSpec | None = None
    """Window in which nodes may be drained; at any time by default."""
    repair_approval: Approval = Approval.NOT_REQUIRED
    """Whether the reboot of an idle node with a soft fault is blocked until the tenant approves it, by an annotation of
    the Node. By default, idle nodes are rebooted without approval. Hard faults never wait."""


class VmQuotasSpec(Spec):
    """Upper limits of a tenant's VMs. Without a limit, the capacity of the nodes applies."""

    machines: int | None = Field(default=None, ge=0, le=100_000)
    """Maximum number of VMs."""
    cpus: int | None = Field(default=None, ge=0, le=10_000_000)
    """Maximum number of CPUs of all VMs."""
    memory: Quantity | None = None
    """Maximum memory of all VMs, such as ``4Ti``."""
    gpus: int | None = Field(default=None, ge=0, le=100_000)
    """Maximum number of GPUs of all VMs."""


class QuotasSpec(Spec):
    """Upper limits of a tenant's resources. Without a limit, the capacity of the region applies.

    ``jacquard check`` compares the data with the limits. In a cluster, a ResourceQuota limits only the namespace of
    VMs, because tenants administer their clusters. The capacity of storage systems and VPC prefixes limits all other
    resources.
    """

    public_ips: int | None = Field(default=None, ge=0, le=4096)
    """Maximum number of public addresses of VMs and load balancers."""
    load_balancers: int | None = Field(default=None, ge=0, le=4096)
    """Maximum number of Services of type LoadBalancer, over all clusters."""
    storage: dict[DnsLabel, Quantity] = Field(default_factory=dict)
    """Maximum size of all volumes of each storage class, over all clusters of the tenant, such as ``500Ti``."""
    vms: VmQuotasSpec = VmQuotasSpec.defaults()
    """Limits of the tenant's VMs."""


class TenantSpec(DataFile):
    """``tenants/<tenant>.yaml``: the only hand-written file of a tenant."""

    tenant: ShortName
    """Name of the tenant, equal to its file name and unique in the region."""
    contacts: ContactsSpec
    """Contacts of the tenant."""
    contract: tuple[ContractSpec, ...] = ()
    """Capacity that the tenant has paid for, by instance type. Pools must not exceed it. If any type is listed, all
    types with GPUs must be listed; types without GPUs, such as types for add-ons, may be omitted. Without a contract,
    only the region's hosts limit pools."""
    changes: ChangesSpec = ChangesSpec.defaults()
    """Rules for disruption of the tenant's nodes."""
    quotas: QuotasSpec = QuotasSpec.defaults()
    """Upper limits of the tenant's resources."""
    notify: tuple[ReceiverSpec, ...] = ()
    """Receivers of alerts about the tenant's clusters. By default ``contacts.alerts`` gets them by e-mail."""
    log_sink: LogSinkSpec | None = None
    """Sink that also gets the logs of the tenant's clusters. By default only the region's store gets them."""
    metrics_sink: MetricsSinkSpec | None = None
    """Sink that also gets the metrics of the tenant's clusters. By default only the region's store gets them."""
    vpcs: tuple[VpcSpec, ...] = Field(min_length=1)
    """Private networks of the tenant."""
    security_groups: tuple[SecurityGroupSpec, ...] = ()
    """Security groups for traffic at the edge of VPCs; a VPC references at most one group."""
    clusters: tuple[ClusterSpec, ...] = Field(min_length=1)
    """Kubernetes clusters of the tenant."""
    buckets: tuple[BucketSpec, ...] = ()
    """Buckets of the tenant in object stores of the region."""
    vms: VmsSpec | None = None
    """VMs that the tenant can order; none by default."""
