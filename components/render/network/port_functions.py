"""Virtual functions of InfiniBand and RoCE ports for pods: operators, policies and network attachments.

NVIDIA's Network Operator installs the SR-IOV operator and Multus. A policy offers the functions of an instance type's
ports as one resource. A pod with a network attachment gets a function of the resource through the CNI plug-ins.

Golden images create the functions, in the number specified by the instance type. The SR-IOV operator only assigns
functions to pods and neither drains nor reboots nodes. Node Feature Discovery, an add-on of the cluster that other
operators also require, detects the adapters.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.memory_limits import by_nodes
from components.render.network.device_plugins import ADAPTERS, VENDOR, fetched
from components.render.objects import given, manifest, namespace
from components.render.pod_placement import EVERY_NODE
from components.render.region.kustomizations import ByManifests, installed_in
from components.render.region.operators import Operator
from components.specs.hosts.instance_types import InstanceType
from components.specs.region.versions import Chart, Tool
from components.specs.struct import replace

CHART = "network-operator"
NAMESPACE = "network-operator"
MULTUS = "multus-cni"
"""Image that the version vector must contain."""
CNI_PLUGINS = "cni-plugins"
"""Image of the reference CNI plug-ins, which the operator copies to all nodes."""
NETWORKS = "k8s.v1.cni.cncf.io/networks"
"""Annotation of a pod that requests a network attachment."""
ATTACHMENTS = "default"
"""Namespace of attachments. Pods of all namespaces may refer to these attachments."""
# Hooks before the installation update CRDs, which Flux does, and keep a NicClusterPolicy of the chart, which has none.
_OPERATOR = Operator(chart=CHART, namespace=NAMESPACE, hooks=False)
_OF_RESOURCE = "k8s.v1.cni.cncf.io/resourceName"
"""Annotation of an attachment with the resource of its devices."""
_SRIOV = "sriovnetwork.openshift.io/v1"


def operator(placement: Mapping[str, Any], nodes: int) -> Operator:
    """Return the Network Operator without Node Feature Discovery and other operators, with ``placement``.

    It keeps all pods of the cluster in memory, so its limit follows the maximum number of ``nodes``.
    """
    return replace(
        _OPERATOR,
        values={"nfd": {"enabled": False}, "operator": {**placement, "resources": by_nodes(128, nodes)}},
    )


def operators(
    multus: Tool,
    cluster: str,
    pins: Mapping[str, Chart],
    placement: Mapping[str, Any],
    nodes: int,
    *,
    beside: Iterable[Operator] = (),
    by_manifests: ByManifests | None = None,
    cni_plugins: Tool | None = None,
) -> Iterator[Manifest]:
    """Yield the operators that assign functions in ``cluster``, and their configuration.

    Args:
        multus: image of Multus, which attaches pods to additional networks.
        cluster: cluster of the operators.
        pins: pinned chart releases of the cluster, by chart.
        placement: placement of the platform's services in the cluster.
        nodes: maximum number of nodes of the cluster.
        beside: additional operators in the same namespace that attachments require; their Deployments also get the
            placement.
        by_manifests: operators that are installed from manifests; none by default.
        cni_plugins: image of the reference CNI plug-ins; None if attachments require none of them.
    """
    yield namespace(NAMESPACE, cluster=cluster)
    others = (replace(other, pods=placement) for other in beside)
    yield from installed_in((_with_functions(placement, nodes), *others), by_manifests or ByManifests(), cluster, pins)
    yield _operator_parts(multus, cni_plugins, cluster)
    yield _functions_operator(cluster)


def policy(
    kind: InstanceType,
    cluster: str,
    *,
    name: str,
    link: str,
    resource: str,
    ports: Iterable[str] = (),
    mtu: int | None = None,
) -> Manifest:
    """Return the policy that offers functions of the ports of ``kind`` to pods.

    Args:
        kind: instance type of the nodes.
        cluster: cluster of the nodes.
        name: name of the policy.
        link: link type of the ports, ``ib`` or ``eth``.
        resource: resource name of the functions, without the prefix that the operator adds.
        ports: interfaces whose functions are offered; empty for all ports of the adapter.
        mtu: MTU of the functions in bytes; None to keep the current MTU.
    """
    device = ADAPTERS["" if kind.nics is None else kind.nics.model]
    return manifest(
        _SRIOV,
        "SriovNetworkNodePolicy",
        name,
        namespace=NAMESPACE,
        cluster=cluster,
        spec={
            "nodeSelector": {keys.NODE_INSTANCE_TYPE: kind.name},
            "nicSelector": {"vendor": VENDOR, "deviceID": device, **given(pfNames=[*ports])},
            "deviceType": "netdevice",
            "linkType": link,
            "isRdma": True,
            "externallyManaged": True,
            **given(mtu=mtu),
            "numVfs": kind.dpu.virtual_functions,
            "resourceName": resource,
        },
    )


def attachment(
    name: str,
    config: Mapping[str, Any],
    resource: str,
    cluster: str,
    tenant: str,
    annotations: Mapping[str, str] | None = None,
) -> Manifest:
    """Return the network attachment ``name`` for pods of ``tenant``, which applies ``config`` to a ``resource``."""
    return manifest(
        "k8s.cni.cncf.io/v1",
        "NetworkAttachmentDefinition",
        name,
        namespace=ATTACHMENTS,
        labels={keys.TENANT: tenant},
        annotations={_OF_RESOURCE: resource, **(annotations or {})},
        cluster=cluster,
        spec={"config": json.dumps(config)},
    )


def attachment_annotation(name: str) -> str:
    """Return the value of the pod annotation `NETWORKS` for the attachment ``name``."""
    return f"{ATTACHMENTS}/{name}"


def _with_functions(placement: Mapping[str, Any], nodes: int) -> Operator:
    """Return the Network Operator with the SR-IOV operator."""
    network = operator(placement, nodes)
    values = {
        "sriovNetworkOperator": {"enabled": True},
        # Jacquard renders the configuration, because the chart's default selects nodes by a label that no node has.
        "sriov-network-operator": {"operator": placement, "sriovOperatorConfig": {"deploy": False}},
    }
    return replace(network, values={**network.values, **values})


def _operator_parts(multus: Tool, cni_plugins: Tool | None, cluster: str) -> Manifest:
    """Return the components that the operator runs: no drivers (in the golden image) and no access to UFM.

    By default Multus tolerates no taints of pools: pods there would start without their attachments.
    """
    return manifest(
        "mellanox.com/v1alpha1",
        "NicClusterPolicy",
        "nic-cluster-policy",  # The operator accepts no other name.
        cluster=cluster,
        spec={
            "tolerations": EVERY_NODE,
            "secondaryNetwork": {
                **({} if cni_plugins is None else {"cniPlugins": fetched(cni_plugins)}),
                "multus": fetched(multus),
            },
        },
    )


def _functions_operator(cluster: str) -> Manifest:
    """Return the configuration of the SR-IOV operator, which assigns existing functions and never drains nodes."""
    return manifest(
        _SRIOV,
        "SriovOperatorConfig",
        "default",  # The operator accepts no other name.
        namespace=NAMESPACE,
        cluster=cluster,
        spec={
            "configDaemonNodeSelector": {"kubernetes.io/os": "linux"},
            "disableDrain": True,
            "enableInjector": False,
            "enableOperatorWebhook": False,
        },
    )
