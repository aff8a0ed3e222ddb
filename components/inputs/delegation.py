"""Input of the delegation of all regions' zones."""

from collections.abc import Iterator

from components.render.fleet.delegation import DelegationInput
from components.specs.environment import Environment
from components.specs.fleet.fleet import FleetDnsSpec


def of_fleet(environment: Environment, dns: FleetDnsSpec) -> Iterator[DelegationInput]:
    """Yield the single input of the delegation."""
    yield DelegationInput(name=environment.name, dns=dns, regions=environment.delegated)
