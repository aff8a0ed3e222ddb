"""Clusters of different tenants share no objects on a storage system."""

from __future__ import annotations

from collections import defaultdict

import pytest

from components.inputs.manifests import everything
from components.lookups.pools import clusters
from components.render.storage.storage import DEFAULT_OF_VMS
from tests.support.data.environment_data import REFERENCES, reference

SECRET = "csi.storage.k8s.io/{}-secret-name"
ROLES = ("provisioner", "controller-publish", "node-publish", "controller-expand", "snapshotter")
ISOLATION = ("share", "view_policy", "root_export", *map(SECRET.format, ROLES))


@pytest.mark.parametrize("name", REFERENCES)
def test_no_class_shares_storage_of_another_tenant(name: str) -> None:
    environment = reference(name)
    tenants = {placed.cluster.name: placed.tenant.tenant for placed in clusters(environment)}
    holders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for item in everything(environment):
        if item.kind in {"StorageClass", "VolumeSnapshotClass"}:
            for key, value in item.body["parameters"].items():
                if key in ISOLATION:
                    holders[key, value].add(tenants[item.cluster])

    assert holders
    assert {wall: names for wall, names in holders.items() if len(names) > 1} == {}


def test_disks_of_vms_default_to_the_class_of_their_images_in_the_cluster_that_runs_them() -> None:
    found = {
        (item.cluster, item.name)
        for item in everything(reference("laptop"))
        if item.kind == "StorageClass" and DEFAULT_OF_VMS in item.body["metadata"]["annotations"]
    }

    assert found == {("acme-train", "shared-vast")}


def test_the_storage_system_only_admits_hosts_of_the_tenant() -> None:
    environment = reference("laptop")

    isolation = {
        (item.cluster, item.name): item.body["metadata"]["annotations"]["jacquard.dev/client-networks"]
        for item in everything(environment)
        if item.kind == "StorageClass"
    }

    hosts = {name: str(vpc.hosts) for name, vpc in environment.allocations.vpcs.items()}
    assert isolation == {
        ("acme-train", "shared-nfs"): hosts["acme"],
        ("acme-train", "shared-vast"): hosts["acme"],
        ("globex-lab", "shared-vast"): hosts["globex"],
    }
