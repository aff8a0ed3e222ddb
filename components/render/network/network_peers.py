"""Whom a NetworkPolicy lets through: by namespace, by address, and by what a data store is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from components.render import labels as keys
from components.render.objects import given
from components.specs.base import Address, Network
from components.specs.region.region import NetworksSpec

Peer = Mapping[str, Any]
_ANYWHERE = Network("0.0.0.0/0")
_JOB = "batch.kubernetes.io/job-name"
"""Label that Kubernetes itself puts on each pod of a Job."""
_NAMESPACE = "kubernetes.io/metadata.name"
"""Label that Kubernetes itself puts on each namespace."""
_SERVICE = "svc"


def _expression(key: str, operator: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator}]}


SAME_NAMESPACE: Peer = {"podSelector": {}}
ALL_PODS: Peer = {"namespaceSelector": {}}
CONTROL_PLANES: Peer = {"namespaceSelector": _expression(keys.CLUSTER, "Exists")}
"""Pods of the control planes of all clusters."""
ALL_OTHERS: Peer = {"namespaceSelector": _expression(keys.CLUSTER, "DoesNotExist")}
"""Pods of the management cluster that are of no control plane."""
JOBS = _expression(_JOB, "Exists")
"""Selector of pods that do something once."""
FABRIC_DAEMONS = _expression(keys.FABRIC, "Exists")
"""Selector of pods that tell a fabric manager who belongs to which partition."""
SERVERS = _expression(_JOB, "DoesNotExist")
"""Selector of pods that stay."""


def in_namespace(name: str) -> Peer:
    """Return the pods of namespace ``name``."""
    return {"namespaceSelector": {"matchLabels": {_NAMESPACE: name}}}


def within(network: Network | Address) -> Peer:
    """Return the addresses of ``network``, or the one."""
    return {"ipBlock": {"cidr": str(Network(network))}}


def anywhere(*hidden: Network) -> Peer:
    """Return all addresses but those ``hidden``.

    Whether an address of a pod is among them depends on the CNI: a rule that means pods names them too, and one that
    must not mean them is met by another at their end.
    """
    return {"ipBlock": {"cidr": str(_ANYWHERE), **given(**{"except": [str(network) for network in hidden]})}}


def incoming(*peers: Peer, ports: Iterable[int] = ()) -> dict[str, Any]:
    """Return the rule that lets ``peers`` in, on TCP ``ports`` or on all."""
    return {"from": list(peers), **_on(ports)}


def outgoing(*peers: Peer, ports: Iterable[int] = (), protocols: Iterable[str] = ("TCP",)) -> dict[str, Any]:
    """Return the rule that lets out to ``peers``, on ``ports`` of ``protocols`` or on all."""
    return {"to": list(peers), **_on(ports, protocols)}


def namespace_of(endpoint: str) -> str | None:
    """Return the namespace of the Service that ``endpoint``, a host and a port, names; None when it names none."""
    labels = endpoint.rpartition(":")[0].split(".")
    place = labels.index(_SERVICE) if _SERVICE in labels else 0
    return labels[place - 1] if place > 1 else None


def port_of(endpoint: str) -> int:
    """Return the port of ``endpoint``."""
    return int(endpoint.rpartition(":")[2])


def serving(endpoint: str, networks: NetworksSpec) -> Peer:
    """Return who answers at ``endpoint``: pods of a namespace, an address, or, by a name that says neither, anybody.

    A policy knows no names: whoever has one is let out to at its port, but for tenants and BMCs.
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
