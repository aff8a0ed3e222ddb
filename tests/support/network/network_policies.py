"""Reachability by NetworkPolicies, implemented from the Kubernetes documentation without code of the library.

A pod that no policy of a direction selects is not isolated; a selected pod may use the connections that any of its
policies permits. Both ends must permit a connection. For policies, a pod with the network of its host is an address,
and no policy selects it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Body = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Pod:
    """One end of a connection, with a namespace and an address that the data do not contain."""

    namespace: str
    labels: Mapping[str, str] = field(default_factory=dict)


Address = ipaddress.IPv4Address | ipaddress.IPv6Address
End = Pod | Address


class PolicyModel:
    """Policies and namespaces of one cluster.

    Args:
        objects: NetworkPolicies and Namespaces.
        pods_by_address: Whether an ``ipBlock`` of all addresses includes pods, in which CNIs differ.
    """

    def __init__(self, objects: Iterable[Body], *, pods_by_address: bool) -> None:
        bodies = tuple(objects)
        self._policies = [body for body in bodies if body["kind"] == "NetworkPolicy"]
        self._namespaces = {
            body["metadata"]["name"]: {
                **body["metadata"]["labels"],
                "kubernetes.io/metadata.name": body["metadata"]["name"],
            }
            for body in bodies
            if body["kind"] == "Namespace"
        }
        self._pods_by_address = pods_by_address

    def reaches(self, source: End, target: End, port: int, protocol: str = "TCP") -> bool:
        """Return whether both ends permit a connection from ``source`` to ``target``."""
        return self._lets(source, target, "Egress", (port, protocol)) and self._lets(
            target, source, "Ingress", (port, protocol)
        )

    def _lets(self, own: End, other: End, way: str, port: tuple[int, str]) -> bool:
        """Return whether the policies of ``own`` permit traffic with ``other`` in direction ``way``."""
        if not isinstance(own, Pod):
            return True
        mine = [
            body
            for body in self._policies
            if body["metadata"]["namespace"] == own.namespace
            and way in body["spec"]["policyTypes"]
            and selects(body["spec"]["podSelector"], own.labels)
        ]
        rules = [rule for body in mine for rule in body["spec"].get(way.lower(), ())]
        return not mine or any(self._allows(rule, own, other, way, port) for rule in rules)

    def _allows(self, rule: Body, own: Pod, other: End, way: str, port: tuple[int, str]) -> bool:
        ports = [(one["port"], one["protocol"]) for one in rule.get("ports", ())]
        peers = rule.get("from" if way == "Ingress" else "to", ())
        return (not ports or port in ports) and (not peers or any(self._is(peer, own, other) for peer in peers))

    def _is(self, peer: Body, own: Pod, other: End) -> bool:
        if block := peer.get("ipBlock"):
            whole = ipaddress.ip_network(block["cidr"])
            if isinstance(other, Pod):
                return self._pods_by_address and whole.prefixlen == 0
            return other in whole and all(other not in ipaddress.ip_network(one) for one in block.get("except", ()))
        if not isinstance(other, Pod) or not selects(peer.get("podSelector", {}), other.labels):
            return False
        if "namespaceSelector" not in peer:
            return other.namespace == own.namespace
        return selects(peer["namespaceSelector"], self._namespaces[other.namespace])


def selects(selector: Body, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector selects an object with ``labels``."""
    asked = {"Exists": lambda key: key in labels, "DoesNotExist": lambda key: key not in labels}
    return selector.get("matchLabels", {}).items() <= labels.items() and all(
        asked[one["operator"]](one["key"]) for one in selector.get("matchExpressions", ())
    )
