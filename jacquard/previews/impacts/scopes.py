"""Scopes of edits and of parts of a region, which attribute changes to edits.

A scope is a path in the region: tenant, cluster, pool, failure domain. The empty scope is the whole region.
"""

from collections.abc import Sequence
from typing import TypeAlias

from components.specs.environment import Environment
from components.specs.keys import cluster_of, domain_of, pool_of, refers_to_charts, refers_to_dpus
from jacquard.previews.impacts.edits import Edit

Scope: TypeAlias = tuple[str, ...]
_FURTHER = 100
"""Added to the distance of an edit inside a part, because an edit of a pool can change the input of its cluster."""

UNRELATED = 1_000
"""Distance of an edit from a part of the region that its scope neither contains nor is inside of."""


def vpc_scope(tenant: str, vpc: str) -> Scope:
    """Return the scope of a VPC of ``tenant``, which is distinct from a cluster of the same name."""
    return (tenant, f"vpc {vpc}")


def hall_scope(hall: str) -> Scope:
    """Return the scope of the hosts of ``hall``, which is distinct from a tenant of the same name."""
    return (f"hall {hall}",)


def dpu_scope(deployment: str = "") -> Scope:
    """Return the scope of the DPUs of a DPUDeployment, or of all DPUs."""
    return ("dpus", deployment) if deployment else ("dpus",)


class Scopes:
    """Scopes of the edits between two sides of one environment."""

    def __init__(self, *sides: Environment) -> None:
        tenants = [tenant for side in sides for tenant in side.tenants]
        self._tenants = {cluster.name: tenant.tenant for tenant in tenants for cluster in tenant.clusters}
        self._vpcs = {vpc.name: tenant.tenant for tenant in tenants for vpc in tenant.vpcs}
        self._halls = {host.host: host.hall for side in sides for host in side.hosts}

    def of_key(self, key: str) -> Scope:
        """Return the scope of a key in a lock file: a cluster, a pool, a rollout group or a DPUDeployment."""
        if refers_to_dpus(key):
            return dpu_scope(domain_of(key) if "/" in key else "")
        if refers_to_charts(key):
            cluster = domain_of(key)
            return (self._tenants[cluster], cluster) if cluster in self._tenants else ()
        return (self._tenants.get(cluster_of(key), ""), *key.split("/"))

    def of_edit(self, edit: Edit) -> tuple[Scope, ...]:
        """Return the scopes of ``edit``: usually one, but pool and hall for the assignment of a host."""
        if edit.file.startswith("tenants/"):
            return (_in_tenant(edit),)
        if edit.file.startswith("inventory/"):
            return (hall_scope(edit.file.removeprefix("inventory/hall-").removesuffix(".csv")),)
        match edit.file, edit.steps:
            case ("out_of_service.yaml", ("hosts", host, *_)) | (
                "allocations.lock.yaml",
                ("addresses", host, *_),
            ):
                return self._of_host(host)
            case "allocations.lock.yaml" | "images.lock.yaml", (section, key, *_):
                return self._in_lock(section, key, edit)
            case _:
                return ((),)

    def _in_lock(self, section: str, key: str, edit: Edit) -> tuple[Scope, ...]:
        match section:
            case "groups" | "clusters" | "control_planes" | "rollouts" | "previous" | "dpus" | "charts":
                return (self.of_key(key),)
            case "waves":
                return (self.of_key(pool_of(key)),)
            case "hosts":
                pools = [str(pool) for pool in (edit.old, edit.new) if pool]
                return (*map(self.of_key, pools), *self._of_host(key))
            case "vpcs":
                return (vpc_scope(self._vpcs.get(key, ""), key),)
            case "public_ips":
                return (self.of_key(cluster_of(key)),)
            case _:
                return ((),)

    def _of_host(self, host: str) -> tuple[Scope, ...]:
        return (hall_scope(self._halls[host]),) if host in self._halls else ((),)

    def nearest(self, about: Scope, edits: Sequence[Edit]) -> list[Edit]:
        """Return all edits with the smallest distance to a part of the region; empty if all edits are unrelated."""
        distances = [self.distance(edit, about) for edit in edits]
        least = min(distances, default=UNRELATED)
        return [edit for edit, far in zip(edits, distances, strict=True) if far == least < UNRELATED]

    def distance(self, edit: Edit, about: Scope) -> int:
        """Return the distance of an edit from a part of the region: 0 for the part itself, at most `UNRELATED`."""
        return min(_distance(scope, about) for scope in self.of_edit(edit))


def _in_tenant(edit: Edit) -> Scope:
    tenant = edit.file.removeprefix("tenants/").removesuffix(".yaml")
    match edit.steps:
        case ("clusters", cluster, "pools", pool, *_):
            return (tenant, cluster, pool)
        case ("clusters", cluster, *_):
            return (tenant, cluster)
        case ("vpcs", vpc, *_):
            return vpc_scope(tenant, vpc)
        case _:
            return (tenant,)


def _distance(edit: Scope, about: Scope) -> int:
    if about[: len(edit)] == edit:
        return len(about) - len(edit)
    if edit[: len(about)] == about:
        return _FURTHER + len(edit) - len(about)
    return UNRELATED
