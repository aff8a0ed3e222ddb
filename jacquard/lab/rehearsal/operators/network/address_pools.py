"""Simulated IPAM of NVIDIA: a node gets a block of each pool that selects the node, and its pods get addresses of it.

The controller acts like Mellanox/nvidia-k8s-ipam:pkg/ipam-controller/controllers/ippool/ippool.go after its manifests
are applied: nodes keep their blocks, which are released with the nodes. The node agent acts like
NVIPAM:pkg/ipam-node/handlers/allocate.go: it uses the pools of its namespace and the block of its node. Assigned
addresses are read from the annotations that Multus writes on pods, instead of a file on the node. The lowest free
address of the block is assigned; upstream assigns the next one. Exclusions, CIDRPools and addresses requested by pods
are not supported, because they are not rendered.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network

from jacquard.lab.rehearsal.operators.events import warning
from jacquard.lab.rehearsal.operators.hosts import agents
from jacquard.lab.rehearsal.operators.view import Object, View, owner
from jacquard.providers.kube.objects import dig

POOL = ("nv-ipam.nvidia.com/v1alpha1", "IPPool")
NETWORK_STATUS = "k8s.v1.cni.cncf.io/network-status"
"""Annotation in which Multus reports the networks of a pod."""
_CHART = "nv-ipam"
_POOL_TYPE = "ippool"
_POINT_TO_POINT = 31
"""Prefix length from which a subnet has no network and broadcast address."""
_OPERATORS: dict[str, Callable[[str | None, list[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
}


class NoAddress(Exception):  # noqa: N818 - the last message of the plugin
    """A pod gets no address of a pool; the message contains the reason."""


class Blocks:
    """The controllers of all clusters, with the reported problems of each pool."""

    def __init__(self) -> None:
        self._reported: dict[str, list[tuple[str, str]]] = {}

    def reconcile(self, management: View, cluster: str, view: View) -> None:
        """Assign the blocks of a cluster to its nodes, if the IPAM is installed."""
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
        problems = [("InvalidSpec", invalid)] if invalid else without
        if problems != self._reported.get(pool["metadata"]["uid"], []):
            self._reported[pool["metadata"]["uid"]] = problems
            for reason, message in problems:
                view.create(warning(pool, reason, message, component="IPPoolController"))


class Addresses:
    """The node agents of one cluster during one round."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._used: dict[str, set[str]] = {}
        """Addresses of pods, by node."""
        self._blocks: dict[str, dict[str, Object]] = {}
        """Blocks by UID of the pool and name of the node."""
        self._pending: list[tuple[str, str]] = []
        """Node and address of each assignment that is neither confirmed nor released yet."""
        self._daemons: dict[str, str] = {}
        """Namespace of the node agent, by node."""
        for pod in view.all("v1", "Pod"):
            node = dig(pod, "spec", "nodeName") or ""
            if owner(pod, "DaemonSet") == agents.AGENTS[_CHART].name and dig(pod, "status", "phase") == "Running":
                self._daemons[node] = pod["metadata"]["namespace"]
            self._used.setdefault(node, set()).update(_addresses_of(pod))

    def give(self, node: str, pool: str, pool_type: str = _POOL_TYPE) -> str:
        """Return an address of ``pool`` for a pod of ``node``; the address is reserved until its release.

        Raises:
            NoAddress: No address is free; the message is the plugin's message.
        """
        namespace = self._daemons.get(node)
        if namespace is None:
            msg = f'failed to find plugin "{_CHART}" in path [/opt/cni/bin]'
            raise NoAddress(msg)
        body = self._view.find(*POOL, pool, namespace) if pool_type == _POOL_TYPE else None
        named = f'pool "{pool}", poolType "{pool_type}"'
        block = self._blocks_of(body).get(node) if body else None
        if body is None or block is None:
            msg = f"grpc call failed: rpc error: code = NotFound desc = configuration for {named} not found"
            raise NoAddress(msg)
        used = self._used.setdefault(node, set())
        first, last = (int(IPv4Address(block[key])) for key in ("startIP", "endIP"))
        addresses = (str(IPv4Address(number)) for number in range(first, last + 1))
        gateway = body["spec"].get("gateway")
        address = next((candidate for candidate in addresses if candidate not in used and candidate != gateway), None)
        if address is None:
            msg = f"grpc call failed: rpc error: code = ResourceExhausted desc = no free addresses in the {named}"
            raise NoAddress(msg)
        used.add(address)
        self._pending.append((node, address))
        return address

    def _blocks_of(self, pool: Object) -> Mapping[str, Object]:
        """Return the blocks of a pool by node, which are the same for all pods of the round."""
        uid = pool["metadata"]["uid"]
        if uid not in self._blocks:
            self._blocks[uid] = {block["nodeName"]: block for block in dig(pool, "status", "allocations") or ()}
        return self._blocks[uid]

    def keep(self) -> None:
        """Keep the pending assignments of a pod."""
        self._pending = []

    def take_back(self) -> None:
        """Release the pending assignments, like Multus if a pod does not get all its networks."""
        for node, address in self._pending:
            self._used[node].discard(address)
        self._pending = []


