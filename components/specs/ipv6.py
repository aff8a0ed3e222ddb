"""IPv6 networks in specs, and the IPv6 prefixes of a VPC."""

import ipaddress
import re
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from components.specs.base import Spec
from components.specs.reading.remedy import FormError

Network6 = ipaddress.IPv6Network
ADDRESS_BITS = 128
_LENGTH = r"/([1-9]|[1-9][0-9]|1[01][0-9]|12[0-8])"


def _cidr(value: object) -> object:
    if isinstance(value, Network6):
        return value
    try:
        interface = ipaddress.IPv6Interface(value if isinstance(value, str) and "/" in value else "")
    except ValueError:
        msg = "must be an IPv6 network like fd42:7a1c:e500::/40"
        raise ValueError(msg) from None
    if value != str(interface.network):
        beyond = interface.ip != interface.network.network_address
        rule = "has bits set beyond its prefix length" if beyond else "is not in its shortest form"
        raise FormError(rule, str(interface.network))
    return value


def _prefix_length(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(_LENGTH, value):
        return int(value[1:])
    suggestion = f"; is /{value} meant?" if re.fullmatch(_LENGTH, f"/{value}") else ""
    msg = f"must be an IPv6 prefix length like /56{suggestion}"
    raise ValueError(msg)


Cidr6 = Annotated[Network6, BeforeValidator(_cidr)]
"""IPv6 network in a spec: ``Network6`` with a readable error text."""
PrefixLength6 = Annotated[
    int,
    BeforeValidator(_prefix_length),
    PlainSerializer(lambda length: f"/{length}", return_type=str),
    WithJsonSchema({"type": "string", "pattern": f"^{_LENGTH}$", "examples": ["/56"]}),
]
"""Size of an IPv6 network, such as ``/56``."""


class Ipv6Spec(Spec):
    """Sizes of the IPv6 prefixes of a dual-stack cluster. Load balancers have IPv4 addresses only."""

    pods: PrefixLength6
    """Size of the prefix for pods, /48 to /64. Each node gets a /64 of it."""
    services: PrefixLength6
    """Size of the prefix for ClusterIPs, /108 to /120."""
