"""Namespaces of teams whose quotas together exceed the quota of their tenant."""

from collections.abc import Iterator

from components.lookups.pools import clusters_of, place, tenant_file
from components.specs.base import bytes_of
from components.specs.control_planes.cluster_namespaces import NamespaceQuotaSpec
from components.specs.environment import Environment
from components.specs.reading.problems import listed
from components.specs.region.tenant import TenantSpec

_LOAD_BALANCERS = "load balancers"


def overcommitted(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return the tenant quotas that the sum of namespace quotas exceeds, by the first cluster with such a namespace.

    Kubernetes enforces the quota of each namespace but not their sum.
    """
    excess: dict[str, list[str]] = {}
    for tenant in environment.tenants:
        for what, path, quota in _quotas(tenant):
            spaces = list(_parts(tenant, what))
            if sum(amount for *_, amount in spaces) > (bytes_of(quota) if isinstance(quota, str) else quota):
                sums = listed([f"{quota_text} in {cluster}/{name}" for cluster, name, quota_text, _ in spaces])
                there = place(environment, tenant_file(tenant), path)
                excess.setdefault(spaces[0][0], []).append(
                    f"of {what} {sums}, more than the quota of {tenant.tenant} ({quota}, {there})"
                )
    return {cluster: tuple(sums) for cluster, sums in excess.items()}


def _quotas(tenant: TenantSpec) -> Iterator[tuple[str, tuple[str, ...], str | int]]:
    """Yield the quotas of ``tenant`` for resources that namespaces can also limit: resource, path and amount."""
    quotas = tenant.quotas
    if quotas.load_balancers is not None:
        yield _LOAD_BALANCERS, ("quotas", "load_balancers"), quotas.load_balancers
    for name, quota in quotas.storage.items():
        yield name, ("quotas", "storage", name), quota


def _parts(tenant: TenantSpec, what: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield cluster, name and quota (as in the data, and as a number) of each namespace that limits ``what``."""
    for placed in clusters_of(tenant):
        for space in placed.cluster.namespaces:
            quota = space.quota or NamespaceQuotaSpec()
            if what == _LOAD_BALANCERS and quota.load_balancers is not None:
                yield placed.cluster.name, space.name, str(quota.load_balancers), quota.load_balancers
            elif amount := quota.storage.get(what):
                yield placed.cluster.name, space.name, amount, bytes_of(amount)
