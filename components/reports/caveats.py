"""Caveats of backends that isolate VPCs: reported by ``jacquard check`` without failing."""

from collections import defaultdict
from collections.abc import Iterator

from components.lookups.pools import place, tenant_file
from components.render.backends import NETWORK_BACKENDS
from components.specs.environment import Environment
from components.specs.network.tenant_network import Isolation
from components.specs.reading.problems import listed
from components.specs.struct import Struct

_MAX_VPCS_SHOWN = 3


class Caveat(Struct):
    """Limitation of a backend, for the VPCs that the backend isolates."""

    isolation: Isolation
    text: str
    isolates_hosts: bool
    source: str
    """Upstream source of the limitation."""
    vpcs: tuple[str, ...]
    """VPCs isolated by the backend, each with file and line."""

    def __str__(self) -> str:
        """Return the caveat in one line."""
        return f"{self.isolation} {self.text} ({self.source}); VPC {listed(self.vpcs, _MAX_VPCS_SHOWN)}"


def caveats(environment: Environment) -> Iterator[Caveat]:
    """Yield each caveat of the backends in use once, in the order of declaration."""
    vpcs = defaultdict[Isolation, list[str]](list)
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            there = place(environment, tenant_file(tenant), ("vpcs", index, "isolation"))
            vpcs[vpc.isolation].append(f"{vpc.name} ({there})")
    for isolation, border in NETWORK_BACKENDS.items():
        if border.caveat is not None and isolation in vpcs:
            yield Caveat(
                isolation=isolation,
                text=border.caveat,
                isolates_hosts=border.isolates_hosts,
                source=border.source,
                vpcs=tuple(vpcs[isolation]),
            )
