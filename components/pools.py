"""Components of node pools: nodes, and the autoscaler of a cluster."""

import pulumi

from components.component import Component, Outputs
from components.render.concept import Made
from components.render.manifest import objects
from components.render.pools.cluster_autoscaler import ClusterAutoscalerInput
from components.render.pools.node_pool import NodePoolInput


class NodePool(Component[NodePoolInput]):
    """Nodes of one pool, with one rollout group per failure domain. Pulumi does not wait for nodes."""

    INPUT = NodePoolInput
    rollout_groups: pulumi.Output[list[str]]
    """Names of the MachineDeployments, one per failure domain."""

    def _outputs(self, made: Made[NodePoolInput]) -> Outputs:
        return {"rollout_groups": [item.name for item in objects(made.rendered) if item.kind == "MachineDeployment"]}


class ClusterAutoscaler(Component[ClusterAutoscalerInput]):
    """Cluster autoscaler of one tenant cluster, which runs in the namespace of the control plane."""

    INPUT = ClusterAutoscalerInput
    release: pulumi.Output[str]
    """Name of the Helm release."""

    def _outputs(self, made: Made[ClusterAutoscalerInput]) -> Outputs:
        return {"release": next(item.name for item in objects(made.rendered) if item.kind == "HelmRelease")}
