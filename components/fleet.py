"""Components about all regions together."""

import pulumi

from components.component import Component, Outputs
from components.render.concept import Made
from components.render.fleet.delegation import DelegationInput


class Delegation(Component[DelegationInput]):
    """Delegation of the zones of all regions in the DNS zone of the fleet."""

    INPUT = DelegationInput
    zones: pulumi.Output[list[str]]
    """Delegated zones, sorted."""

    def _outputs(self, made: Made[DelegationInput]) -> Outputs:
        return {"zones": sorted(dns.zone for dns in made.concept.regions.values())}
