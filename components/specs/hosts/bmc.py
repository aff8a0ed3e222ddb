"""Parser of BMC addresses in Metal3's form, such as ``redfish+https://10.1.1.1/redfish/v1/Systems/1``."""

import re
from functools import lru_cache

from components.specs.base import Address
from components.specs.host_text import plain_host
from components.specs.struct import Struct

_WELL_FORMED = re.compile(r"(\[[^\]/]*\]|[^/:@\[\]?#]+)(:(?P<port>[0-9]{1,9}))?(/[^?#]*)?")
"""Location without credentials: address or name, port, path."""
_MAX_PORT = 65535
_IPV6 = "is an IPv6 address, which is not supported; write an IPv4 address like 10.1.1.1, or a name"
_HOST = re.compile(r"(?:[^/]*@)?(\[[^\]/]*\]|[^/:]*)(?::([0-9]{1,5}))?")
_PORTS = {"http": 80, "https": 443}


class BmcAddress(Struct):
    """Parsed BMC address; `parse_bmc` creates it from any text."""

    scheme: str
    """Metal3 driver and, after a ``+``, the transport; empty for a bare address."""
    location: str
    """Text after the scheme, including credentials if present."""
    host: str
    """Host: an address without brackets, or a name."""
    written_port: int | None
    """Port in the text; None if the text contains no port."""

    @property
    def is_ipmi(self) -> bool:
        """Return whether the BMC uses IPMI instead of Redfish."""
        return self.scheme == "ipmi"

    @property
    def attaches_media(self) -> bool:
        """Return whether the driver supports virtual media, according to its name."""
        return "virtualmedia" in self.scheme

    @property
    def has_certificate(self) -> bool:
        """Return whether the BMC connection uses a certificate."""
        return not self.is_ipmi and self.transport == "https"

    @property
    def transport(self) -> str:
        """Return ``http`` or ``https``; without a transport, Metal3 uses ``https``."""
        return self.scheme.partition("+")[2] or "https"

    @property
    def port(self) -> int:
        """Return the port, by default the port of the transport."""
        return self.written_port or _PORTS[self.transport]

    @property
    def address(self) -> Address | None:
        """Return the IPv4 address of the BMC; None for a name."""
        try:
            return Address(self.host)
        except ValueError:
            return None

    @property
    def machine(self) -> str:
        """Return a unique key of the machine, independent of driver, port and path."""
        return plain_host(self.host) or self.host

    @property
    def has_login(self) -> bool:
        """Return whether the address contains credentials, or text that could be credentials."""
        return "@" in self.scheme or "@" in self.location

    @property
    def without_login(self) -> str:
        """Return the address without credentials."""
        location = self.location.rpartition("@")[2]
        return f"{self.scheme}://{location}" if self.scheme else location


@lru_cache(maxsize=1 << 17)
def parse_bmc(text: str) -> BmcAddress:
    """Return the parsed ``text``, even if it is not well-formed; a text without a scheme is a bare address."""
    scheme, mark, location = text.partition("://")
    if not mark:
        scheme, location = "", text
    match = _HOST.match(location)
    host, port = match.groups() if match else ("", None)
    return BmcAddress(
        scheme=scheme, location=location, host=host.strip("[]"), written_port=None if port is None else int(port)
    )


def bmc_address(text: str) -> str:
    """Return ``text`` if it is a BMC address that all parsers interpret in the same way.

    This function accepts an address with credentials: a cross-check rejects it without showing the credentials.

    Raises:
        ValueError: The message contains the correct address.
    """
    address = parse_bmc(text)
    if address.has_login:
        return text
    host, parts = plain_host(address.host), _WELL_FORMED.fullmatch(address.location)
    colons = address.location.partition("/")[0].count(":")
    if (host is None and ":" in address.host) or (parts is None and colons > 1):
        raise ValueError(_IPV6)
    if not parts or (parts["port"] and not 1 <= int(parts["port"]) <= _MAX_PORT):
        msg = "must be a driver, an address, a port up to 65535 where needed, and a path, without ? and #"
        raise ValueError(msg)
    if address.location.rstrip("/").endswith("/Systems"):
        msg = "has no path to a system of the BMC; write the BMC as redfish+https://10.1.1.1/redfish/v1/Systems/1"
        raise ValueError(msg)
    if host is None:
        msg = "has no valid host; write an IPv4 address like 10.1.1.1, or a name of lower-case letters, digits and '-'"
        raise ValueError(msg)
    if host != address.host or parts[1] != host:
        msg = f"has the address in an ambiguous form; write {host}"
        raise ValueError(msg)
    return text
