"""A VPC's partition on an InfiniBand fabric, as pods of its cluster get it.

In the cluster, pods get virtual functions of the InfiniBand ports (`components.render.network.port_functions`), and a
network
attachment says which partition (PKey) they join. Each function a pod gets takes a GUID of the cluster's own range, and
ib-kubernetes tells the fabric manager (UFM) to which partition the GUID belongs. ib-kubernetes runs in the management
cluster, one for each cluster and fabric: tenants neither reach UFM nor hold a login that could change any partition.

What this rests on beside that, and nothing here sees to:

- The partition that a pod joins is the one its network attachment names. Who may write network attachments in the
  cluster chooses among all partitions of the fabric: a tenant must not.
- UFM makes every port a limited member of the default partition, with M_Key protection. By default it makes them full
  members, and then no partition keeps anybody apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.network import device_plugins, port_functions
from components.render.objects import given, manifest
from components.specs.hosts.instance_types import InstanceType, PortUse
from components.specs.network.fabrics import FabricSpec, GuidNumbers
from components.specs.region.versions import Chart, Tool

DAEMON = "ib-kubernetes"
TOOLS = (DAEMON, port_functions.MULTUS)
"""Images that are needed among the tools of the version vector, beside that of what hands out whole ports."""
RESOURCE = device_plugins.resource_of(PortUse.FUNCTIONS)
"""Resource by which a pod asks for a virtual function."""
_KUBECONFIG = "/kubeconfig"


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A VPC's partition on one fabric, for one of its clusters."""

    fabric: FabricSpec
    pkey: int
    guids: GuidNumbers
    """GUIDs for the virtual functions of the cluster's nodes."""
    instance_types: tuple[InstanceType, ...]
    """Instance types of the cluster that have ports on the fabric."""
    multus: Tool
    daemon_image: str
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Releases of charts that are pinned for the cluster, by chart."""
    plugins: Mapping[PortUse, Tool] = field(default_factory=dict)
    """What hands out ports without virtual functions, by what pods get; required where they get it."""

    @property
    def with_functions(self) -> tuple[InstanceType, ...]:
        """Return the instance types whose pods get virtual functions."""
        return tuple(kind for kind in self.instance_types if kind.port_use is PortUse.FUNCTIONS)


def render(partition: Partition, cluster: str, tenant: str) -> tuple[Manifest, ...]:
    """Return the objects of ``partition`` in ``cluster`` and beside its API, in the order they are applied."""
    functions = partition.with_functions
    return (
        *port_functions.operators(partition.multus, cluster, partition.pins),
        *(_functions(kind, cluster) for kind in functions),
        *_ports(partition, cluster),
        *((_attachment(partition, cluster, tenant), _daemon(partition, cluster, tenant)) if functions else ()),
    )


def _functions(kind: InstanceType, cluster: str) -> Manifest:
    resource = device_plugins.RESOURCES[PortUse.FUNCTIONS]
    return port_functions.policy(kind, cluster, name=kind.name, link="ib", resource=resource)


def _ports(partition: Partition, cluster: str) -> Iterator[Manifest]:
    for kind in partition.instance_types:
        if kind.port_use in partition.plugins:
            yield device_plugins.node_policy(kind, partition.plugins[kind.port_use], cluster)


def _attachment(partition: Partition, cluster: str, tenant: str) -> Manifest:
    name = partition.fabric.name
    config = {
        "cniVersion": "0.3.1",
        "name": name,
        "type": "ib-sriov",
        "pkey": f"{partition.pkey:#x}",
        "link_state": "enable",
        "ibKubernetesEnabled": True,
        # Moves the RDMA device into the pod, which nothing but the pod sees then.
        **given(rdmaIsolation=any(kind.rdma_exclusive for kind in partition.with_functions) or None),
        "ipam": {},
    }
    return port_functions.attachment(name, config, RESOURCE, cluster, tenant)


def _daemon(partition: Partition, cluster: str, tenant: str) -> Manifest:
    name = f"{DAEMON}-{partition.fabric.name}"
    labels = {keys.TENANT: tenant, keys.CLUSTER: cluster, keys.FABRIC: partition.fabric.name}
    settings = {
        "KUBECONFIG": f"{_KUBECONFIG}/value",
        "POD_NAMESPACE": "kube-system",  # of the tenant's cluster, where it holds its lease
        "DAEMON_SM_PLUGIN": "ufm",
        "GUID_POOL_RANGE_START": _octets(partition.guids.first),
        "GUID_POOL_RANGE_END": _octets(partition.guids.last),
    }
    container = {
        "name": DAEMON,
        "image": partition.daemon_image,
        "command": ["/ib-kubernetes"],
        "env": [
            *({"name": key, "value": value} for key, value in settings.items()),
            {"name": "K8S_NODE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "POD_UID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}},
        ],
        "envFrom": [{"secretRef": {"name": partition.fabric.ufm_secret}}],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "kubeconfig", "mountPath": _KUBECONFIG, "readOnly": True}],
    }
    pod = {
        "automountServiceAccountToken": False,
        "containers": [container],
        "volumes": [{"name": "kubeconfig", "secret": {"secretName": f"{cluster}-kubeconfig"}}],
    }
    return manifest(
        "apps/v1",
        "Deployment",
        name,
        namespace=cluster,
        labels=labels,
        spec={
            "replicas": 1,
            "strategy": {"type": "Recreate"},  # two would give out the same GUIDs
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    )


def attachment_of(fabric: str) -> str:
    """Return how a pod names its network attachment on ``fabric``."""
    return port_functions.attachment_called(fabric)


def _octets(guid: int) -> str:
    return guid.to_bytes(8).hex(":")
