"""What the management cluster of a region holds for everyone: namespaces, operators, address pools, data stores, DPUs.

Public addresses are not here: each tenant cluster announces exactly the ones allocated to it, because two clusters
must never hold pools that overlap (``vm_offering``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from components.render import dpu_services, dpus
from components.render import labels as keys
from components.render.dpus import DpuPlatform
from components.render.manifest import Manifest, Readiness
from components.render.objects import manifest, namespace
from components.render.operators import CERT_MANAGER, Operator, release, repository
from components.render.operators import NAMESPACE as OPERATORS
from components.specs.catalog import VersionVector
from components.specs.region import DataStoreSpec, RegionSpec

CONTROL_PLANE_POOL = "control-plane-vips"
FREE_HOSTS = "inventory"
"""Namespace of the hosts that no cluster owns."""
KAMAJI = "kamaji-system"
METALLB = "metallb-system"
_PRIORITIES = (
    ("region-operators", 900_000_000, "Controllers that every cluster of the region depends on."),
    ("region-services", 800_000_000, "Services of the region that tenants reach, such as image proxies."),
)
_STORE_SECONDS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionInput:
    """The foundation of one region."""

    name: str
    region: RegionSpec
    versions: VersionVector
    platform: DpuPlatform
    ovn: bool
    """Whether a VPC of the region is isolated by OVN."""
    clusters: Mapping[str, str]
    """Tenant by cluster; each cluster has a namespace of its name."""
    tenants: tuple[str, ...]


def render_region(region: RegionInput) -> tuple[Manifest, ...]:
    """Return the objects of the foundation, in the order they are applied."""
    operators = region_operators(region.region)
    return (
        *_namespaces(region, operators),
        *(_priority_class(*priority) for priority in _PRIORITIES),
        *(repository(chart) for chart in region.versions.charts),
        *(release(operator) for operator in operators),
        *(_data_store(store) for store in region.region.control_planes.data_stores),
        *_control_plane_addresses(region.region),
        *dpus.render_provisioning(region.platform),
        *dpu_services.render_services(region.platform, ovn=region.ovn),
    )


def tenant_namespace(tenant: str) -> str:
    """Return the namespace of what belongs to ``tenant`` and to none of its clusters."""
    return f"tenant-{tenant}"


def region_operators(region: RegionSpec) -> tuple[Operator, ...]:
    """Return the operators of the management cluster, in the order they are installed."""
    certified = (CERT_MANAGER,)
    first_store = region.control_planes.data_stores[0].name
    return (
        Operator(
            chart=CERT_MANAGER,
            namespace="cert-manager",
            values={"crds": {"enabled": True}, "global": {"priorityClassName": _PRIORITIES[0][0]}},
        ),
        Operator(chart="metallb", namespace=METALLB),
        Operator(
            chart="kamaji",
            namespace=KAMAJI,
            values={"defaultDatastoreName": first_store, "kamaji-etcd": {"deploy": False}},
            depends_on=certified,
        ),
        Operator(chart="cluster-api-operator", namespace="capi-operator-system", depends_on=certified),
        Operator(
            chart="ironic-standalone-operator", namespace="ironic-standalone-operator-system", depends_on=certified
        ),
        Operator(chart="baremetal-operator", namespace="baremetal-operator-system", depends_on=certified),
        Operator(chart="dpf-operator", namespace=dpus.NAMESPACE, depends_on=(CERT_MANAGER, "kamaji")),
    )


def _namespaces(region: RegionInput, operators: tuple[Operator, ...]) -> tuple[Manifest, ...]:
    ours = (OPERATORS, *(operator.namespace for operator in operators), FREE_HOSTS)
    tenants = {tenant_namespace(tenant): {keys.TENANT: tenant} for tenant in region.tenants}
    clusters = {cluster: {keys.TENANT: tenant, keys.CLUSTER: cluster} for cluster, tenant in region.clusters.items()}
    return (
        *(namespace(name) for name in ours),
        *(namespace(name, labels=labels) for name, labels in {**tenants, **clusters}.items()),
    )


def _priority_class(name: str, value: int, description: str) -> Manifest:
    return manifest(
        "scheduling.k8s.io/v1", "PriorityClass", name, value=value, globalDefault=False, description=description
    )


def _data_store(store: DataStoreSpec) -> Manifest:
    def secret(key: str) -> dict[str, object]:
        return {"secretReference": {"name": store.secret, "namespace": KAMAJI, "keyPath": key}}

    return manifest(
        "kamaji.clastix.io/v1alpha1",
        "DataStore",
        store.name,
        readiness=Readiness(conditions=("jsonpath={.status.ready}=true",), timeout_seconds=_STORE_SECONDS),
        protect=True,
        spec={
            "driver": "etcd",
            "endpoints": list(store.endpoints),
            "tlsConfig": {
                "certificateAuthority": {"certificate": secret("ca.crt"), "privateKey": secret("ca.key")},
                "clientCertificate": {"certificate": secret("tls.crt"), "privateKey": secret("tls.key")},
            },
        },
    )


def _control_plane_addresses(region: RegionSpec) -> tuple[Manifest, ...]:
    return (
        manifest(
            "metallb.io/v1beta1",
            "IPAddressPool",
            CONTROL_PLANE_POOL,
            namespace=METALLB,
            # Each control plane asks for its own address by name; nothing else may take one by accident.
            spec={"addresses": [str(region.networks.control_plane_vips)], "autoAssign": False},
        ),
        manifest(
            "metallb.io/v1beta1",
            "L2Advertisement",
            CONTROL_PLANE_POOL,
            namespace=METALLB,
            spec={"ipAddressPools": [CONTROL_PLANE_POOL]},
        ),
    )
