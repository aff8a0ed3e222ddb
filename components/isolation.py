"""Walls between the namespaces of the management cluster."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.region.isolation import IsolationInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class IsolationArgs:
    """What Isolation is made from."""

    isolation: IsolationInput
    clusters: Clusters


class Isolation(pulumi.ComponentResource):
    """Who may talk to whom in the management cluster, and how much a control plane may take of it.

    Children: one resource per item of `IsolationInput.render`.
    """

    namespaces: pulumi.Output[list[str]]
    """Namespaces that have walls."""

    def __init__(self, name: str, args: IsolationArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:Isolation", name, {}, opts)
        [walls] = rendered = args.isolation.render()
        register(self, name, rendered, args.clusters)
        self.namespaces = pulumi.Output.from_input(sorted({str(item.namespace) for item in walls.members.values()}))
        self.register_outputs({"namespaces": self.namespaces})
