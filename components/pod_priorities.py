"""Whose pods go first in a tenant cluster."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.add_ons.pod_priorities import PodPrioritiesInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class PodPrioritiesArgs:
    """What PodPriorities are made from."""

    priorities: PodPrioritiesInput
    clusters: Clusters


class PodPriorities(pulumi.ComponentResource):
    """The priorities that pods of one cluster may name.

    Children: one resource per item of `PodPrioritiesInput.render`.
    """

    names: pulumi.Output[list[str]]
    """Names of the priorities, in the order of the catalogue."""

    def __init__(self, name: str, args: PodPrioritiesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:PodPriorities", name, {}, opts)
        register(self, name, args.priorities.render(), args.clusters)
        self.names = pulumi.Output.from_input([one.name for one in args.priorities.priorities])
        self.register_outputs({"names": self.names})
