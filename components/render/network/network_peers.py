"""Peers of NetworkPolicies: namespaces, addresses and endpoints of data stores."""

from collections.abc import Iterable, Mapping
from typing import Any

from components.render import labels as keys
from components.render.namespaces import NAME_LABEL
from components.render.objects import given
from components.specs.base import Address, Network
from components.specs.region.region import NetworksSpec

Peer = Mapping[str, Any]
_ANYWHERE = Network("0.0.0.0/0")
_JOB = "batch.kubernetes.io/job-name"
"""Label that Kubernetes sets on each pod of a Job."""
"""Label that Kubernetes sets on each namespace."""
_SERVICE = "svc"


def _expression(key: str, operator: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator}]}


SAME_NAMESPACE: Peer = {"podSelector": {}}
ALL_PODS: Peer = {"namespaceSelector": {}}
CONTROL_PLANES: Peer = {"namespaceSelector": _expression(keys.CLUSTER, "Exists")}
"""Pods of the control planes of all clusters."""
ALL_OTHERS: Peer = {"namespaceSelector": _expression(keys.CLUSTER, "DoesNotExist")}
"""Pods of the management cluster that do not belong to a control plane."""
JOBS = _expression(_JOB, "Exists")
"""Selector of pods of Jobs."""
FABRIC_DAEMONS = _expression(keys.FABRIC, "Exists")
"""Selector of pods that manage partition members in a fabric manager."""
SERVERS = _expression(_JOB, "DoesNotExist")
"""Selector of long-running pods."""


def in_namespace(name: str) -> Peer:
    """Return the peer for all pods of namespace ``name``."""
    return {"namespaceSelector": {"matchLabels": {NAME_LABEL: name}}}


def within(network: Network | Address) -> Peer:
    """Return the peer for ``network`` or a single address."""
    return {"ipBlock": {"cidr": str(Network(network))}}


def anywhere(*hidden: Network) -> Peer:
    """Return the peer for all addresses except ``hidden``.

    Whether the peer includes pod addresses depends on the CNI. Rules that must include pods also list these pods, and
    pods that must not be reachable have ingress rules.
    """
    return {"ipBlock": {"cidr": str(_ANYWHERE), **given(**{"except": [str(network) for network in hidden]})}}


def incoming(*peers: Peer, ports: Iterable[int] = ()) -> dict[str, Any]:
    """Return the ingress rule that allows ``peers``, on TCP ``ports`` or on all ports."""
    return {"from": list(peers), **_on(ports)}


def outgoing(*peers: Peer, ports: Iterable[int] = (), protocols: Iterable[str] = ("TCP",)) -> dict[str, Any]:
    """Return the egress rule that allows ``peers``, on ``ports`` of ``protocols`` or on all ports."""
    return {"to": list(peers), **_on(ports, protocols)}


def namespace_of(endpoint: str) -> str | None:
    """Return the namespace of the Service in ``endpoint`` (host and port); None for another host."""
    labels = endpoint.rpartition(":")[0].split(".")
    place = labels.index(_SERVICE) if _SERVICE in labels else 0
    return labels[place - 1] if place > 1 else None


def port_of(endpoint: str) -> int:
    """Return the port of ``endpoint``."""
    return int(endpoint.rpartition(":")[2])


def serving(endpoint: str, networks: NetworksSpec) -> Peer:
    """Return the peer for ``endpoint``: pods of a namespace, an address, or all addresses for any other host name.

    NetworkPolicies do not support host names, so the rule allows all addresses except tenants, DPU loopbacks and BMCs.
    """
    if namespace := namespace_of(endpoint):
        return in_namespace(namespace)
    try:
        return within(Address(endpoint.rpartition(":")[0]))
    except ValueError:
        return anywhere(networks.bmc, networks.dpu_loopbacks, networks.tenants)


def _on(ports: Iterable[int], protocols: Iterable[str] = ("TCP",)) -> dict[str, Any]:
    named = [{"protocol": protocol, "port": port} for port in dict.fromkeys(ports) for protocol in protocols]
    return given(ports=named)
