"""Namespaces of a tenant's teams inside its cluster."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.control_planes.cluster_namespaces import ClusterNamespacesInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class ClusterNamespacesArgs:
    """What ClusterNamespaces are made from."""

    namespaces: ClusterNamespacesInput
    clusters: Clusters


class ClusterNamespaces(pulumi.ComponentResource):
    """The namespaces of one cluster that its tenant's data list, and what holds in each.

    Children: one resource per item of `ClusterNamespacesInput.render`.
    """

    names: pulumi.Output[list[str]]
    """Names of the namespaces, in the order of the data."""

    def __init__(self, name: str, args: ClusterNamespacesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:ClusterNamespaces", name, {}, opts)
        register(self, name, args.namespaces.render(), args.clusters)
        self.names = pulumi.Output.from_input([one.spec.name for one in args.namespaces.namespaces])
        self.register_outputs({"names": self.names})
