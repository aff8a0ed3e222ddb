"""The foundation of a region: namespaces, operators, addresses, data stores, DPU control."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.region.region import RegionInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class RegionArgs:
    """What a Region is made from."""

    region: RegionInput
    clusters: Clusters


class Region(pulumi.ComponentResource):
    """What the management cluster holds for everyone.

    Children: one resource per item of `RegionInput.render`.
    """

    data_stores: pulumi.Output[list[str]]
    """Names of the data stores that control planes may use."""

    def __init__(self, name: str, args: RegionArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:Region", name, {}, opts)
        register(self, name, args.region.render(), args.clusters)
        self.data_stores = pulumi.Output.from_input([store.name for store in args.region.data_stores])
        self.register_outputs({"data_stores": self.data_stores})
