"""Who may do what inside a tenant cluster from its first day."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.control_planes.cluster_access import ClusterAccessInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class ClusterAccessArgs:
    """What a ClusterAccess is made from."""

    access: ClusterAccessInput
    clusters: Clusters


class ClusterAccess(pulumi.ComponentResource):
    """Access to one cluster.

    Children: one resource per item of `ClusterAccessInput.render`.
    """

    admins: pulumi.Output[str]
    """Group whose members may do everything."""

    def __init__(self, name: str, args: ClusterAccessArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:ClusterAccess", name, {}, opts)
        register(self, name, args.access.render(), args.clusters)
        self.admins = pulumi.Output.from_input(args.access.admins)
        self.register_outputs({"admins": self.admins})
