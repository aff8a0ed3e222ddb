"""What an address of a BMC in Metal3's form says, such as ``redfish+https://10.1.1.1/redfish/v1/Systems/1``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from components.specs.base import Address
from components.specs.host_text import plain_host

_WELL_FORMED = re.compile(r"(\[[^\]/]*\]|[^/:@\[\]?#]+)(:(?P<port>[0-9]{1,9}))?(/[^?#]*)?")
"""Location without a login: an address or a name, a port, a path."""
_MAX_PORT = 65535
_HOST = re.compile(r"(?:[^/]*@)?(\[[^\]/]*\]|[^/:]*)(?::([0-9]{1,5}))?")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class BmcAddress:
    """An address of a BMC, taken apart; `parse_bmc` makes it of any text."""

    scheme: str
    """Driver of Metal3 and, after a ``+``, the transport; empty for a bare address."""
    location: str
    """All that follows the scheme, with a login where there is one."""
    host: str
    """An address without brackets, or a name."""
    written_port: int | None
    """The port, where one is written."""

    @property
    def is_ipmi(self) -> bool:
        """Tell whether the BMC is spoken to by IPMI instead of Redfish."""
        return self.scheme == "ipmi"

    @property
    def attaches_media(self) -> bool:
        """Tell whether the driver attaches virtual media, which the names of all such drivers say."""
        return "virtualmedia" in self.scheme

    @property
    def has_certificate(self) -> bool:
        """Tell whether the BMC proves by a certificate who it is."""
        return not self.is_ipmi and self.transport == "https"

    @property
    def transport(self) -> str:
        """Return ``http`` or ``https``; Metal3 takes the latter when none is written."""
        return self.scheme.partition("+")[2] or "https"

    @property
    def port(self) -> int:
        """Return the port, that of the transport when none is written."""
        return self.written_port or _PORTS[self.transport]

    @property
    def address(self) -> Address | None:
        """Return the IPv4 address of the BMC; None when it is given by name."""
        try:
            return Address(self.host)
        except ValueError:
            return None

    @property
    def machine(self) -> str:
        """Return what no two machines share, by whatever driver, port and path they are spoken to."""
        return plain_host(self.host) or self.host

    @property
    def has_login(self) -> bool:
        """Tell whether the address carries a login, or anything that could be one."""
        return "@" in self.scheme or "@" in self.location

    @property
    def without_login(self) -> str:
        """Return the text of the address without a login."""
        location = self.location.rpartition("@")[2]
        return f"{self.scheme}://{location}" if self.scheme else location


@lru_cache(maxsize=1 << 17)
def parse_bmc(text: str) -> BmcAddress:
    """Return what ``text`` says, whether or not it is well-formed; a text without a scheme is a bare address."""
    scheme, mark, location = text.partition("://")
    if not mark:
        scheme, location = "", text
    found = _HOST.match(location)
    host, port = found.groups() if found else ("", None)
    return BmcAddress(
        scheme=scheme, location=location, host=host.strip("[]"), written_port=None if port is None else int(port)
    )


def bmc_address(text: str) -> str:
    """Return ``text``, an address of a BMC, when each reader of it would come to the same machine.

    One with a login is let through: a cross-check refuses it without showing it.

    Raises:
        ValueError: with what to write instead.
    """
    found = parse_bmc(text)
    if found.has_login:
        return text
    host, parts = plain_host(found.host), _WELL_FORMED.fullmatch(found.location)
    if not parts or (parts["port"] and not 1 <= int(parts["port"]) <= _MAX_PORT):
        msg = "must be a driver, an address, a port up to 65535 where needed, and a path, without ? and #"
        raise ValueError(msg)
    if found.location.rstrip("/").endswith("/Systems"):
        msg = "names no system of the BMC; write the BMC as redfish+https://10.1.1.1/redfish/v1/Systems/1"
        raise ValueError(msg)
    if host is None:
        msg = "names no host; write an IPv4 address like 10.1.1.1, or a name of lower-case letters, digits and '-'"
        raise ValueError(msg)
    if host != found.host or parts[1] != host:
        msg = f"writes the address in a form that is read in many ways; write {host}"
        raise ValueError(msg)
    return text
