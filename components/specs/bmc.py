"""What an address of a BMC in Metal3's form says, such as ``redfish+https://10.1.1.1/redfish/v1/Systems/1``."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from components.specs.base import Address

_WELL_FORMED = re.compile(r"(\[[^\]/]*\]|[^/:@\[\]?#]+)(:(?P<port>[0-9]{1,9}))?(/[^?#]*)?")
"""Location without a login: an address or a name, a port, a path."""
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NUMBER = re.compile(r"0x[0-9a-f]{1,9}|[0-9]{1,12}")
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


def plain_host(host: str) -> str | None:
    """Return the one form of an IPv4 address, or of a name, that ``host`` is in some other one; None for neither.

    Computers read many forms: ``167837953``, ``0xa.1.1.1``, ``10.01.1.1``, ``::ffff:10.1.1.1``, full-width digits.
    Numbers with leading zeros are taken for decimal ones, as people fill them up.
    """
    text = "".join(unicodedata.normalize("NFKC", host).split()).lower().removesuffix(".")
    if ":" in text:
        return _mapped(text)
    parts = text.split(".")
    if not parts[-1].isdecimal() and not _NUMBER.fullmatch(parts[-1]):
        return text if _NAME.fullmatch(text) else None
    if not all(map(_NUMBER.fullmatch, parts)):
        return None
    *first, last = (int(part, 16) if part.startswith("0x") else int(part) for part in parts)
    free = 4 - len(first)  # the last number stands for all bytes that are not written
    if free < 1 or any(byte >> 8 for byte in first) or last >= 1 << 8 * free:
        return None
    return str(Address(int.from_bytes(bytes(first)) << 8 * free | last))


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
    if host is None:
        msg = "names no host; write an IPv4 address like 10.1.1.1, or a name of lower-case letters, digits and '-'"
        raise ValueError(msg)
    if host != found.host or parts[1] != host:
        msg = f"writes the address in a form that is read in many ways; write {host}"
        raise ValueError(msg)
    return text


def _mapped(text: str) -> str | None:
    try:
        mapped = ipaddress.IPv6Address(text).ipv4_mapped
    except ValueError:
        return None
    return None if mapped is None else str(mapped)
