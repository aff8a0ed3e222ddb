"""Secrets copied from a store into the management cluster, and pushed into a tenant's cluster."""

from __future__ import annotations

from components.render.manifest import MANAGEMENT, objects
from components.render.region.external_secrets import Delivery, ExternalSecretsInput, external_secrets
from components.specs.struct import replace

HERE = Delivery(
    cluster=MANAGEMENT, namespace="hosts", name="bmc-a01", keys=("password", "username"), entry="east/bmc-a01"
)
INSIDE = Delivery(
    cluster="acme-train", namespace="vast-csi", name="vast-vms", keys=("endpoint",), entry="east/vast-vms"
)


def test_a_secret_of_the_management_cluster_is_copied_under_its_name() -> None:
    [copied] = external_secrets("vault", (HERE,))

    assert (copied.cluster, copied.namespace, copied.name) == (MANAGEMENT, "hosts", "bmc-a01")
    assert copied.body["spec"] == {
        "secretStoreRef": {"kind": "ClusterSecretStore", "name": "vault"},
        "refreshInterval": "1h",
        "target": {"name": "bmc-a01", "creationPolicy": "Orphan", "deletionPolicy": "Retain"},
        "data": [
            {"secretKey": "password", "remoteRef": {"key": "east/bmc-a01", "property": "password"}},
            {"secretKey": "username", "remoteRef": {"key": "east/bmc-a01", "property": "username"}},
        ],
    }


def test_a_secret_has_the_type_that_its_reader_looks_for() -> None:
    [copied] = external_secrets("vault", (replace(HERE, type="kubernetes.io/basic-auth"),))

    assert copied.body["spec"]["target"]["template"] == {"type": "kubernetes.io/basic-auth"}


def test_a_secret_inside_a_cluster_is_pushed_from_its_namespace_of_the_management_cluster() -> None:
    store, copied, pushed = external_secrets("vault", (INSIDE,))

    assert [(item.cluster, item.namespace, item.kind, item.name) for item in (store, copied, pushed)] == [
        (MANAGEMENT, "acme-train", "SecretStore", "vast-csi"),
        (MANAGEMENT, "acme-train", "ExternalSecret", "vast-csi-vast-vms"),
        (MANAGEMENT, "acme-train", "PushSecret", "vast-csi-vast-vms"),
    ]
    assert store.body["spec"]["provider"]["kubernetes"] == {
        "authRef": {"name": "acme-train-kubeconfig", "key": "value"},
        "remoteNamespace": "vast-csi",
    }
    assert pushed.body["spec"]["selector"] == {"secret": {"name": copied.body["spec"]["target"]["name"]}}
    assert pushed.body["spec"]["secretStoreRefs"] == [{"kind": "SecretStore", "name": "vast-csi"}]
    assert pushed.body["spec"]["data"] == [
        {"match": {"secretKey": "endpoint", "remoteRef": {"remoteKey": "vast-vms", "property": "endpoint"}}}
    ]


def test_secrets_of_one_namespace_inside_share_its_store() -> None:
    other = Delivery(cluster="acme-train", namespace="vast-csi", name="other", keys=("a",), entry="east/other")

    kinds = [item.kind for item in external_secrets("vault", (INSIDE, other))]

    assert kinds == ["SecretStore", "ExternalSecret", "PushSecret", "ExternalSecret", "PushSecret"]


def test_those_of_a_slice_are_one_set() -> None:
    [one] = ExternalSecretsInput(
        name="tenant-acme", namespace="tenant-acme", store="vault", deliveries=(HERE, INSIDE)
    ).render()

    assert (one.name, one.namespace, one.cluster) == ("secrets-tenant-acme", "tenant-acme", MANAGEMENT)
    assert list(one.members) == [
        "hosts/ExternalSecret/bmc-a01",
        "acme-train/SecretStore/vast-csi",
        "acme-train/ExternalSecret/vast-csi-vast-vms",
        "acme-train/PushSecret/vast-csi-vast-vms",
    ]
    assert len(list(objects((one,)))) == 4
