"""Validation of IPv4 networks, with error texts for common mistakes."""

from __future__ import annotations

import ipaddress

from components.specs.reading.remedy import FormError


def cidr(value: object) -> object:
    """Return ``value`` if it is a network in the accepted form.

    Raises:
        ValueError: ``value`` is not a network, or not in the form ``10.64.0.0/16``.
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
    """Return `` of IPv4`` if ``value`` is an IPv6 network, otherwise an empty text."""
    try:
        ipaddress.IPv6Interface(value if isinstance(value, str) else "")
    except ValueError:
        return ""
    return " of IPv4"


def _alone(value: object) -> str:
    """Return a suggestion of a /32 network for an address without a prefix length; none if it ends in 0."""
    try:
        address = ipaddress.IPv4Address(value if isinstance(value, str) else "")
    except ValueError:
        return ""
    return "" if address.packed[-1] == 0 else f"; is {address}/32 meant?"
