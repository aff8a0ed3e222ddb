"""Components of add-ons in tenant clusters."""

import pulumi

from components.component import Component, Outputs
from components.render.add_ons.add_ons import AddOnsInput
from components.render.add_ons.flux import FluxInput
from components.render.add_ons.pod_priorities import PodPrioritiesInput
from components.render.concept import Made


class AddOns(Component[AddOnsInput]):
    """Releases of the add-ons of one cluster, and the namespaces of the add-ons."""

    INPUT = AddOnsInput
    installed: pulumi.Output[list[str]]
    """Names of the add-ons, in installation order."""

    def _outputs(self, made: Made[AddOnsInput]) -> Outputs:
        return {"installed": [entry.name for entry in made.concept.add_ons]}


class PodPriorities(Component[PodPrioritiesInput]):
    """PriorityClasses of one cluster."""

    INPUT = PodPrioritiesInput
    names: pulumi.Output[list[str]]
    """Names of the priorities, in the order of the catalogue."""

    def _outputs(self, made: Made[PodPrioritiesInput]) -> Outputs:
        return {"names": [one.name for one in made.concept.priorities]}


class Flux(Component[FluxInput]):
    """GitOps in one cluster: Flux, and the tenant's repository that Flux applies."""

    INPUT = FluxInput
    url: pulumi.Output[str]
    """URL of the repository."""

    def _outputs(self, made: Made[FluxInput]) -> Outputs:
        return {"url": made.concept.spec.url}
