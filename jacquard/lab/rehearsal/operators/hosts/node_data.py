"""What CAPM3 and the address manager tell a node that is its own: its address, by the data template of its machine.

A claim of an address is called after the host, so that the pool gives what it has under that name and nothing else. In
upstream's way the host is claimed first and gets its image once all is there; here it is claimed then, too.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.providers.kube.objects import dig

API = "infrastructure.cluster.x-k8s.io/v1beta2"
POOL = ("ipam.metal3.io/v1alpha1", "IPPool")


def told(view: View, machine: Object, host: Object) -> dict[str, str]:
    """Return the addresses in the metadata of the node that ``machine`` makes of ``host``, by their keys."""
    namespace, metadata = machine["metadata"].get("namespace"), dig(_template(view, machine), "spec", "metaData")
    entries = dig(metadata, "ipAddressesFromPool") or ()
    found = {entry["key"]: _given(view.find(*POOL, entry["name"], namespace), host) for entry in entries}
    return {key: address for key, address in found.items() if address}


def lacking(view: View, machine: Object, host: Object) -> str:
    """Return what ``host`` lacks of what its data template names, in upstream's words; nothing when all is there."""
    return next(_lacking(view, machine, host), "")


def _lacking(view: View, machine: Object, host: Object) -> Iterator[str]:
    template = _template(view, machine)
    for link in dig(template, "spec", "networkData", "links", "ethernets") or ():
        name = dig(link, "macAddress", "fromHostInterface")
        if name and all(nic.get("name") != name for nic in dig(host, "status", "hardware", "nics") or ()):
            yield f"NIC name not found {name}"
    entries = dig(template, "spec", "metaData", "ipAddressesFromPool") or ()
    networks = dig(template, "spec", "networkData", "networks", "ipv4") or ()
    names = [*(entry["name"] for entry in entries), *(one.get("ipAddressFromIPPool") for one in networks)]
    for name in dict.fromkeys(filter(None, names)):
        pool = view.find(*POOL, name, machine["metadata"].get("namespace"))
        if pool is None:
            yield f"IPPool '{name}' not found"
        elif not _given(pool, host):
            yield "Exhausted IP Pools"


def _template(view: View, machine: Object) -> Object | None:
    name = dig(machine, "spec", "dataTemplate", "name")
    return view.find(API, "Metal3DataTemplate", name, machine["metadata"].get("namespace")) if name else None


def _given(pool: Object | None, host: Object) -> str:
    """Return the address that ``pool`` has under the name of ``host`` and in one of its ranges."""
    if pool is None:
        return ""
    claim = f"{host['metadata']['name']}-{pool['metadata']['name']}"
    address = (dig(pool, "spec", "preAllocations") or {}).get(claim)
    ranges = dig(pool, "spec", "pools") or ()
    return address if address and any(_within(address, one) for one in ranges) else ""


def _within(address: str, part: Object) -> bool:
    one, first, last = map(ipaddress.IPv4Address, (address, part["start"], part["end"]))
    return first <= one <= last
