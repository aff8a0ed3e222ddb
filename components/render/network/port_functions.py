"""Virtual functions of ports for pods, whatever the ports' link: who hands them out, and how pods name their network.

NVIDIA's Network Operator brings the SR-IOV operator and Multus. A policy offers the functions of an instance type's
ports as one resource, and a pod that names a network attachment gets a function of the resource by its plug-ins.

Golden images make the functions, as many as the instance type says. The SR-IOV operator only hands them out, so it
neither drains nor reboots a node. Node Feature Discovery finds the adapters: it is an add-on of the cluster, since
other operators need it too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.network.device_plugins import ADAPTERS, VENDOR, fetched
from components.render.objects import given, manifest, namespace
from components.render.region.kustomizations import ByManifests, installed_in
from components.render.region.operators import Operator
from components.specs.hosts.instance_types import InstanceType
from components.specs.region.versions import Chart, Tool

CHART = "network-operator"
NAMESPACE = "network-operator"
MULTUS = "multus-cni"
"""Image that is needed among the tools of the version vector."""
NETWORKS = "k8s.v1.cni.cncf.io/networks"
"""Annotation by which a pod asks for a network attachment."""
ATTACHMENTS = "default"
"""Namespace of attachments, which pods of all namespaces may name."""
OPERATOR = Operator(
    chart=CHART,
    namespace=NAMESPACE,
    values={
        "nfd": {"enabled": False},
        "sriovNetworkOperator": {"enabled": True},
        # Its configuration is ours: the chart's own wants nodes with a label that ours do not have.
        "sriov-network-operator": {"sriovOperatorConfig": {"deploy": False}},
    },
)
"""The Network Operator with the one that hands out functions, and nothing that finds adapters."""
_OF_RESOURCE = "k8s.v1.cni.cncf.io/resourceName"
"""Annotation by which an attachment says of which resource the pod's devices are."""
_SRIOV = "sriovnetwork.openshift.io/v1"


def operators(
    multus: Tool,
    cluster: str,
    pins: Mapping[str, Chart],
    *,
    beside: Iterable[Operator] = (),
    by_manifests: ByManifests | None = None,
) -> Iterator[Manifest]:
    """Yield what hands out functions in ``cluster``, and what each part of it does.

    Args:
        multus: the image that reads what network a pod names.
        cluster: where it is installed.
        pins: releases of charts that are pinned for the cluster, by chart.
        beside: operators of the same namespace that attachments need as well.
        by_manifests: which of those come by manifests; none does when it is left out.
    """
    yield namespace(NAMESPACE, cluster=cluster)
    yield from installed_in((OPERATOR, *beside), by_manifests or ByManifests(), cluster, pins)
    yield _operator_parts(multus, cluster)
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
    """Return what offers functions of the ports of ``kind`` to pods.

    Args:
        kind: instance type of the nodes.
        cluster: where the nodes are.
        name: of the policy.
        link: what the ports speak, ``ib`` or ``eth``.
        resource: name by which pods ask for a function, behind the prefix that the operator puts before it.
        ports: interfaces whose functions are offered; those of all ports of the adapter when it is empty.
        mtu: MTU of the functions in bytes; the operator leaves it alone when it is left out.
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
    """Return how pods of ``tenant`` name a network: ``config`` is done for each that has a device of ``resource``."""
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


def attachment_called(name: str) -> str:
    """Return how a pod writes the attachment ``name`` in its annotation `NETWORKS`."""
    return f"{ATTACHMENTS}/{name}"


def _operator_parts(multus: Tool, cluster: str) -> Manifest:
    """Return which parts the operator runs: drivers are in the golden image, and UFM is not for tenants."""
    return manifest(
        "mellanox.com/v1alpha1",
        "NicClusterPolicy",
        "nic-cluster-policy",  # the only name that the operator looks for
        cluster=cluster,
        spec={"secondaryNetwork": {"multus": fetched(multus)}},
    )


def _functions_operator(cluster: str) -> Manifest:
    """Return what the SR-IOV operator does: it hands out functions that images made, and drains no node."""
    return manifest(
        _SRIOV,
        "SriovOperatorConfig",
        "default",  # the only name that the operator looks for
        namespace=NAMESPACE,
        cluster=cluster,
        spec={
            "configDaemonNodeSelector": {"kubernetes.io/os": "linux"},
            "disableDrain": True,
            "enableInjector": False,
            "enableOperatorWebhook": False,
        },
    )
