"""Virtual machines of a tenant cluster: operators, sizes, images, and the platform's own machines."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.manifest import objects
from components.render.vms.vm_offering import VmOfferingInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class VmOfferingArgs:
    """What a VmOffering is made from."""

    offering: VmOfferingInput
    clusters: Clusters


class VmOffering(pulumi.ComponentResource):
    """What can be ordered as a VM in one cluster.

    Children: one resource per item of `VmOfferingInput.render`.
    """

    machines: pulumi.Output[list[str]]
    """Names of the platform's own machines."""

    def __init__(self, name: str, args: VmOfferingArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:VmOffering", name, {}, opts)
        rendered = args.offering.render()
        register(self, name, rendered, args.clusters)
        machines = [item.name for item in objects(rendered) if item.kind == "VirtualMachine"]
        self.machines = pulumi.Output.from_input(machines)
        self.register_outputs({"machines": self.machines})
