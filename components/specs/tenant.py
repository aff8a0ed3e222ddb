"""A tenant: who to ask, what was contracted, and its networks, clusters and VMs."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from components.specs.base import DataFile, Label, ShortName, Spec, Text
from components.specs.hosted_control_plane import ClusterSpec
from components.specs.tenant_network import VpcSpec
from components.specs.vm_offering import VmsSpec


class ContactsSpec(Spec):
    """Who is told and who is asked."""

    alerts: Text
    changes: Text


class ContractSpec(Spec):
    """Capacity a tenant has paid for."""

    instance_type: Label
    nodes: int = Field(ge=1)


class Approval(StrEnum):
    """Whether a disruptive change waits for the tenant."""

    REQUIRED = "required"
    NOT_REQUIRED = "not-required"


class ChangesSpec(Spec):
    """When the tenant's nodes may be disrupted."""

    approval: Approval = Approval.REQUIRED


class TenantSpec(DataFile):
    """``tenants/<tenant>.yaml``: the one hand-written file of a tenant."""

    tenant: ShortName
    contacts: ContactsSpec
    contract: tuple[ContractSpec, ...] = ()
    changes: ChangesSpec = ChangesSpec()
    vpcs: tuple[VpcSpec, ...] = Field(min_length=1)
    clusters: tuple[ClusterSpec, ...] = Field(min_length=1)
    vms: VmsSpec | None = None
