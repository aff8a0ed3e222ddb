"""Inputs of the team namespaces in a cluster, and the names of the platform's namespaces there."""

from collections.abc import Iterator

from components.lookups.add_ons import add_ons
from components.lookups.network.fabrics import handed_out
from components.lookups.pools import PlacedCluster
from components.render.add_ons import cni, flux
from components.render.control_planes.cluster_namespaces import DNS_NAMESPACE, ClusterNamespacesInput, TeamNamespace
from components.render.network import port_functions
from components.render.storage.storage import storage_drivers
from components.render.vms.vm_images import NAMESPACE as VMS
from components.render.vms.vm_offering import VM_OPERATORS
from components.render.workloads.slurm_pool import NAMESPACE as SLURM
from components.specs.add_ons.add_ons import Capability
from components.specs.control_planes.api_server import OidcSpec
from components.specs.control_planes.cluster_namespaces import NamespaceSpec
from components.specs.environment import Environment

ROLES = {"edit_group": "edit", "view_group": "view"}
"""Built-in Kubernetes role for each group field of a namespace."""
_ALWAYS = ("default", DNS_NAMESPACE)


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[ClusterNamespacesInput]:
    """Yield the namespace input of a cluster; nothing if the cluster lists no namespaces."""
    cluster = placed.cluster
    if cluster.namespaces:
        networks, numbers = environment.region.networks, environment.allocations.vpcs[cluster.vpc]
        yield ClusterNamespacesInput(
            name=cluster.name,
            cluster=cluster.name,
            namespaces=tuple(
                TeamNamespace(
                    spec=namespace,
                    groups=_groups(namespace, cluster.oidc),
                    stores=(networks.storage,) if has_keys(placed, namespace.name) else (),
                )
                for namespace in cluster.namespaces
            ),
            api=environment.allocations.clusters[cluster.name].vip,
            # Kubernetes assigns the first address of the range to its API (K8S:pkg/controlplane/services.go).
            service=numbers.services[1],
            inside=tuple(numbers.prefixes.values()),
            hidden=networks.closed_networks,
            watchers=tuple(
                entry.namespace for entry in add_ons(environment, placed) if entry.gives is Capability.MONITORING
            ),
        )


def platform_namespaces(environment: Environment, placed: PlacedCluster) -> frozenset[str]:
    """Return the namespaces of the platform in a cluster, except namespaces with the prefix `KUBERNETES`."""
    cluster, vms = placed.cluster, placed.tenant.vms
    chosen = add_ons(environment, placed)
    classes = tuple(spec for spec in environment.region.storage if spec.name in cluster.storage)
    calico = any(entry.chart == cni.CALICO for entry in chosen)
    return frozenset(
        (
            *_ALWAYS,
            *(entry.namespace for entry in chosen),
            *(cni.CALICO_NAMESPACES if calico else ()),
            *(driver.namespace for driver in storage_drivers(classes)),
            *((VMS, *(operator.namespace for operator in VM_OPERATORS)) if vms and vms.cluster == cluster.name else ()),
            *((flux.NAMESPACE,) if cluster.flux else ()),
            *((SLURM,) if cluster.slurm else ()),
            *((port_functions.NAMESPACE,) if handed_out(environment, placed) else ()),
        )
    )


def has_keys(placed: PlacedCluster, namespace: str) -> bool:
    """Return whether pods of a namespace use keys of a bucket."""
    return any(
        access.cluster == placed.cluster.name and namespace in access.namespaces
        for bucket in placed.tenant.buckets
        for access in bucket.access
    )


def _groups(spec: NamespaceSpec, provider: OidcSpec | None) -> dict[str, str]:
    if provider is None:
        return {}
    return {ROLES[key]: provider.kubernetes_group(group) for key, group in spec.groups.items()}
