"""Entities of Backstage's software catalog: regions, tenants, clusters and pools, with owners and dependencies.

Kinds, required fields and relations are those of ``backstage.io/v1alpha1`` (backstage/backstage:
docs/features/software-catalog/descriptor-format.md and packages/catalog-model/src/schema). A region is a System; a
tenant is a Group; clusters and pools are Resources. ``kubernetes-cluster`` is the type that Backstage's Kubernetes
plugin knows (docs/features/kubernetes/configuration.md, ``catalog`` cluster locator).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from components.render import labels
from components.render.objects import fit, given
from components.render.region.monitors import RUNBOOKS
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.region.tenant import TenantSpec
from components.specs.struct import Struct

API_VERSION = "backstage.io/v1alpha1"
NAMESPACE = "gpu-cloud"
"""Default namespace of entities, apart from the namespace ``default`` of the groups of an organization."""
OWNER = "group:default/platform"
"""Default owner of regions."""
OWNER_REFERENCE = re.compile(
    r"(?:group|user):(?:[a-z0-9]+(?:-+[a-z0-9]+)*/)?(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
)
"""Reference to an owner, with its kind (docs/features/software-catalog/references.md)."""
NAME_LIMIT = 63
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_DASHBOARDS = {"region": "jacquard-region", "tenant": "jacquard-tenant", "control plane": "jacquard-control-planes"}
_POOLS = "jacquard-pools"
Entity = Mapping[str, Any]


class Backstage(Struct):
    """Options of the catalog."""

    owner: str = OWNER
    namespace: str = NAMESPACE
    grafana: str | None = None
    """Address of Grafana with Jacquard's dashboards; None for entities without links to dashboards."""


def entities(environments: Iterable[Environment], options: Backstage) -> Iterator[Entity]:
    """Yield the entities of ``environments``: tenants, then each region with its clusters and pools."""
    catalog = _Catalog(options)
    regions = sorted(environments, key=lambda environment: environment.name)
    tenants: dict[str, list[TenantSpec]] = {}
    for environment in regions:
        for tenant in environment.tenants:
            tenants.setdefault(tenant.tenant, []).append(tenant)
    for name in sorted(tenants):
        yield catalog.group(name, tenants[name])
    for environment in regions:
        yield from catalog.region(environment)


class _Catalog:
    def __init__(self, options: Backstage) -> None:
        self._options = options

    def group(self, name: str, specs: Sequence[TenantSpec]) -> Entity:
        """Return a tenant, with its e-mail address if that is the same in all regions."""
        addresses = {spec.contacts.alerts for spec in specs}
        email = next(iter(addresses)) if len(addresses) == 1 else ""
        profile = given(displayName=name, email=email if _EMAIL.fullmatch(email) else None)
        return self._entity(
            "Group",
            name,
            {"type": "tenant", "profile": profile, "children": []},
            title=name,
            description=f"Tenant {name} of the GPU cloud",
            links=self._dashboard("tenant", {"tenant": name}),
        )

    def region(self, environment: Environment) -> Iterator[Entity]:
        """Yield a region with its management cluster, and the clusters and pools of its tenants."""
        region, stage = environment.name, environment.region.stage.value
        runbooks = [{"url": RUNBOOKS, "title": "Runbooks of alerts", "type": "runbook"}]
        system = {"owner": self._options.owner, "type": "gpu-cloud-region"}
        links = [*self._dashboard("region", {}), *runbooks]
        yield self._entity(
            "System",
            fit(region, NAME_LIMIT),
            system,
            title=region,
            description=f"GPU cloud region {region}",
            tags=[stage],
            links=links,
        )
        yield self._resource(
            region,
            ("management",),
            "kubernetes-cluster",
            self._options.owner,
            description=f"Management cluster of region {region}: Cluster API, bare-metal hosts and control planes",
            tags=[stage],
            links=links,
        )
        for tenant in environment.tenants:
            for cluster in tenant.clusters:
                yield from self._cluster(region, stage, tenant, cluster, runbooks)

    def _cluster(
        self, region: str, stage: str, tenant: TenantSpec, cluster: ClusterSpec, runbooks: Sequence[Entity]
    ) -> Iterator[Entity]:
        owner = self._reference("group", tenant.tenant)
        pools = [self._pool(region, stage, owner, cluster, pool) for pool in cluster.pools]
        needs = [self._reference("resource", self._name(region, "management"))]
        needs += [self._reference("resource", pool["metadata"]["name"]) for pool in pools]
        contacts = tenant.contacts
        yield self._resource(
            region,
            (cluster.name,),
            "kubernetes-cluster",
            owner,
            description=f"Kubernetes cluster of tenant {tenant.tenant} in region {region}",
            annotations={
                f"{labels.DOMAIN}/alerts-contact": contacts.alerts,
                f"{labels.DOMAIN}/changes-contact": contacts.changes,
                f"{labels.DOMAIN}/maintenance-contact": contacts.maintenance or contacts.changes,
            },
            tags=[stage],
            links=[*self._dashboard("control plane", {"cluster": cluster.name}), *runbooks],
            depends_on=needs,
        )
        yield from pools

    def _pool(self, region: str, stage: str, owner: str, cluster: ClusterSpec, pool: NodePoolSpec) -> Entity:
        return self._resource(
            region,
            (cluster.name, pool.name),
            "node-pool",
            owner,
            description=f"Nodes of type {pool.instance_type} in cluster {cluster.name} of region {region}",
            tags=[stage],
            links=self._dashboard("pool", {"cluster": cluster.name}, _POOLS),
        )

    def _resource(
        self,
        region: str,
        name: tuple[str, ...],
        kind: str,
        owner: str,
        *,
        depends_on: Sequence[str] = (),
        **metadata: Any,
    ) -> Entity:
        system = self._reference("system", fit(region, NAME_LIMIT))
        spec = given(type=kind, owner=owner, system=system, dependsOn=list(depends_on))
        return self._entity("Resource", self._name(region, *name), spec, title=".".join((region, *name)), **metadata)

    def _entity(self, kind: str, name: str, spec: Mapping[str, Any], **metadata: Any) -> Entity:
        head = {"name": name, "namespace": self._options.namespace, **given(**metadata)}
        return {"apiVersion": API_VERSION, "kind": kind, "metadata": head, "spec": dict(spec)}

    def _name(self, *parts: str) -> str:
        return fit(".".join(parts), NAME_LIMIT)

    def _reference(self, kind: str, name: str) -> str:
        return f"{kind}:{self._options.namespace}/{name}"

    def _dashboard(self, what: str, variables: Mapping[str, str], uid: str | None = None) -> list[Entity]:
        """Return a link to the dashboard of an entity, if the address of Grafana is known."""
        if self._options.grafana is None:
            return []
        query = urlencode({f"var-{name}": value for name, value in variables.items()})
        address = f"{self._options.grafana.rstrip('/')}/d/{uid or _DASHBOARDS[what]}"
        url = f"{address}?{query}" if query else address
        return [{"url": url, "title": f"Dashboard of the {what}", "type": "dashboard"}]
