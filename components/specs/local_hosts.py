"""Recognition of addresses and names that lead a program to its own machine or link instead of a server.

Sources: the special-purpose address registries of IANA (RFC 6890), RFC 6761 for ``localhost``, and the metadata
services of clouds, which return credentials to every program on a machine.
"""

import ipaddress
import re
from collections.abc import Mapping
from typing import TypeAlias

from components.specs.host_text import plain_host

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
_RANGES: Mapping[str, str] = {
    "0.0.0.0/8": "no address of a server",
    "127.0.0.0/8": "a loopback address, the machine of each client itself",
    "169.254.0.0/16": "a link-local address, used by metadata services",
    "224.0.0.0/4": "a multicast address",
    "255.255.255.255/32": "a broadcast address",
    "::/128": "no address of a server",
    "::1/128": "a loopback address, the machine of each client itself",
    "fe80::/10": "a link-local address",
    "ff00::/8": "a multicast address",
    "fd00:ec2::/32": "an address of a metadata service",
    "fd20:ce::/32": "an address of a metadata service",
}
_NETWORKS = {
    version: [
        (int(network.network_address), int(network.broadcast_address), why)
        for text, why in _RANGES.items()
        if (network := ipaddress.ip_network(text)).version == version
    ]
    for version in (4, 6)
}
"""First and last address of each range as numbers, with the reason, by IP version. Numbers are compared quickly."""
_NAMES = re.compile(r"(?:.+\.)?localhost|metadata\.google\.internal")
_HOST = re.compile(r"(?:[^/?#]*://)?(?:[^/?#]*@)?(?:\[(?P<ipv6>[^\]]*)\]|(?P<host>[^/:?#]*))")


def local_address(address: Address) -> str:
    """Return why ``address`` is not an address of a server, such as ``a loopback address``; empty if it may be one."""
    number = int(address)
    return next((why for first, last, why in _NETWORKS[address.version] if first <= number <= last), "")


def local_host(url: str) -> str:
    """Return why the host of ``url``, with or without a scheme, is not a server; empty if it may be one."""
    match = _HOST.match(url)
    text = (match["ipv6"] or match["host"] or "") if match else ""
    host = plain_host(text) or text
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "a name of the machine of each client itself" if _NAMES.fullmatch(host) else ""
    return local_address(address)


def with_server(url: str) -> str:
    """Return ``url`` if its host may be a server.

    Raises:
        ValueError: The host is the machine or link of the program that reads the URL, or a metadata service.
    """
    if why := local_host(url):
        msg = f"has a host that is {why}; write the name of a server"
        raise ValueError(msg)
    return url
