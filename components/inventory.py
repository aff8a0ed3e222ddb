"""Hosts of a hall, a rack as one resource."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.hosts.inventory import InventoryInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class InventoryArgs:
    """What an Inventory is made from."""

    inventory: InventoryInput
    clusters: Clusters


class Inventory(pulumi.ComponentResource):
    """The hosts of one hall, as data: nothing here waits for a host.

    Children: one resource per item of `InventoryInput.render`.
    """

    racks: pulumi.Output[list[str]]
    """Names of the sets, one a rack."""

    def __init__(self, name: str, args: InventoryArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:Inventory", name, {}, opts)
        rendered = args.inventory.render()
        register(self, name, rendered, args.clusters)
        self.racks = pulumi.Output.from_input([rack.name for rack in rendered])
        self.register_outputs({"racks": self.racks})
