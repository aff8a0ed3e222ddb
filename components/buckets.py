"""The way to a tenant's buckets inside a cluster."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.storage.buckets import BucketsInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class BucketsArgs:
    """What Buckets are made from."""

    buckets: BucketsInput
    clusters: Clusters


class Buckets(pulumi.ComponentResource):
    """What workloads of one cluster find of their tenant's buckets.

    Children: one resource per item of `BucketsInput.render`.
    """

    names: pulumi.Output[list[str]]
    """Names of the buckets in their stores, in the order of the data."""

    def __init__(self, name: str, args: BucketsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:Buckets", name, {}, opts)
        register(self, name, args.buckets.render(), args.clusters)
        self.names = pulumi.Output.from_input([one.bucket for one in args.buckets.offered])
        self.register_outputs({"names": self.names})
