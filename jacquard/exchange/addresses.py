"""Converts BMC addresses of other systems to Metal3's form, and MAC addresses to Jacquard's form."""

import re

from components.specs.hosts.bmc import parse_bmc

DRIVER = "redfish-virtualmedia+https"
"""Default driver of a bare address: Redfish with virtual media over HTTPS."""
SYSTEM_PATH = "/redfish/v1/Systems/1"
"""Path of the only system of a BMC, used by most vendors."""
_PREFIX_LENGTH = re.compile(r"/[0-9]{1,3}")
_HEX = re.compile(r"[0-9a-f]{12}")


def host_of(address: str) -> str:
    """Return the host of a URL, or of a bare address with or without a prefix length or a port."""
    return parse_bmc(address if "://" in address else _without_prefix_length(address)).host


def bmc_url(address: str, driver: str, path: str) -> str:
    """Return ``address`` in Metal3's form; an address with a scheme is returned unchanged."""
    return address if "://" in address else f"{driver}://{_without_prefix_length(address)}{path}"


def mac(text: str) -> str:
    """Return a MAC address in lower case with colons; other text is returned unchanged."""
    digits = re.sub("[:.-]", "", text.lower())
    return ":".join(re.findall("..", digits)) if _HEX.fullmatch(digits) else text


def _without_prefix_length(address: str) -> str:
    host, mark, length = address.rpartition("/")
    return host if mark and _PREFIX_LENGTH.fullmatch(mark + length) else address
