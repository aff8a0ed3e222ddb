"""Components of hosts."""

import pulumi

from components.component import Component, Outputs
from components.render.concept import Made
from components.render.hosts.inventory import InventoryInput


class Inventory(Component[InventoryInput]):
    """Hosts of one hall, with one object set per rack. Pulumi does not wait for hosts."""

    INPUT = InventoryInput
    racks: pulumi.Output[list[str]]
    """Names of the object sets, one per rack."""

    def _outputs(self, made: Made[InventoryInput]) -> Outputs:
        return {"racks": [rack.name for rack in made.rendered]}
