"""Components of node pools."""

import pulumi

from components.component import Component, Outputs
from components.render.concept import Made
from components.render.manifest import objects
from components.render.pools.node_pool import NodePoolInput


class NodePool(Component[NodePoolInput]):
    """Nodes of one pool, with one rollout group per failure domain. Pulumi does not wait for nodes."""

    INPUT = NodePoolInput
    rollout_groups: pulumi.Output[list[str]]
    """Names of the MachineDeployments, one per failure domain."""

    def _outputs(self, made: Made[NodePoolInput]) -> Outputs:
        return {"rollout_groups": [item.name for item in objects(made.rendered) if item.kind == "MachineDeployment"]}
