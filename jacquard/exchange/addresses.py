"""Converts BMC addresses of other systems to Metal3's form, and MAC addresses to Jacquard's form."""

import ipaddress
import re

from components.specs.hosts.bmc import parse_bmc

DRIVER = "redfish-virtualmedia+https"
"""Default driver of a bare address: Redfish with virtual media over HTTPS."""
SYSTEM_PATH = "/redfish/v1/Systems/1"
"""Path of the only system of a BMC, used by most vendors."""
_AUTHORITY = re.compile(r"^([^/]+//[^/:]+)(:[0-9]+)?")
_PREFIX_LENGTH = re.compile(r"/[0-9]{1,3}")
_HEX = re.compile(r"[0-9a-f]{12}")


def host_of(address: str) -> str:
    """Return the host of a URL, or of a bare address with or without a prefix length or a port."""
    return parse_bmc(address if "://" in address else _bare(address)).host


def bmc_url(address: str, driver: str, path: str) -> str:
    """Return ``address`` in Metal3's form; an address with a scheme is returned unchanged."""
    return address if "://" in address else f"{driver}://{_bare(address)}{path}"


def with_port(address: str, port: int) -> str:
    """Return a URL or a bare address with ``port``."""
    if "://" in address:
        return _AUTHORITY.sub(rf"\1:{port}", address)
    return f"{_bare(address)}:{port}"


def mac(text: str) -> str:
    """Return a MAC address in lower case with colons; other text is returned unchanged."""
    digits = re.sub("[:.-]", "", text.lower())
    return ":".join(re.findall("..", digits)) if _HEX.fullmatch(digits) else text


def _bare(address: str) -> str:
    """Return ``address`` without its prefix length, and an IPv6 address in brackets."""
    host, mark, length = address.rpartition("/")
    bare = host if mark and _PREFIX_LENGTH.fullmatch(mark + length) else address
    try:
        return f"[{ipaddress.IPv6Address(bare)}]"
    except ValueError:
        return bare
