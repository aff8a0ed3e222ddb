"""Names and walks that every part of the plan shares: tenants' files, pools, failure domains, rollout groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from components.specs.environment import Environment
from components.specs.hosted_control_plane import ClusterSpec
from components.specs.inventory import HostSpec
from components.specs.node_pool import NodePoolSpec
from components.specs.problems import Problem, dotted
from components.specs.region import FailureDomain
from components.specs.tenant import TenantSpec

DataPath = tuple[str | int, ...]


@dataclass(frozen=True, kw_only=True)
class PlacedCluster:
    """A cluster and where it is written."""

    tenant: TenantSpec
    cluster: ClusterSpec
    path: DataPath

    @property
    def file(self) -> str:
        """Return the file of the tenant."""
        return tenant_file(self.tenant)


@dataclass(frozen=True, kw_only=True)
class PlacedPool:
    """A pool and where it is written."""

    tenant: TenantSpec
    cluster: ClusterSpec
    pool: NodePoolSpec
    path: DataPath

    @property
    def file(self) -> str:
        """Return the file of the tenant."""
        return tenant_file(self.tenant)

    @property
    def key(self) -> str:
        """Return the pool's key in lock files, ``cluster/pool``."""
        return f"{self.cluster.name}/{self.pool.name}"


def tenant_file(tenant: TenantSpec) -> str:
    """Return the file that holds ``tenant``."""
    return f"tenants/{tenant.tenant}.yaml"


def inventory_file(hall: str) -> str:
    """Return the file that holds the hosts of ``hall``."""
    return f"inventory/hall-{hall}.csv"


def clusters(environment: Environment) -> Iterator[PlacedCluster]:
    """Yield all clusters in order of file and entry."""
    for tenant in environment.tenants:
        for index, cluster in enumerate(tenant.clusters):
            yield PlacedCluster(tenant=tenant, cluster=cluster, path=("clusters", index))


def pools(environment: Environment) -> Iterator[PlacedPool]:
    """Yield all pools in order of file and entry."""
    for placed in clusters(environment):
        for index, pool in enumerate(placed.cluster.pools):
            path = (*placed.path, "pools", index)
            yield PlacedPool(tenant=placed.tenant, cluster=placed.cluster, pool=pool, path=path)


def failure_domain(environment: Environment, host: HostSpec) -> str:
    """Return the name of what fails together with ``host``."""
    return host.rack if environment.region.failure_domain is FailureDomain.RACK else host.hall


def group_key(pool_key: str, domain: str) -> str:
    """Return the key of a rollout group in lock files, ``cluster/pool/failure-domain``."""
    return f"{pool_key}/{domain}"


def pool_of(group: str) -> str:
    """Return the pool's key of a rollout group's key."""
    return group.rpartition("/")[0]


def problem(environment: Environment, file: str, path: DataPath, text: str) -> Problem:
    """Return a problem at the line where ``path`` stands in ``file``."""
    return Problem(file, environment.positions.line(file, path), dotted(path), text)
