"""Objects that a repository of regions adds by itself, as a component of ours would be."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.extensions import OwnInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class OwnArgs:
    """What an Own is made from."""

    own: OwnInput
    clusters: Clusters


class Own(pulumi.ComponentResource):
    """What a file of the repository's ``components/`` adds to a slice.

    Children: one resource per item of `OwnInput.render`.
    """

    def __init__(self, name: str, args: OwnArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:Own", name, {}, opts)
        register(self, name, args.own.render(), args.clusters)
        self.register_outputs({})
