"""Environment laptop with buckets in a store whose operator creates them."""

from __future__ import annotations

from functools import cache
from typing import Any

from components.inputs.buckets import of_tenant
from components.render.manifest import Manifest, objects
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.storage.buckets import BucketSpec, ObjectStoreSpec
from jacquard.machine import paths
from tests.support.data.external_store import STORE
from tests.support.data.small_region import changed

SEAWEED = {"name": "objects", "namespace": "object-store"}


@cache
def laptop(rights: str = "read-write", *, seaweedfs: bool = True) -> Environment:
    """Return environment laptop, in which each tenant has bucket ``runs`` for namespaces ``lab`` and ``default``.

    Each also has bucket ``plain`` without access.
    """
    environment = load_environment("laptop", paths.ROOT / "environments")
    store = {"name": "objects", "endpoint": "https://o.example", **({"seaweedfs": SEAWEED} if seaweedfs else {})}

    def buckets(cluster: str) -> tuple[BucketSpec, ...]:
        access = [{"cluster": cluster, "namespaces": ["lab", "default"], "rights": rights}]
        ages = {"expire_days": 30, "old_versions_days": 9, "abandoned_uploads_days": 2}
        runs = {"name": "runs", "store": "objects", "quota": "8Mi", "versioning": True, "lifecycle": ages}
        plain = {"name": "plain", "store": "objects", "quota": "2Gi", "bucket": f"{cluster}-plain"}
        return (BucketSpec.model_validate({**runs, "access": access}), BucketSpec.model_validate(plain))

    tenants = tuple(changed(one, buckets=buckets(one.clusters[0].name)) for one in environment.tenants)
    stores = (ObjectStoreSpec.model_validate(store),)
    return changed(
        environment, tenants=tenants, region=changed(environment.region, object_stores=stores, secrets=STORE)
    )


def rendered(environment: Environment) -> list[Manifest]:
    """Return the objects of the store's operator."""
    return [
        item
        for tenant in environment.tenants
        for concept in of_tenant(environment, tenant)
        for item in objects(concept.render())
    ]


def renamed(environment: Environment, tenant: str, **fields: Any) -> Environment:
    """Return ``environment`` in which bucket ``runs`` of ``tenant`` has other ``fields``."""

    def of(buckets: tuple[BucketSpec, ...]) -> tuple[BucketSpec, ...]:
        return tuple(changed(one, **fields) if one.name == "runs" else one for one in buckets)

    tenants = tuple(
        changed(one, buckets=of(one.buckets)) if one.tenant == tenant else one for one in environment.tenants
    )
    return changed(environment, tenants=tenants)
