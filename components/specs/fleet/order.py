"""Orders of tenants: nodes with constraints, to be placed in a region of the fleet."""

import datetime as dt
from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from components.specs.base import (
    CheckedSpec,
    ConstraintViolation,
    DataFile,
    DnsLabel,
    KubernetesVersion,
    Label,
    ShortName,
    Spec,
)
from components.specs.network.tenant_network import Egress, Isolation
from components.specs.region.tenant import ChangesSpec, ContactsSpec, ends_before, is_between


class Within(StrEnum):
    """Part of a region that contains all nodes of an item."""

    REGION = "region"
    """The nodes may be on several fabrics."""
    FABRIC = "fabric"
    """All nodes are on one InfiniBand or RoCE fabric, if the instance type has ports on such fabrics."""
    NVLINK_DOMAIN = "nvlink-domain"
    """All nodes are in one NVLink domain. Only for rack-scale instance types."""


class OrderItemSpec(Spec):
    """Nodes of one instance type, which become one pool."""

    instance_type: Label
    """Hardware class, an entry of ``catalog/instance_types.yaml``."""
    nodes: int = Field(ge=1, le=5000)
    """Number of nodes, without spares. Rack-scale types are rounded up to whole NVLink domains."""
    within: Within = Within.FABRIC
    """Part of the region that contains all nodes of the item."""


class OrderConstraintsSpec(CheckedSpec):
    """Constraints on the region of an order. A constraint that is omitted permits all regions."""

    jurisdictions: tuple[Label, ...] = ()
    """Permitted jurisdictions; the region has at least one of them."""
    regions: tuple[Label, ...] = ()
    """Permitted regions."""
    excluded_regions: tuple[Label, ...] = ()
    """Regions that are not permitted."""
    near: Label | None = None
    """Region to whose latency group the region belongs."""
    capabilities: tuple[Label, ...] = ()
    """Capabilities that the region has: ``infiniband``, ``roce``, ``vms``, ``storage-<driver>``, or a capability in
    ``fleet.yaml``."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield regions that are both permitted and excluded."""
        for index, name in enumerate(self.excluded_regions):
            if name in self.regions:
                text = f"'{name}' is also in regions; remove it from one of them"
                yield ConstraintViolation(text, ("excluded_regions", index))


class OrderSpec(CheckedSpec, DataFile):
    """``orders/<order>.yaml``: nodes that a tenant ordered. ``jacquard place`` chooses their region."""

    order: DnsLabel
    """Name of the order, equal to its file name."""
    tenant: ShortName
    """Name of the tenant. A tenant that a region does not have yet gets a file there."""
    contacts: ContactsSpec
    """Contacts of a new tenant."""
    changes: ChangesSpec = ChangesSpec.defaults()
    """Rules for disruption of the nodes of a new tenant."""
    from_: dt.date = Field(alias="from")
    """First day on which the tenant needs the nodes. ``jacquard fleet`` lists orders without a region by this day."""
    until: dt.date | None = None
    """Last day on which the tenant needs the nodes. By default, the order has no end."""
    cluster: ShortName
    """Cluster of the nodes. If the tenant has a cluster of this name in a region, the order adds pools to it there.
    Otherwise the order creates the cluster, with a VPC of the same name and a system pool."""
    version: KubernetesVersion
    """Kubernetes version of a new cluster."""
    isolation: Isolation = Isolation.DPF_HBN
    """Isolation of the VPC of a new cluster."""
    egress: Egress = Egress.NONE
    """Internet access of the VPC of a new cluster."""
    items: tuple[OrderItemSpec, ...] = Field(min_length=1, max_length=20)
    """Ordered nodes; each entry becomes a pool."""
    constraints: OrderConstraintsSpec = OrderConstraintsSpec.defaults()
    """Constraints on the region."""
    placed_in: Label | None = None
    """Region of the order, written by ``jacquard place``. By default the order has no region yet."""
    reserved_in: Label | None = None
    """Region whose nodes are reserved for the order, written by ``jacquard place`` if they are not free yet. By default
    nothing is reserved."""

    def is_active(self, day: dt.date) -> bool:
        """Return whether the tenant needs the nodes on ``day``."""
        return is_between(day, self.from_, self.until)

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield instance types that are listed twice, an end before the beginning, and a reservation in addition."""
        yield from ends_before(self.from_, self.until)
        if self.placed_in is not None and self.reserved_in is not None:
            yield ConstraintViolation("the order is placed already; remove the key", ("reserved_in",), self.reserved_in)
        kinds = [item.instance_type for item in self.items]
        for index, kind in enumerate(kinds):
            if kind in kinds[:index]:
                yield ConstraintViolation(
                    f"'{kind}' is listed twice; remove it and raise nodes of the first",
                    ("items", index, "instance_type"),
                )
