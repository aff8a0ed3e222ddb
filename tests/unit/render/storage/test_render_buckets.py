"""Buckets of tenants: their Secrets for workloads, and the owners of the keys."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from components.inputs import cluster_namespaces
from components.inputs.buckets import of_cluster
from components.inputs.deliveries import deliveries
from components.inputs.slice_inputs import inputs
from components.lookups.pools import clusters
from components.lookups.slices import SliceKind, slices
from components.render.add_ons.add_ons import AddOnsInput
from components.render.control_planes.cluster_namespaces import ClusterNamespacesInput
from components.render.manifest import Manifest
from components.render.storage.buckets import BucketsInput
from components.render.storage.storage import StorageCatalogInput
from components.specs.control_planes.cluster_namespaces import NamespaceSpec
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.storage.buckets import BucketSpec, ObjectStoreSpec
from jacquard.machine import paths
from tests.support.data.small_region import changed

ENVIRONMENTS = paths.ROOT / "environments"


@cache
def laptop(**store: Any) -> Environment:
    """Return environment laptop, in which each tenant has bucket ``runs`` for namespaces ``lab`` and ``default``."""
    environment = load_environment("laptop", ENVIRONMENTS)
    stores = (ObjectStoreSpec.model_validate({"name": "objects", "endpoint": "https://o.example:9021", **store}),)

    def runs(cluster: str) -> tuple[BucketSpec, ...]:
        access = [{"cluster": cluster, "namespaces": ["lab", "default"], "rights": "read"}]
        fields = {"name": "runs", "store": "objects", "quota": "1Ti", "access": access}
        return (BucketSpec.model_validate(fields),)

    tenants = tuple(changed(one, buckets=runs(one.clusters[0].name)) for one in environment.tenants)
    return changed(environment, tenants=tenants, region=changed(environment.region, object_stores=stores))


def found(environment: Environment, kind: str, name: str) -> list[Manifest]:
    every = (
        item for placed in clusters(environment) for one in of_cluster(environment, placed) for item in one.render()
    )
    return [item for item in every if (item.kind, item.name) == (kind, name)]


def test_workloads_find_their_bucket_in_each_namespace() -> None:
    maps = {(item.cluster, item.namespace): item for item in found(laptop(), "ConfigMap", "bucket-runs")}

    assert [*maps] == [(c, n) for c in ("acme-train", "globex-lab") for n in ("lab", "default")]
    assert maps["globex-lab", "lab"].body["data"] == {
        "BUCKET_HOST": "o.example",
        "BUCKET_PORT": "9021",
        "BUCKET_NAME": "globex-runs",
        "BUCKET_REGION": "us-east-1",
        "BUCKET_ADDRESSING": "path",
        "AWS_ENDPOINT_URL_S3": "https://o.example:9021",
        "AWS_REGION": "us-east-1",
    }


def test_volumes_of_a_team_go_before_the_drivers_that_take_them_off_their_nodes() -> None:
    """Objects that are created later are deleted earlier: namespaces with their pods, then classes and drivers."""
    [part] = (one for one in slices(laptop()) if one.kind is SliceKind.CLUSTER and one.subject == "globex-lab")
    order = [type(one) for one in inputs(laptop(), part)]

    places = [order.index(kind) for kind in (AddOnsInput, StorageCatalogInput, ClusterNamespacesInput, BucketsInput)]
    assert places == sorted(places)


@pytest.mark.parametrize(("private", "further"), [(False, ()), (True, ("ca.crt",))])
def test_each_cluster_gets_separate_keys_and_the_ca_of_the_store(
    private: bool,  # noqa: FBT001 - a value of the data
    further: tuple[str, ...],
) -> None:
    maps = found(laptop(private_authority=private), "ConfigMap", "bucket-runs")
    by_cluster = {(one.cluster, one.namespace): one for one in deliveries(laptop(), maps)}

    assert {one.keys for one in by_cluster.values()} == {("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", *further)}
    assert {(cluster, one.entry) for (cluster, _), one in by_cluster.items()} == {
        ("acme-train", "laptop/acme-train/bucket-runs"),
        ("globex-lab", "laptop/globex-lab/bucket-runs"),
    }


def test_pods_of_a_namespace_with_keys_reach_the_network_of_stores_and_others_do_not() -> None:
    spaces = (NamespaceSpec(name="lab"), NamespaceSpec(name="other"))
    tenants = tuple(
        changed(one, clusters=tuple(changed(cluster, namespaces=spaces) for cluster in one.clusters))
        for one in laptop().tenants
    )
    environment = changed(laptop(), tenants=tenants)
    placed = next(clusters(environment))
    [inside] = cluster_namespaces.of_cluster(environment, placed)
    policies = {item.namespace: item.body["spec"] for item in inside.render() if item.kind == "NetworkPolicy"}
    stores = {"to": [{"ipBlock": {"cidr": str(environment.region.networks.storage)}}]}

    assert [name for name, policy in policies.items() if stores in policy["egress"]] == ["lab"]
