"""Storage of a tenant cluster: drivers by the management cluster, classes in the cluster itself."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.storage.storage import StorageCatalogInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class StorageCatalogArgs:
    """What a StorageCatalog is made from."""

    catalog: StorageCatalogInput
    clusters: Clusters


class StorageCatalog(pulumi.ComponentResource):
    """The storage classes of one cluster and their drivers.

    Children: one resource per item of `StorageCatalogInput.render`.
    """

    classes: pulumi.Output[list[str]]
    """Names of the classes."""

    def __init__(self, name: str, args: StorageCatalogArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:StorageCatalog", name, {}, opts)
        register(self, name, args.catalog.render(), args.clusters)
        self.classes = pulumi.Output.from_input([spec.name for spec in args.catalog.classes])
        self.register_outputs({"classes": self.classes})
