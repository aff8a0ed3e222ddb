"""BMCs with verified certificates, and exceptions with their reasons."""

from components.specs.environment import Environment
from components.specs.hosts.bmc import parse_bmc


def unverified_bmcs(environment: Environment) -> dict[str, str]:
    """Return the reason of the first matching exception for each host whose BMC uses HTTPS."""
    exceptions = environment.region.bare_metal.bmc_certificates.unverified
    return {
        host.host: exception.reason
        for host in (environment.hosts if exceptions else ())
        if parse_bmc(host.bmc).has_certificate
        for exception in reversed(exceptions)
        if host.rack in exception.racks or host.instance_type in exception.instance_types
    }
