"""Control plane of a tenant as pods of the management cluster, managed by Cluster API. Each backend has a module.

The address (VIP) is allocated before any object is created. The infrastructure cluster, the control plane and its
Service all get this address.
"""

from collections.abc import Iterator

from components.render import labels as keys
from components.render.backends import BARE_METAL, CONTROL_PLANES
from components.render.control_planes.audit_policy import render_policy
from components.render.control_planes.control_plane import API_PORT, ControlPlane
from components.render.control_planes.kubeconfig_readers import KubeconfigReaders, render_readers
from components.render.health.node_tests import NodeTests
from components.render.manifest import Manifest, ManifestSet, Rendered
from components.render.network.dpu_release import in_cluster
from components.render.objects import manifest, reference
from components.render.pools.pool_windows import PoolWindows, render_windows
from components.render.workloads.slurm_reservations import SlurmReservations
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.network.vpc_allocation import VpcAllocation
from components.specs.region.region import ControlPlaneBackend


class HostedControlPlaneInput(ControlPlane):
    """Control plane of one cluster, with the backends for the control plane and for the nodes."""

    name: str
    backend: ControlPlaneBackend
    bare_metal: BareMetalBackend
    lets_dpus_go: bool = False
    """Whether the platform releases the maintenance hold of the hosts' DPUs. The platform may then drain hosts."""
    windows: PoolWindows | None = None
    """Maintenance window for rollouts of the cluster's pools; None if rollouts are not restricted."""
    tests: NodeTests | None = None
    """Tests of the cluster's nodes; None if no node is tested."""
    reservations: SlurmReservations | None = None
    """Reservations of the cluster's Slurm cluster; None without pools that respect them."""
    readers: KubeconfigReaders | None = None
    """Deployments that read the cluster's kubeconfig when they start; None without such Deployments."""

    def render(self) -> tuple[Rendered, ...]:
        """Return the objects of one control plane, in the order in which they are applied.

        The control plane is last: it is awaited, and its provider waits until the Cluster owns it.
        """
        infrastructure = BARE_METAL[self.bare_metal].infrastructure(self)
        prerequisites, plane = CONTROL_PLANES[self.backend].render(self)
        seed = self.spec.cni_seed
        return (
            *prerequisites,
            *render_policy(self),
            *_programs(self),
            infrastructure,
            *((_seed(self, seed),) if seed else ()),
            _cluster(self, plane, infrastructure),
            plane,
        )


def _programs(plane: HostedControlPlaneInput) -> Iterator[ManifestSet]:
    """Yield the jobs and the access of the platform's programs in the namespace of the cluster, as one set."""
    name, labels = plane.spec.name, plane.labels
    items = (
        *(render_windows(plane.windows, name, labels) if plane.windows else ()),
        *(plane.tests.in_management(labels) if plane.tests else ()),
        *(plane.reservations.in_management(labels) if plane.reservations else ()),
        *(in_cluster(name, labels) if plane.lets_dpus_go else ()),
        *(render_readers(plane.readers, name, labels) if plane.readers else ()),
    )
    if items:
        members = {f"{item.kind}/{item.name}": item for item in items}
        yield ManifestSet(name="programs", namespace=name, members=members)


def _seed(control_plane: ControlPlane, config_map: str) -> Manifest:
    """Return the ClusterResourceSet that applies the manifests of the CNI once. Later updates are up to the cluster."""
    name = control_plane.spec.name
    return manifest(
        "addons.cluster.x-k8s.io/v1beta2",
        "ClusterResourceSet",
        f"{name}-cni",
        namespace=name,
        labels=control_plane.labels,
        spec={
            "strategy": "ApplyOnce",
            "clusterSelector": {"matchLabels": {keys.CLUSTER: name}},
            "resources": [{"kind": "ConfigMap", "name": config_map}],
        },
    )


def _cluster(control_plane: ControlPlane, plane: Manifest, infrastructure: Manifest) -> Manifest:
    name = control_plane.spec.name
    return manifest(
        "cluster.x-k8s.io/v1beta2",
        "Cluster",
        name,
        namespace=name,
        labels=control_plane.labels,
        protect=control_plane.protected,
        spec={
            "clusterNetwork": {
                "apiServerPort": API_PORT,
                "pods": {"cidrBlocks": _blocks(control_plane.network, "pods")},
                "services": {"cidrBlocks": _blocks(control_plane.network, "services")},
                "serviceDomain": control_plane.spec.service_domain,
            },
            "controlPlaneRef": reference(plane),
            "infrastructureRef": reference(infrastructure),
        },
    )


def _blocks(network: VpcAllocation, kind: str) -> list[str]:
    """Return the prefix for ``kind`` of each IP family of the cluster, starting with the family of node addresses."""
    return [str(prefix) for prefix in (getattr(network, kind), network.ipv6.get(kind)) if prefix is not None]
