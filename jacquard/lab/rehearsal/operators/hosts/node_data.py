"""Simulated node metadata of CAPM3 and the IP address manager: addresses from the data template of a machine.

An address claim has the name of the host, so that the pool assigns the preallocated address of this name. Upstream
claims the host first and provisions the host when its data is complete; here, the claim also waits for the data.
"""

import ipaddress
from collections.abc import Iterator
from functools import lru_cache

from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.providers.kube.objects import dig

API = "infrastructure.cluster.x-k8s.io/v1beta2"
POOL = ("ipam.metal3.io/v1alpha1", "IPPool")


def addresses(view: View, machine: Object, host: Object) -> dict[str, str]:
    """Return the addresses in the metadata of the node of ``machine`` on ``host``, by key."""
    namespace, metadata = machine["metadata"].get("namespace"), dig(_template(view, machine), "spec", "metaData")
    entries = dig(metadata, "ipAddressesFromPool") or ()
    by_key = {entry["key"]: _address(view.find(*POOL, entry["name"], namespace), host) for entry in entries}
    return {key: address for key, address in by_key.items() if address}


def lacking(view: View, machine: Object, host: Object) -> str:
    """Return upstream's message for missing data of ``host`` in its data template; empty if the data is complete."""
    return next(_lacking(view, machine, host), "")


def _lacking(view: View, machine: Object, host: Object) -> Iterator[str]:
    template = _template(view, machine)
    for link in dig(template, "spec", "networkData", "links", "ethernets") or ():
        name = dig(link, "macAddress", "fromHostInterface")
        if name and all(nic.get("name") != name for nic in dig(host, "status", "hardware", "nics") or ()):
            yield f"NIC name not found {name}"
    entries = dig(template, "spec", "metaData", "ipAddressesFromPool") or ()
    networks = dig(template, "spec", "networkData", "networks", "ipv4") or ()
    names = [*(entry["name"] for entry in entries), *(network.get("ipAddressFromIPPool") for network in networks)]
    for name in dict.fromkeys(filter(None, names)):
        pool = view.find(*POOL, name, machine["metadata"].get("namespace"))
        if pool is None:
            yield f"IPPool '{name}' not found"
        elif not _address(pool, host):
            yield "Exhausted IP Pools"


def _template(view: View, machine: Object) -> Object | None:
    name = dig(machine, "spec", "dataTemplate", "name")
    return view.find(API, "Metal3DataTemplate", name, machine["metadata"].get("namespace")) if name else None


def _address(pool: Object | None, host: Object) -> str:
    """Return the preallocated address of ``host`` if it is in a range of ``pool``; otherwise an empty string."""
    if pool is None:
        return ""
    claim = f"{host['metadata']['name']}-{pool['metadata']['name']}"
    address = (dig(pool, "spec", "preAllocations") or {}).get(claim)
    ranges = dig(pool, "spec", "pools") or ()
    return address if address and any(_within(address, part) for part in ranges) else ""


def _within(address: str, part: Object) -> bool:
    return _number(part["start"]) <= _number(address) <= _number(part["end"])


# Each round reads the addresses of all nodes, which do not change.
@lru_cache(maxsize=65_536)
def _number(address: str) -> int:
    return int(ipaddress.IPv4Address(address))
