"""What NVIDIA's IPAM does: each node gets a block of each pool that chooses it, and its pods addresses of the block.

The controller does what Mellanox/nvidia-k8s-ipam:pkg/ipam-controller/controllers/ippool/ippool.go does, once the
manifests are applied: blocks stay with their nodes, and come free with them. What answers the plugin on a node is
NVIPAM:pkg/ipam-node/handlers/allocate.go, which knows the pools of its own namespace and the block of its own node.
What is given out stands on the pods, where Multus writes it, instead of in a file of the node. The lowest address of
the block that is free is given; upstream goes round. Exclusions, CIDRPools and addresses that a pod asks for are left
out, since nothing renders them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv4Network

from jacquard.lab.rehearsal.operators.events import warning
from jacquard.lab.rehearsal.operators.hosts import agents
from jacquard.lab.rehearsal.operators.view import Object, View, owner
from jacquard.providers.kube.objects import dig

POOL = ("nv-ipam.nvidia.com/v1alpha1", "IPPool")
NETWORK_STATUS = "k8s.v1.cni.cncf.io/network-status"
"""Annotation in which Multus says what a pod got."""
_CHART = "nv-ipam"
_POOL_TYPE = "ippool"
_POINT_TO_POINT = 31
"""Length from which on a subnet has neither an address of its own nor a broadcast."""
_OPERATORS: dict[str, Callable[[str | None, list[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
}


class NoAddress(Exception):  # noqa: N818 - what the plugin says last
    """A pod gets no address of a pool, and why."""


class Blocks:
    """The controllers of all clusters; it remembers what it has told of which pool."""

    def __init__(self) -> None:
        self._told: dict[str, list[tuple[str, str]]] = {}

    def reconcile(self, management: View, cluster: str, view: View) -> None:
        """Give each node of a cluster its blocks, where the IPAM is installed."""
        namespaces = {
            release["spec"]["targetNamespace"]
            for agent, release in agents.installed(management, cluster)
            if agent is agents.AGENTS[_CHART]
        }
        for pool in view.all(*POOL) if namespaces else ():
            if pool["metadata"]["namespace"] in namespaces:
                self._give(view, pool)

    def _give(self, view: View, pool: Object) -> None:
        invalid = "; ".join(_invalid(pool["spec"]))
        nodes = [] if invalid else sorted(_chosen(view, pool["spec"].get("nodeSelector")))
        blocks = _blocks(pool, nodes)
        wanted = [{"nodeName": node, "startIP": first, "endIP": last} for node, (first, last) in blocks.items()]
        if (dig(pool, "status", "allocations") or []) != wanted:
            view.status(pool, {"allocations": wanted})
        without = [("NoFreeRanges", f"failed to allocate IPs on Node: {node}") for node in nodes if node not in blocks]
        told = [("InvalidSpec", invalid)] if invalid else without
        if told != self._told.get(pool["metadata"]["uid"], []):
            self._told[pool["metadata"]["uid"]] = told
            for reason, message in told:
                view.create(warning(pool, reason, message, component="IPPoolController"))


class Addresses:
    """What answers the plugin on the nodes of one cluster, in one round."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._held: dict[str, set[str]] = {}
        """Addresses that pods have, by node."""
        self._given: list[tuple[str, str]] = []
        """Node and address of each that is neither kept nor taken back yet."""
        self._daemons: dict[str, str] = {}
        """Namespace of what answers, by node."""
        for pod in view.all("v1", "Pod"):
            node = dig(pod, "spec", "nodeName") or ""
            if owner(pod, "DaemonSet") == agents.AGENTS[_CHART].name and dig(pod, "status", "phase") == "Running":
                self._daemons[node] = pod["metadata"]["namespace"]
            self._held.setdefault(node, set()).update(_addresses_of(pod))

    def give(self, node: str, pool: str, pool_type: str = _POOL_TYPE) -> str:
        """Return an address of ``pool`` for a pod of ``node``, which nobody else gets unless it is taken back.

        Raises:
            NoAddress: There is none, in the plugin's words.
        """
        namespace = self._daemons.get(node)
        if namespace is None:
            msg = f'failed to find plugin "{_CHART}" in path [/opt/cni/bin]'
            raise NoAddress(msg)
        found = self._view.find(*POOL, pool, namespace) if pool_type == _POOL_TYPE else None
        named = f'pool "{pool}", poolType "{pool_type}"'
        blocks = {one["nodeName"]: one for one in dig(found, "status", "allocations") or ()}
        if found is None or node not in blocks:
            msg = f"grpc call failed: rpc error: code = NotFound desc = configuration for {named} not found"
            raise NoAddress(msg)
        held = self._held.setdefault(node, set())
        first, last = (int(IPv4Address(blocks[node][key])) for key in ("startIP", "endIP"))
        every = (str(IPv4Address(number)) for number in range(first, last + 1))
        address = next((one for one in every if one not in held and one != found["spec"].get("gateway")), None)
        if address is None:
            msg = f"grpc call failed: rpc error: code = ResourceExhausted desc = no free addresses in the {named}"
            raise NoAddress(msg)
        held.add(address)
        self._given.append((node, address))
        return address

    def keep(self) -> None:
        """Leave a pod what was given since the last one."""
        self._given = []

    def take_back(self) -> None:
        """Take back what was given since the last pod, as Multus does of a pod that does not get all its networks."""
        for node, address in self._given:
            self._held[node].discard(address)
        self._given = []


