"""Canonical form of host addresses and host names, which all parsers resolve to the same machine."""

import ipaddress
import re
import unicodedata

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_CANONICAL = re.compile(rf"{_BYTE}(?:\.{_BYTE}){{3}}")
"""IPv4 address that is already in the canonical form, like almost all addresses of an inventory."""
_NUMBER = re.compile(r"0x[0-9a-f]{1,9}|[0-9]{1,12}")
_URL = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://)?/*([^/@?#]*@)?(?P<host>\[[^\]/]*\]|[0-9a-f]*(?::[0-9a-f]*){2,}|[^/:?#]*)(?P<port>:[0-9]{1,5})?.*",
    re.IGNORECASE,
)
_MAX_PORT = 65535


def nearest_host(text: str, *, port: bool) -> str:
    """Return the host that ``text`` most likely means, with its port if ``port`` is true; otherwise an example."""
    match = _URL.fullmatch("".join(text.split()))
    host = plain_host(match["host"].strip("[]")) if match else None
    if match is None or host is None:
        return "storage.cloud.example"
    port_text = match["port"] if port else None
    return f"{host}{port_text}" if port_text and 1 <= int(port_text[1:]) <= _MAX_PORT else host


def plain_host(host: str) -> str | None:
    """Return the canonical form of the IPv4 address or name ``host``; None if it is neither.

    Many notations of an IPv4 address are in use: ``167837953``, ``0xa.1.1.1``, ``10.01.1.1``, ``::ffff:10.1.1.1``,
    full-width digits. Numbers with leading zeros are read as decimal, because they are usually padded.
    """
    if _CANONICAL.fullmatch(host):
        return host
    text = "".join(unicodedata.normalize("NFKC", host).split()).lower().removesuffix(".")
    if ":" in text:
        return _mapped(text)
    parts = text.split(".")
    if not parts[-1].isdecimal() and not _NUMBER.fullmatch(parts[-1]):
        return text if _NAME.fullmatch(text) else None
    if not all(map(_NUMBER.fullmatch, parts)):
        return None
    *first, last = (int(part, 16) if part.startswith("0x") else int(part) for part in parts)
    free = 4 - len(first)  # The last number covers all remaining bytes.
    if free < 1 or any(byte >> 8 for byte in first) or last >= 1 << 8 * free:
        return None
    return str(ipaddress.IPv4Address(int.from_bytes(bytes(first)) << 8 * free | last))


def _mapped(text: str) -> str | None:
    try:
        mapped = ipaddress.IPv6Address(text).ipv4_mapped
    except ValueError:
        return None
    return None if mapped is None else str(mapped)
