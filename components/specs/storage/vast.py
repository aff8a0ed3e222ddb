"""Storage class of VAST CSI."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from components.specs.base import ABSOLUTE_PATH, ConstraintViolation, Text
from components.specs.storage.snapshots import TreeSnapshotsSpec
from components.specs.storage.storage_class import NetworkClassSpec, TenantHost, TenantLabel, host_violations


class VastClassSpec(NetworkClassSpec):
    """Storage class of VAST CSI. Each claim is a view with a quota, so capacity is enforced.

    ``<tenant>`` in its names is replaced by the tenant's name: each tenant has its own tenant on the VAST system.
    """

    driver: Literal["vast"]
    """The driver is VAST CSI."""
    endpoint: Text
    """Host of the management API of the VAST system, with a port if it is not 443, without a scheme and a path."""
    vip_pool: Text | None = None
    """Pool of virtual addresses on the storage network for mounts, ``vip_pool_name`` of VAST CSI. The driver looks it
    up through the management API, which an administrator of one tenant is not allowed to do."""
    vip_pool_fqdn: TenantHost | None = None
    """DNS name of such a pool in VAST's DNS, ``vip_pool_fqdn`` of VAST CSI. Nodes are distributed over its addresses,
    without a lookup through the management API. Exactly one of this field and ``vip_pool`` is required."""
    view_policy: Text
    """Policy of the views for claims, ``view_policy`` of VAST CSI. It determines the tenant of the system and the hosts
    that can mount."""
    root_export: str = Field(pattern=ABSOLUTE_PATH)
    """Path below which claims get their directories, ``root_export`` of VAST CSI."""
    qos_policy: Text | None = None
    """QoS policy of the views, ``qos_policy`` of VAST CSI; no limits by default."""
    secret: TenantLabel
    """Secret in the ``vast-csi`` namespace with username, password and endpoint. The field is a reference, never a
    value. The account must own nothing but the tenant's tree, because administrators of the cluster can read the
    Secret.

    One driver serves a cluster, so that classes with different endpoints differ in their secrets only."""
    snapshots: TreeSnapshotsSpec | None = None
    """Snapshots of ``root_export`` that the system takes by a protection policy; none by default. The operator of the
    system creates the policy."""
    PER_TENANT = ("vip_pool", "vip_pool_fqdn", "view_policy", "root_export", "qos_policy", "secret")
    ISOLATION = ("view_policy", "root_export", "secret")
    """Permissions, and the tree to which they apply. Address pools and QoS policies do not give access."""
    MANAGEMENT_APIS = ("endpoint",)

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield an invalid endpoint, and a missing or duplicate address pool."""
        yield from super().incompatibilities()
        yield from host_violations("endpoint", self.endpoint, port=True)
        if self.vip_pool is None and self.vip_pool_fqdn is None:
            yield ConstraintViolation("is required if there is no vip_pool; write one of the two", ("vip_pool_fqdn",))
        elif self.vip_pool is not None and self.vip_pool_fqdn is not None:
            yield ConstraintViolation("cannot be combined with vip_pool_fqdn; remove one of the two", ("vip_pool",))
