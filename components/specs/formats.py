"""Text forms of scalar values: cron schedules, MAC addresses, IPv4 networks and addresses, prefix lengths."""

import ipaddress
import re
import socket
from collections.abc import Callable

from components.specs.local_hosts import local_address
from components.specs.reading.remedy import FormError

_FIELDS = {
    "minute": (0, 59),
    "hour": (0, 23),
    "day of the month": (1, 31),
    "month": (1, 12),
    "day of the week": (0, 6),
}
"""Fields of a schedule. Kubernetes accepts 0 for Sunday, but not 7 (robfig/cron v3, spec.go dow)."""
_PART = re.compile(r"(?:\*|([0-9]+)(?:-([0-9]+))?)(?:/0*[1-9][0-9]*)?")


def cron(value: str) -> str:
    """Return ``value``, a schedule of five fields, if every field is in range.

    Raises:
        ValueError: The message names the field and its valid range.
    """
    for (name, (least, most)), field in zip(_FIELDS.items(), value.split(), strict=True):
        for part in field.split(","):
            match = _PART.fullmatch(part)
            numbers = [int(number) for number in match.groups() if number] if match else []
            if not match or numbers != sorted(numbers) or not all(least <= number <= most for number in numbers):
                least_text = "0 (Sunday)" if name.endswith("week") else least
                msg = f"has '{part}' for the {name}; write a number from {least_text} to {most}, a range, or *"
                raise ValueError(msg)
    return value


MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
_OTHER_FORM = re.compile(r"(?i)[0-9a-f]{2}([-:]?[0-9a-f]{2}){5}|[0-9a-f]{4}(\.[0-9a-f]{4}){2}")
_RULE = "a MAC address must be six lower-case hex pairs with colons, in quotes"


def mac(value: str) -> str:
    """Return ``value`` if it is a MAC address in the accepted form.

    Raises:
        ValueError: ``value`` is not a MAC address; a FormError if it is a MAC address in another form.
    """
    if MAC.fullmatch(value):
        return value
    if _OTHER_FORM.fullmatch(value):
        meant = ":".join(re.findall("[0-9a-f]{2}", value.lower().replace(".", "")))
        raise FormError(_RULE, f'"{meant}"')
    msg = f'{_RULE}, like "80:c1:00:00:01:01"'
    raise ValueError(msg)


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
        msg = f"must be a network{of_ipv4(value)} like 10.64.0.0/16{_alone(value) or _near(value)}"
        raise ValueError(msg) from None
    if value != str(interface.network):
        if interface.network.prefixlen == 0:
            msg = "must be a network like 10.64.0.0/16; a prefix length of 0 means all addresses, correct it"
            raise ValueError(msg)
        rule = f"has {'bits set beyond its' if str(interface) == value else 'a mask instead of a'} prefix length"
        raise FormError(rule, str(interface.network))
    return value


def of_ipv4(value: object) -> str:
    """Return `` of IPv4`` if ``value`` is an IPv6 address or network, otherwise an empty string."""
    try:
        ipaddress.IPv6Interface(value if isinstance(value, str) else "")
    except ValueError:
        return ""
    return " of IPv4"


def _near(value: object) -> str:
    """Return a suggestion of a network with other separators, zeros or missing zeros; empty if there is none."""
    text = str(value)
    first, dash, last = text.partition("-")
    try:
        if dash:
            ends = (ipaddress.IPv4Address(end.strip()) for end in (first, last))
            found = list(ipaddress.summarize_address_range(*ends))
            return f"; is {found[0]} meant?" if len(found) == 1 else ""
        address, _, length = re.sub(r"\s", "", text).replace("\\", "/").replace(",", ".").partition("/")
        parts = [str(int(part)) for part in address.split(".")]
        network = ipaddress.IPv4Network(f"{'.'.join([*parts, *['0'] * (4 - len(parts))])}/{length}", strict=False)
    except (ValueError, TypeError):
        return ""
    return f"; is {network} meant?" if length and int(length) > 0 else ""


def _alone(value: object) -> str:
    """Return a suggestion of a /32 network for an address without a prefix length; empty if the address ends in 0."""
    try:
        address = ipaddress.IPv4Address(value if isinstance(value, str) else "")
    except ValueError:
        return ""
    return "" if address.packed[-1] == 0 else f"; is {address}/32 meant?"


_ADDRESS = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3}){3})[:/][0-9]+")
"""Address with a port or a prefix length."""
_LENGTH = re.compile(r"(?:[0-9.]+/)?([1-9]|[12][0-9]|3[0-2])")
"""Prefix length without its slash, or after a network address."""


def ipv4(value: object, parse: Callable[[object], object]) -> object:
    """Return the result of ``parse`` for ``value`` if it is an IPv4 address of a server.

    Raises:
        ValueError: The message gives the form of an address, or the reason against the address.
    """
    try:
        plain = _plain_address(value) if isinstance(value, str) else None
        address = plain or parse(value if isinstance(value, str | ipaddress.IPv4Address) else "")
    except ValueError:
        alone = _ADDRESS.fullmatch(str(value))
        msg = f"must be an address{of_ipv4(value)} like 10.0.0.20{f'; is {alone[1]} meant?' if alone else ''}"
        raise ValueError(msg) from None
    if why := local_address(address) if isinstance(address, ipaddress.IPv4Address) else "":
        msg = f"is {why}; write an address of a server"
        raise ValueError(msg)
    return address


def _plain_address(value: str) -> ipaddress.IPv4Address | None:
    """Return the address in ``value``, faster than `ipaddress` does; None if it is not an address, or another form."""
    try:
        packed = socket.inet_aton(value)
    except OSError:
        return None
    return ipaddress.IPv4Address(packed) if socket.inet_ntoa(packed) == value else None


def prefix_length(value: object) -> object:
    """Return the number in ``value``, a prefix length such as ``/20``.

    Raises:
        ValueError: The message gives the form, and the prefix length that is probably meant.
    """
    if isinstance(value, str) and re.fullmatch(r"/([0-9]|[12][0-9]|3[0-2])", value):
        return int(value[1:])
    length = _LENGTH.fullmatch(str(value))
    suggestion = f"; is /{length[1]} meant?" if length else ""
    msg = f"must be a prefix length like /20{suggestion}"
    raise ValueError(msg)
