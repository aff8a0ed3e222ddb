"""Changes that replace an object."""

import pytest

from jacquard.lab.standins.kubernetes.objects import rules


def _replaces(body: dict, path: tuple, *, mutable: bool = True) -> bool:
    forced = rules.replaced_by(body, mutable_config_maps=mutable, mutable_secrets=mutable)
    return rules.touches(path, forced)


def _of(api_version: str, kind: str, **more: object) -> dict:
    return {"apiVersion": api_version, "kind": kind, **more}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (_of("toy.dev/v1", "Loom"), ("metadata", "name")),
        (_of("toy.dev/v1", "Loom"), ("metadata", "namespace")),
        (_of("toy.dev/v1", "Loom"), ("metadata",)),
        (_of("toy.dev/v1", "Loom"), ("kind",)),
        (_of("v1", "Secret"), ("type",)),
        (_of("v1", "Secret", immutable=True), ("data", "a")),
        (_of("v1", "ConfigMap", immutable=True), ("data", "a")),
        (_of("v1", "Service"), ("spec", "clusterIP")),
        (_of("v1", "PersistentVolumeClaim"), ("spec", "storageClassName")),
        (_of("v1", "PersistentVolume"), ("spec", "nfs", "server")),
        (_of("v1", "Pod"), ("spec", "containers", 0, "image")),
        (_of("apps/v1", "Deployment"), ("spec", "selector", "matchLabels", "app")),
        (_of("apps/v1", "Deployment"), ("spec",)),
        (_of("apps/v1", "StatefulSet"), ("spec", "serviceName")),
        (_of("apps/v1", "DaemonSet"), ("spec", "selector")),
        (_of("batch/v1", "Job"), ("spec", "template", "spec")),
        (_of("rbac.authorization.k8s.io/v1", "RoleBinding"), ("roleRef", "name")),
        (_of("storage.k8s.io/v1", "StorageClass"), ("provisioner",)),
        (_of("storage.k8s.io/v1", "StorageClass"), ("parameters", "share")),
    ],
)
def test_a_field_that_the_api_server_keeps_for_ever_replaces(body: dict, path: tuple) -> None:
    assert _replaces(body, path)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (_of("toy.dev/v1", "Loom"), ("spec", "selector")),
        (_of("toy.dev/v1", "Loom"), ("metadata", "labels", "a")),
        (_of("toy.dev/v1", "Secret"), ("type",)),
        (_of("v1", "ConfigMap"), ("data", "a")),
        (_of("v1", "Secret"), ("stringData", "a")),
        (_of("v1", "Service"), ("spec", "ports", 0)),
        (_of("apps/v1", "Deployment"), ("spec", "replicas")),
        (_of("storage.k8s.io/v1", "StorageClass"), ("metadata", "annotations", "x")),
    ],
)
def test_any_other_field_changes_in_place(body: dict, path: tuple) -> None:
    assert not _replaces(body, path)


@pytest.mark.parametrize(("kind", "path"), [("ConfigMap", ("data", "a")), ("Secret", ("stringData", "a"))])
def test_content_changes_replace_unless_the_provider_makes_it_mutable(kind: str, path: tuple) -> None:
    assert _replaces(_of("v1", kind), path, mutable=False)
