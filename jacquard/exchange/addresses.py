"""Addresses of BMCs in Metal3's form, and MAC addresses in ours, from what other systems write."""

from __future__ import annotations

import re

from components.specs.hosts.bmc import parse_bmc

DRIVER = "redfish-virtualmedia+https"
"""What a bare address is taken for: Redfish with virtual media over HTTPS."""
SYSTEM_PATH = "/redfish/v1/Systems/1"
"""Where a BMC's only system is found with most vendors."""
_PREFIX_LENGTH = re.compile(r"/[0-9]{1,3}")
_HEX = re.compile(r"[0-9a-f]{12}")


def host_of(address: str) -> str:
    """Return the host of a URL, or of a bare address with or without a prefix length or a port."""
    return parse_bmc(address if "://" in address else _without_prefix_length(address)).host


def bmc_url(address: str, driver: str, path: str) -> str:
    """Return ``address`` in Metal3's form; what already has a scheme stays as it is."""
    return address if "://" in address else f"{driver}://{_without_prefix_length(address)}{path}"


def mac(text: str) -> str:
    """Return a MAC address in lower case with colons; what is none stays as it is."""
    digits = re.sub("[:.-]", "", text.lower())
    return ":".join(re.findall("..", digits)) if _HEX.fullmatch(digits) else text


def _without_prefix_length(address: str) -> str:
    host, mark, length = address.rpartition("/")
    return host if mark and _PREFIX_LENGTH.fullmatch(mark + length) else address
