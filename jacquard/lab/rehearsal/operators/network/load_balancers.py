"""Simulated MetalLB: a Service of type LoadBalancer gets its requested address, or any free address of a pool.

The simulation runs where MetalLB's own controller does not run: in clusters of tenants with another version than the
local program, and in the management cluster, which lacks versions of kinds that the controller requires.
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, summarize_address_range

from jacquard.lab.rehearsal.operators.containers import is_run
from jacquard.lab.rehearsal.operators.view import Object, View, deleting
from jacquard.providers.kube.objects import dig

CONTROLLER = "metallb-controller"
"""Name of the real controller in the toolchain."""
_POOL = ("metallb.io/v1beta1", "IPAddressPool")
_ADDRESSES = ("metallb.io/loadBalancerIPs", "metallb.universe.tf/loadBalancerIPs")
_POOLS = ("metallb.io/address-pool", "metallb.universe.tf/address-pool")


def reconcile(view: View) -> None:
    """Assign addresses to load balancers of a tenant's cluster, unless the real controller runs."""
    if not any(is_run(deployment, CONTROLLER) for deployment in view.all("apps/v1", "Deployment")):
        give(view)


def give(view: View) -> None:
    """Assign an address to each load balancer."""
    services = [service for service in view.all("v1", "Service") if dig(service, "spec", "type") == "LoadBalancer"]
    used = {entry["ip"] for service in services for entry in _ingress(service)}
    for service in services:
        if deleting(service) or _ingress(service):
            continue
        address = next(_candidates(view, service, used), None)
        if address:
            used.add(address)
            view.status(service, {"loadBalancer": {"ingress": [{"ip": address, "ipMode": "VIP"}]}})


def _candidates(view: View, service: Object, used: set[str]) -> Iterator[str]:
    annotations = service["metadata"].get("annotations") or {}
    requested = next((annotations[key] for key in _ADDRESSES if key in annotations), None)
    requested = requested or dig(service, "spec", "loadBalancerIP")
    named = next((annotations[key] for key in _POOLS if key in annotations), None)
    for pool in view.all(*_POOL):
        is_automatic = dig(pool, "spec", "autoAssign") is not False
        if named not in {None, pool["metadata"]["name"]} or not (requested or named or is_automatic):
            continue
        for address in _addresses(pool, requested):
            if address not in used:
                yield address


def _addresses(pool: Object, requested: str | None) -> Iterator[str]:
    for text in dig(pool, "spec", "addresses") or ():
        first, dash, last = (part.strip() for part in text.partition("-"))
        ends = (IPv4Address(first), IPv4Address(last)) if dash else (IPv4Network(first)[0], IPv4Network(first)[-1])
        for network in summarize_address_range(*ends):
            if requested is None:
                yield from map(str, network)
            elif IPv4Address(requested) in network:
                yield requested


def _ingress(service: Object) -> list[Object]:
    return dig(service, "status", "loadBalancer", "ingress") or []
