"""Add-ons of a tenant cluster: releases by the management cluster, their namespaces in the cluster itself."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.add_ons.add_ons import AddOnsInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class AddOnsArgs:
    """What AddOns are made from."""

    add_ons: AddOnsInput
    clusters: Clusters


class AddOns(pulumi.ComponentResource):
    """The add-ons of one cluster: its network, and what makes its nodes useful.

    Children: one resource per item of `AddOnsInput.render`.
    """

    installed: pulumi.Output[list[str]]
    """Names of the add-ons, in the order they are installed."""

    def __init__(self, name: str, args: AddOnsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:AddOns", name, {}, opts)
        register(self, name, args.add_ons.render(), args.clusters)
        self.installed = pulumi.Output.from_input([entry.name for entry in args.add_ons.add_ons])
        self.register_outputs({"installed": self.installed})
