"""Identical nodes of one instance type and one golden image."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.manifest import objects
from components.render.pools.node_pool import NodePoolInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class NodePoolArgs:
    """What a NodePool is made from."""

    pool: NodePoolInput
    clusters: Clusters


class NodePool(pulumi.ComponentResource):
    """The nodes of one pool, by failure domain. Nothing here waits for a node.

    Children: one resource per item of `NodePoolInput.render`.
    """

    rollout_groups: pulumi.Output[list[str]]
    """Names of the MachineDeployments, one a failure domain."""

    def __init__(self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:NodePool", name, {}, opts)
        rendered = args.pool.render()
        register(self, name, rendered, args.clusters)
        self.rollout_groups = pulumi.Output.from_input(
            [item.name for item in objects(rendered) if item.kind == "MachineDeployment"]
        )
        self.register_outputs({"rollout_groups": self.rollout_groups})
