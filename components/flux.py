"""The hand-over of a cluster to its tenant."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.add_ons.flux import FluxInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class FluxArgs:
    """What a Flux is made from."""

    flux: FluxInput
    clusters: Clusters


class Flux(pulumi.ComponentResource):
    """A Flux of one cluster's own, and the repository of the tenant's that it applies there.

    Children: one resource per item of `FluxInput.render`.
    """

    url: pulumi.Output[str]
    """URL of the repository."""

    def __init__(self, name: str, args: FluxArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:Flux", name, {}, opts)
        register(self, name, args.flux.render(), args.clusters)
        self.url = pulumi.Output.from_input(args.flux.spec.url)
        self.register_outputs({"url": self.url})
