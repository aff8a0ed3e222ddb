"""Which requests to a tenant cluster's API are answered first."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.control_planes.request_priority import LEVEL, RequestPriorityInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class RequestPriorityArgs:
    """What a RequestPriority is made from."""

    priority: RequestPriorityInput
    clusters: Clusters


class RequestPriority(pulumi.ComponentResource):
    """Priority of requests inside one cluster.

    Children: one resource per item of `RequestPriorityInput.render`.
    """

    level: pulumi.Output[str]
    """Name of the level that the platform's agents have to themselves."""

    def __init__(self, name: str, args: RequestPriorityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:RequestPriority", name, {}, opts)
        register(self, name, args.priority.render(), args.clusters)
        self.level = pulumi.Output.from_input(LEVEL)
        self.register_outputs({"level": self.level})
