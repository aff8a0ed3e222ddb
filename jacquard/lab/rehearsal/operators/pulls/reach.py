"""Reachability of an address from a node, from the objects that its DPU's services get.

- *HBN:* the first rule that matches in an access list of the host's port decides; without a match, packets are dropped
  (NVUE). Only TCP packets that the host sends are judged. Routes of the network edge are in no object.
- *OVN on DPUs:* the DPUVirtualNetwork of the host's function must be externally routed.
- *All other nodes* are not filtered: NetworkPolicies and rules of Kube-OVN subnets do not apply to hosts.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network
from typing import Any, TypeAlias

import yaml

from jacquard.lab.rehearsal.operators.hosts.claims import selects
from jacquard.lab.rehearsal.operators.network.dpus import API, DEPLOYMENT_LABEL, SERVICES
from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.providers.kube.objects import dig

UNKNOWN = IPv4Address("192.0.2.1")
"""Example of an address that no object names, such as of a public registry; reserved for documentation (RFC 5737)."""
_TEMPLATE = re.compile(r"\{\{.*?\}\}")
_UNRESOLVED = "X"
"""Replaces a placeholder, such as the address of the DPU itself in a rule."""
_ANYWHERE = "0.0.0.0/0"
_Rules: TypeAlias = tuple[tuple[Mapping[str, Any], bool], ...]
"""Matches in order, each with whether it permits packets."""


class Reach:
    """Networks of hosts with DPUs in one round."""

    def __init__(self, management: View) -> None:
        """Read the objects of the management cluster."""
        self._view = management
        self._dpus = {dpu["spec"]["dpuNodeName"]: dpu for dpu in management.all(API, "DPU")}

    def network(self, host: str) -> str:
        """Return an identity of the network of ``host``: hosts with the same one reach the same addresses."""
        return _label(self._dpus[host]) if host in self._dpus else ""

    def reaches(self, host: str, address: IPv4Address, port: int) -> bool:
        """Return whether TCP packets from ``host`` to ``port`` of ``address`` leave its network."""
        if host not in self._dpus:
            return True
        lists = [rules for text in self._configurations(host) for rules in access_lists(text)]
        permitted = all(_permits(rules, address, port) for rules in lists)
        return permitted and all(_carries(network, address) for network in self._virtual_networks(host))

    def _configurations(self, host: str) -> Iterator[str]:
        """Yield the startup configurations of the services on the DPU of ``host``."""
        namespace, _, name = _label(self._dpus[host]).partition("_")
        deployment = self._view.find(SERVICES, "DPUDeployment", name, namespace)
        for service in (dig(deployment, "spec", "services") or {}).values():
            config = self._view.find(
                SERVICES, "DPUServiceConfiguration", service.get("serviceConfiguration"), namespace
            )
            values = dig(config, "spec", "serviceConfiguration", "helmChart", "values")
            text = dig(values, "configuration", "startupYAMLJ2")
            if text:
                yield str(text)

    def _virtual_networks(self, host: str) -> Iterator[Object]:
        labels = self._dpus[host]["metadata"].get("labels") or {}
        for interface in self._view.all(SERVICES, "DPUServiceInterface"):
            spec = dig(interface, "spec", "template", "spec") or {}
            name = dig(spec, "template", "spec", "pf", "virtualNetwork")
            if name and selects(spec.get("nodeSelector") or {}, labels):
                network = self._view.find(_VPC, "DPUVirtualNetwork", name, interface["metadata"]["namespace"])
                if network is not None:
                    yield network


_VPC = "vpc.dpu.nvidia.com/v1alpha1"


@lru_cache(maxsize=64)
def access_lists(startup: str) -> tuple[_Rules, ...]:
    """Return the access lists for packets that the host sends, from a startup configuration of HBN."""
    documents = yaml.load(_TEMPLATE.sub(_UNRESOLVED, startup), yaml.CSafeLoader)
    settings: Mapping[str, Any] = next((document["set"] for document in documents if "set" in document), {})
    bound = [
        name
        for interface in (settings.get("interface") or {}).values()
        for name, ways in (interface.get("acl") or {}).items()
        if "inbound" in (ways or {})
    ]
    lists = settings.get("acl") or {}
    return tuple(_in_order(lists[name].get("rule") or {}) for name in bound if name in lists)


def _in_order(rules: Mapping[str, Any]) -> _Rules:
    ordered = sorted(rules.items(), key=lambda item: int(item[0]))
    return tuple((rule.get("match") or {}, "permit" in rule["action"]) for _, rule in ordered)


def _permits(rules: _Rules, address: IPv4Address, port: int) -> bool:
    return next((permits for match, permits in rules if _matches(match, address, port)), False)


def _matches(match: Mapping[str, Any], address: IPv4Address, port: int) -> bool:
    """Return whether ``match`` matches the first packet of a connection to ``port`` of ``address``."""
    packet: Mapping[str, Any] = match.get("ip") or {}
    ports: Mapping[str, Any] = packet.get("tcp") or {}
    listed = ports.get("dest-port")
    destination = packet.get("dest-ip", _ANYWHERE)
    return (
        # No registry is at the address of a DPU.
        not destination.startswith(_UNRESOLVED)
        and address in IPv4Network(destination)
        and packet.get("protocol", "tcp") == "tcp"
        and "new" in match.get("conntrack", ("new",))
        # The source port of a new connection is in no rule.
        and "source-port" not in ports
        and (listed is None or str(port) in {str(number) for number in listed})
    )


def _carries(network: Object, address: IPv4Address) -> bool:
    subnet = dig(network, "spec", "bridgedNetwork", "ipam", "ipv4", "subnet")
    return bool(dig(network, "spec", "externallyRouted")) or (bool(subnet) and address in IPv4Network(subnet))


def _label(dpu: Object) -> str:
    return str((dpu["metadata"].get("labels") or {}).get(DEPLOYMENT_LABEL, ""))
