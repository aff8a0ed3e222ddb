"""What people write for a network of IPv4, and what is said to them where it is none."""

from __future__ import annotations

import ipaddress

from components.specs.reading.remedy import FormError


def cidr(value: object) -> object:
    """Return ``value`` where a spec may have it as a network.

    Raises:
        ValueError: it is no network, or written otherwise than as ``10.64.0.0/16``.
    """
    if isinstance(value, ipaddress.IPv4Network):
        return value
    try:
        interface = ipaddress.IPv4Interface(value if isinstance(value, str) and "/" in value else "")
    except ValueError:
        msg = f"must be a network{_of_ipv4(value)} like 10.64.0.0/16{_alone(value)}"
        raise ValueError(msg) from None
    if value != str(interface.network):
        rule = f"has {'bits set beyond its' if str(interface) == value else 'a mask instead of a'} prefix length"
        raise FormError(rule, str(interface.network))
    return value


def _of_ipv4(value: object) -> str:
    """Return what is wrong with a network of the other family."""
    try:
        ipaddress.IPv6Interface(value if isinstance(value, str) else "")
    except ValueError:
        return ""
    return " of IPv4"


def _alone(value: object) -> str:
    """Return the network of one that an address without a length stands for; a last 0 is a network's, of any length."""
    try:
        address = ipaddress.IPv4Address(value if isinstance(value, str) else "")
    except ValueError:
        return ""
    return "" if address.packed[-1] == 0 else f"; is {address}/32 meant?"
