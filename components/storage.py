"""Components of storage."""

import pulumi

from components.component import Component, Outputs
from components.render.concept import Made
from components.render.storage.buckets import BucketsInput
from components.render.storage.seaweedfs import ProvisionedBucketsInput
from components.render.storage.storage import StorageCatalogInput


class StorageCatalog(Component[StorageCatalogInput]):
    """Storage drivers and storage classes of one cluster."""

    INPUT = StorageCatalogInput
    classes: pulumi.Output[list[str]]
    """Names of the storage classes."""

    def _outputs(self, made: Made[StorageCatalogInput]) -> Outputs:
        return {"classes": [spec.name for spec in made.concept.classes]}


class Buckets(Component[BucketsInput]):
    """ConfigMaps with the buckets of the tenant, for workloads of one cluster."""

    INPUT = BucketsInput
    names: pulumi.Output[list[str]]
    """Names of the buckets in their stores, in the order of the data."""

    def _outputs(self, made: Made[BucketsInput]) -> Outputs:
        return {"names": [one.bucket for one in made.concept.offered]}


class ProvisionedBuckets(Component[ProvisionedBucketsInput]):
    """Buckets of one tenant, their users and keys, as objects of the store's operator."""

    INPUT = ProvisionedBucketsInput
    names: pulumi.Output[list[str]]
    """Names of the buckets in their stores, in the order of the data."""

    def _outputs(self, made: Made[ProvisionedBucketsInput]) -> Outputs:
        return {"names": [one.bucket for one in made.concept.buckets]}
