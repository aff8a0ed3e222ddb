"""Partition of a VPC on an InfiniBand fabric, for pods of its clusters.

Pods get virtual functions of the InfiniBand ports (`components.render.network.port_functions`), and a network
attachment selects their partition (PKey). Each function gets a GUID of the cluster's range, and ib-kubernetes adds the
GUID to the partition in the fabric manager (UFM). ib-kubernetes runs in the management cluster, one instance per
cluster and fabric: tenants can neither reach UFM nor get credentials that could change a partition.

Prerequisites that are not enforced here:

- A pod joins the partition of its network attachment. Permission to write network attachments in the cluster therefore
  allows access to all partitions of the fabric. Tenants must not have this permission.
- UFM must make every port a limited member of the default partition, with M_Key protection. By default ports are full
  members, and partitions then provide no isolation.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.network import device_plugins, port_functions
from components.render.objects import given, manifest
from components.render.platform_pods import UNPRIVILEGED
from components.specs.hosts.instance_types import InstanceType, PortUse
from components.specs.network.fabrics import FabricSpec, GuidNumbers
from components.specs.region.versions import Chart, Tool
from components.specs.struct import Struct, field

DAEMON = "ib-kubernetes"
TOOLS = (DAEMON, port_functions.MULTUS)
"""Images that the version vector must contain, in addition to the device plugin for whole ports."""
RESOURCE = device_plugins.resource_of(PortUse.FUNCTIONS)
"""Resource that a pod requests for a virtual function."""
_KUBECONFIG = "/kubeconfig"


class Partition(Struct):
    """Partition of a VPC on one fabric, for one of its clusters."""

    fabric: FabricSpec
    pkey: int
    guids: GuidNumbers
    """GUIDs for the virtual functions of the cluster's nodes."""
    instance_types: tuple[InstanceType, ...]
    """Instance types of the cluster with ports on the fabric."""
    multus: Tool
    daemon_image: str
    placement: Mapping[str, Any]
    """Placement of the platform's services in the cluster."""
    nodes: int
    """Maximum number of nodes of the cluster."""
    pins: Mapping[str, Chart] = field(default_factory=dict)
    """Pinned chart releases of the cluster, by chart."""
    plugins: Mapping[PortUse, Tool] = field(default_factory=dict)
    """Device plugins for ports without virtual functions, by port use; required for each use in the cluster."""

    @property
    def with_functions(self) -> tuple[InstanceType, ...]:
        """Return the instance types whose pods get virtual functions."""
        return tuple(kind for kind in self.instance_types if kind.port_use is PortUse.FUNCTIONS)


def render(partition: Partition, cluster: str, tenant: str) -> tuple[Manifest, ...]:
    """Return the objects of ``partition`` in ``cluster`` and in the management cluster, in apply order."""
    functions = partition.with_functions
    return (
        *port_functions.operators(partition.multus, cluster, partition.pins, partition.placement, partition.nodes),
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
        # The RDMA device moves into the pod and is visible only in the pod.
        **given(rdmaIsolation=any(kind.rdma_exclusive for kind in partition.with_functions) or None),
        "ipam": {},
    }
    return port_functions.attachment(name, config, RESOURCE, cluster, tenant)


def _daemon(partition: Partition, cluster: str, tenant: str) -> Manifest:
    name = daemon_on(partition.fabric.name)
    labels = {keys.TENANT: tenant, keys.CLUSTER: cluster, keys.FABRIC: partition.fabric.name}
    settings = {
        "KUBECONFIG": f"{_KUBECONFIG}/value",
        "POD_NAMESPACE": "kube-system",  # This namespace contains the lease in the tenant's cluster.
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
        "securityContext": dict(UNPRIVILEGED),
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
            "strategy": {"type": "Recreate"},  # Two instances would assign the same GUIDs.
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    )


def daemon_on(fabric: str) -> str:
    """Return the name of the Deployment of ib-kubernetes for ``fabric``."""
    return f"{DAEMON}-{fabric}"


def attachment_of(fabric: str) -> str:
    """Return the reference with which a pod requests the network attachment of ``fabric``."""
    return port_functions.attachment_annotation(fabric)


def _octets(guid: int) -> str:
    return guid.to_bytes(8).hex(":")
