"""Components of workload platforms in tenant clusters."""

import pulumi

from components.component import Component, Outputs
from components.render.concept import Made
from components.render.workloads.queues import QueuesInput


class Queues(Component[QueuesInput]):
    """Queues of the teams of one cluster, with their quotas on pools."""

    INPUT = QueuesInput
    teams: pulumi.Output[list[str]]
    """Names of the teams, which are the names of their ClusterQueues."""

    def _outputs(self, made: Made[QueuesInput]) -> Outputs:
        return {"teams": [team.name for team in made.concept.spec.teams]}
