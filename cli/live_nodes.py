"""Reads what the nodes of a region are, from Nodes and their hosts, in the words of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cli.objects import Object, dig, key
from cli.observe import Observation
from components.plan.uniformity import LiveNode
from components.render.labels import NODE_IMAGE
from components.specs.environment import Environment

MANAGEMENT_KINDS = (
    ("metal3.io/v1alpha1", "BareMetalHost"),
    ("metal3.io/v1alpha1", "HostFirmwareSettings"),
    ("metal3.io/v1alpha1", "HostFirmwareComponents"),
)
TENANT_KINDS = (("v1", "Node"),)
_POOL = "node-restriction.kubernetes.io/pool"
_FAILURE_DOMAIN = "node-restriction.kubernetes.io/failure-domain"
_DRIVER = "nvidia.com/cuda.driver-version.full"
"""Set by GPU feature discovery."""
_PROVIDER = "metal3://"
_FLAVOUR = "-generic"
"""Of Ubuntu's kernel; the data leaves it out."""


def live_nodes(environment: Environment, seen: Observation) -> list[LiveNode]:
    """Return the nodes of all pools, each with what it and its host report."""
    hosts = {kind: {key(body): body for body in seen.of(kind)} for _, kind in MANAGEMENT_KINDS}
    clusters = [cluster.name for tenant in environment.tenants for cluster in tenant.clusters]
    return [
        _live_node(cluster, node, hosts)
        for cluster in clusters
        for node in seen.of("Node", cluster)
        if dig(node, "metadata", "labels", _POOL)
    ]


def _live_node(cluster: str, node: Object, hosts: Mapping[str, Mapping[tuple[str, str], Object]]) -> LiveNode:
    labels, place = node["metadata"]["labels"], _host(node)
    reports = {kind: bodies[place] for kind, bodies in hosts.items() if place and place in bodies}
    return LiveNode(
        cluster=cluster,
        name=key(node)[1],
        pool=labels[_POOL],
        failure_domain=labels.get(_FAILURE_DOMAIN, ""),
        host=place[1] if place else None,
        values=dict(_of_node(node)) | dict(_of_host(reports)),
    )


def _host(node: Object) -> tuple[str, str] | None:
    """Return namespace and name of the host of ``node``, as Metal3's provider writes them down."""
    text = str(dig(node, "spec", "providerID") or "")
    parts = text.removeprefix(_PROVIDER).split("/")
    return (parts[0], parts[1]) if text.startswith(_PROVIDER) and len(parts) > 1 else None


def _of_node(node: Object) -> Iterator[tuple[str, str]]:
    labels, info = dig(node, "metadata", "labels") or {}, dig(node, "status", "nodeInfo") or {}
    if NODE_IMAGE in labels:
        yield "image", labels[NODE_IMAGE]
    if info.get("kernelVersion"):
        yield "kernel", info["kernelVersion"].removesuffix(_FLAVOUR)
    if info.get("kubeletVersion"):
        yield "kubelet", info["kubeletVersion"]
    if info.get("containerRuntimeVersion"):
        yield "containerd", info["containerRuntimeVersion"].removeprefix("containerd://")
    if _DRIVER in labels:
        yield "gpu_driver", labels[_DRIVER]


def _of_host(reports: Mapping[str, Object]) -> Iterator[tuple[str, str]]:
    """Yield what a host reports; of several components of a kind, all versions there are."""
    image = dig(reports.get("BareMetalHost"), "status", "provisioning", "image", "checksum")
    if image:
        yield "image_sha256", str(image)
    settings = dig(reports.get("HostFirmwareSettings"), "status", "settings") or {}
    yield from ((f"bios.{name}", str(value)) for name, value in settings.items())
    versions: dict[str, set[str]] = {}
    for entry in dig(reports.get("HostFirmwareComponents"), "status", "components") or []:
        component = str(entry["component"]).partition(":")[0]
        versions.setdefault(component, set()).add(str(entry.get("currentVersion") or entry["initialVersion"]))
    for component, numbers in versions.items():
        shown = ", ".join(sorted(numbers))
        yield f"firmware.{component}", shown
        if component == "nic":
            yield "nic_firmware", shown