def _addresses_of(pod: Object) -> Iterator[str]:
    """Yield what a pod has of pools: nothing before it has its networks, nor once it has ended."""
    conditions = dig(pod, "status", "conditions") or ()
    made = any(one["type"] == "PodReadyToStartContainers" and one["status"] == "True" for one in conditions)
    text = (pod["metadata"].get("annotations") or {}).get(NETWORK_STATUS)
    if text and made and dig(pod, "status", "phase") not in {"Succeeded", "Failed"}:
        for network in json.loads(text):
            yield from network.get("ips") or ()


def _invalid(spec: Object) -> Iterator[str]:
    """Yield what the controller refuses of a pool (NVIPAM:api/v1alpha1/ippool_validate.go)."""
    size, gateway = spec.get("perNodeBlockSize", 0), spec.get("gateway")
    try:
        subnet = IPv4Network(spec["subnet"], strict=False)
    except ValueError:
        yield f'spec.subnet: Invalid value: "{spec["subnet"]}": is invalid subnet'
        return
    if size < 1:
        yield f"spec.perNodeBlockSize: Invalid value: {size}: must be at least 1"
    elif size > subnet.num_addresses - (0 if subnet.prefixlen >= _POINT_TO_POINT else 2):
        yield f"spec.perNodeBlockSize: Invalid value: {size}: is larger then amount of IPs available in the subnet"
    if gateway and IPv4Address(gateway) not in subnet:
        yield f'spec.gateway: Invalid value: "{gateway}": is not part of the subnet'
    if spec.get("routes") and not gateway:
        yield f"spec.routes: Invalid value: {json.dumps(spec['routes'])}: cannot be set if spec.gateway is not set"


def _chosen(view: View, selector: Object | None) -> Iterator[str]:
    """Yield the names of the nodes that a selector of nodes matches; every node's without one."""
    for node in view.all("v1", "Node"):
        labels = node["metadata"].get("labels") or {}
        terms = [term["matchExpressions"] for term in dig(selector, "nodeSelectorTerms") or ()]
        if selector is None or any(all(_matches(labels, rule) for rule in term) for term in terms):
            yield node["metadata"]["name"]


def _matches(labels: dict[str, str], rule: Object) -> bool:
    return _OPERATORS[rule["operator"]](labels.get(rule["key"]), rule.get("values") or [])


def _blocks(pool: Object, nodes: list[str]) -> dict[str, tuple[str, str]]:
    """Return first and last address of the block of each of ``nodes``, as long as there are any.

    A node keeps what it has if that is a block of the pool as it is now, as in NVIPAM:pkg/ipam-controller/allocator.
    """
    every = list(_cut(pool["spec"])) if nodes else []
    kept = {
        one["nodeName"]: (one["startIP"], one["endIP"])
        for one in dig(pool, "status", "allocations") or ()
        if one["nodeName"] in nodes and (one["startIP"], one["endIP"]) in every
    }
    free = (block for block in every if block not in set(kept.values()))
    found = {node: kept.get(node) or next(free, None) for node in nodes}
    return {node: block for node, block in found.items() if block is not None}


def _cut(spec: Object) -> Iterator[tuple[str, str]]:
    """Yield first and last address of each block of a subnet, but for its own address and its broadcast."""
    subnet, size = IPv4Network(spec["subnet"], strict=False), spec["perNodeBlockSize"]
    edge = 0 if subnet.prefixlen >= _POINT_TO_POINT else 1
    begin, end = int(subnet.network_address) + edge, int(subnet.broadcast_address) - edge
    for first in range(begin, end - size + 2, size):
        if size > 1 or str(IPv4Address(first)) != spec.get("gateway"):
            yield str(IPv4Address(first)), str(IPv4Address(first + size - 1))
