"""Components of virtual machines."""

import pulumi

from components.component import Component, Outputs
from components.render.concept import Made
from components.render.manifest import objects
from components.render.vms.vm_offering import VmOfferingInput


class VmOffering(Component[VmOfferingInput]):
    """KubeVirt operators, sizes and images of one cluster, and the virtual machines of the platform."""

    INPUT = VmOfferingInput
    machines: pulumi.Output[list[str]]
    """Names of the platform's machines."""

    def _outputs(self, made: Made[VmOfferingInput]) -> Outputs:
        return {"machines": [item.name for item in objects(made.rendered) if item.kind == "VirtualMachine"]}
