"""Components of workload platforms in a tenant cluster."""

import pulumi

from components.component import Component, Outputs
from components.render.concept import Made
from components.render.manifest import objects
from components.render.workloads.queues import QueuesInput
from components.render.workloads.serving import ServingInput
from components.render.workloads.slurm import SlurmInput


class Slurm(Component[SlurmInput]):
    """Slurm cluster on pools of one tenant cluster. Pulumi does not wait for its daemons."""

    INPUT = SlurmInput
    node_sets: pulumi.Output[list[str]]
    """Names of the node sets, one per pool."""

    def _outputs(self, made: Made[SlurmInput]) -> Outputs:
        return {"node_sets": [item.name for item in objects(made.rendered) if item.kind == "NodeSet"]}


class Queues(Component[QueuesInput]):
    """Queues of the teams of one cluster, with their quotas on pools."""

    INPUT = QueuesInput
    teams: pulumi.Output[list[str]]
    """Names of the teams, which are the names of their ClusterQueues."""

    def _outputs(self, made: Made[QueuesInput]) -> Outputs:
        return {"teams": [team.name for team in made.concept.spec.teams]}


class Serving(Component[ServingInput]):
    """Endpoints of models in one cluster. Pulumi does not wait for their pods, which the tenant creates."""

    INPUT = ServingInput
    host_names: pulumi.Output[dict[str, str]]
    """DNS names by endpoint, of the endpoints that have one."""

    def _outputs(self, made: Made[ServingInput]) -> Outputs:
        endpoints = made.concept.endpoints
        return {"host_names": {item.spec.name: item.host_name for item in endpoints if item.host_name}}