def _addresses_of(pod: Object) -> Iterator[str]:
    """Yield the addresses of a pod; none before the networks are attached, and none after the pod has ended."""
    conditions = dig(pod, "status", "conditions") or ()
    types = {condition["type"] for condition in conditions if condition["status"] == "True"}
    text = (pod["metadata"].get("annotations") or {}).get(NETWORK_STATUS)
    if text and "PodReadyToStartContainers" in types and dig(pod, "status", "phase") not in {"Succeeded", "Failed"}:
        for network in json.loads(text):
            yield from network.get("ips") or ()


def _invalid(spec: Object) -> Iterator[str]:
    """Yield the controller's validation errors of a pool (NVIPAM:api/v1alpha1/ippool_validate.go)."""
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
    """Yield the names of the nodes that a node selector matches; all nodes without a selector."""
    for node in view.all("v1", "Node"):
        labels = node["metadata"].get("labels") or {}
        terms = [term["matchExpressions"] for term in dig(selector, "nodeSelectorTerms") or ()]
        if selector is None or any(all(_matches(labels, rule) for rule in term) for term in terms):
            yield node["metadata"]["name"]


def _matches(labels: dict[str, str], rule: Object) -> bool:
    return _OPERATORS[rule["operator"]](labels.get(rule["key"]), rule.get("values") or [])


def _blocks(pool: Object, nodes: list[str]) -> dict[str, tuple[str, str]]:
    """Return first and last address of the block of each of ``nodes``; nodes without a free block are omitted.

    A node keeps its block if it is a block of the current pool, as in NVIPAM:pkg/ipam-controller/allocator.
    """
    blocks = dict.fromkeys(_divided(pool["spec"])) if nodes else {}
    present = set(nodes)
    kept = {
        block["nodeName"]: (block["startIP"], block["endIP"])
        for block in dig(pool, "status", "allocations") or ()
        if block["nodeName"] in present and (block["startIP"], block["endIP"]) in blocks
    }
    used = set(kept.values())
    free = (block for block in blocks if block not in used)
    assigned = {node: kept.get(node) or next(free, None) for node in nodes}
    return {node: block for node, block in assigned.items() if block is not None}


def _divided(spec: Object) -> Iterator[tuple[str, str]]:
    """Yield first and last address of each block of a subnet, without network and broadcast address."""
    subnet, size = IPv4Network(spec["subnet"], strict=False), spec["perNodeBlockSize"]
    edge = 0 if subnet.prefixlen >= _POINT_TO_POINT else 1
    begin, end = int(subnet.network_address) + edge, int(subnet.broadcast_address) - edge
    for first in range(begin, end - size + 2, size):
        if size > 1 or str(IPv4Address(first)) != spec.get("gateway"):
            yield str(IPv4Address(first)), str(IPv4Address(first + size - 1))
