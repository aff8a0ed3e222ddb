"""Secrets that a slice refers to, copied from the region's store."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.region.external_secrets import ExternalSecretsInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class ExternalSecretsArgs:
    """What ExternalSecrets are made from."""

    secrets: ExternalSecretsInput
    clusters: Clusters


class ExternalSecrets(pulumi.ComponentResource):
    """The Secrets of one slice by name: what copies each from the store, and no value.

    Children: one resource per item of `ExternalSecretsInput.render`.
    """

    entries: pulumi.Output[list[str]]
    """Entries of the store that must be there."""

    def __init__(self, name: str, args: ExternalSecretsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:ExternalSecrets", name, {}, opts)
        register(self, name, args.secrets.render(), args.clusters)
        self.entries = pulumi.Output.from_input(sorted({one.entry for one in args.secrets.deliveries}))
        self.register_outputs({"entries": self.entries})
