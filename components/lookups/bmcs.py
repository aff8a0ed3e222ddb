"""Which BMCs prove by a certificate who they are, and which are believed without one, and why."""

from __future__ import annotations

from components.specs.environment import Environment
from components.specs.hosts.bmc import parse_bmc


def unverified_bmcs(environment: Environment) -> dict[str, str]:
    """Return the reason of the first exception for each host that has one and speaks by https."""
    exceptions = environment.region.bare_metal.bmc_certificates.unverified
    return {
        host.host: one.reason
        for host in (environment.hosts if exceptions else ())
        if parse_bmc(host.bmc).has_certificate
        for one in reversed(exceptions)
        if host.rack in one.racks or host.instance_type in one.instance_types
    }
