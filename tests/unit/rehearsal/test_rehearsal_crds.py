"""CRDs in the form that the region requires."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from jacquard.lab.rehearsal import crds
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.kinds import Kind, stand_ins

PUBLISHED: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.org", "annotations": {"controller-gen": "x"}, "creationTimestamp": None},
    "spec": {
        "group": "example.org",
        "names": {"kind": "Thing", "plural": "things"},
        "scope": "Namespaced",
        "conversion": {"strategy": "Webhook"},
        "versions": [
            {"name": "v1alpha1", "served": True, "storage": False},
            {"name": "v1", "served": True, "storage": True},
        ],
    },
    "status": {"conditions": None},
}


def published(group: str, version: str = "v1") -> dict[str, Any]:
    spec = {**PUBLISHED["spec"], "group": group, "versions": [{"name": version, "served": True, "storage": True}]}
    return {**PUBLISHED, "metadata": {"name": f"things.{group}"}, "spec": spec}


def test_a_published_crd_keeps_its_storage_version_without_conversion_webhooks() -> None:
    assert crds.prepared(PUBLISHED) == {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.org"},
        "spec": {
            "group": "example.org",
            "names": {"kind": "Thing", "plural": "things"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True}],
        },
    }


def test_a_stand_in_accepts_any_content_except_for_a_rule_of_the_published_crd() -> None:
    schemas = {}
    for kind in ("Stack", "Ironic"):
        [version] = crds.stand_in(Kind("example.org", "v1", kind))["spec"]["versions"]
        schemas[kind] = version["schema"]["openAPIV3Schema"]

    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    [rule] = schemas["Stack"].pop("x-kubernetes-validations")
    assert rule["rule"] == "size(self.metadata.name) <= 42"
    assert schemas == {"Stack": anything, "Ironic": anything}


def test_a_published_crd_can_keep_every_version() -> None:
    assert crds.prepared(PUBLISHED, every_version=True)["spec"]["versions"] == PUBLISHED["spec"]["versions"]


@pytest.mark.parametrize(
    "group", ["infrastructure.cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io", "controlplane.cluster.x-k8s.io"]
)
def test_a_providers_crd_carries_the_contract_label(group: str) -> None:
    assert crds.prepared(published(group, "v1alpha2"))["metadata"]["labels"] == {"cluster.x-k8s.io/v1beta2": "v1alpha2"}


def test_a_kind_whose_provider_writes_the_former_status_carries_the_former_label() -> None:
    made = crds.stand_in(Kind("infrastructure.cluster.x-k8s.io", "v1alpha1", "IroncoreMetalMachine"))

    assert made["metadata"]["labels"] == {"cluster.x-k8s.io/v1beta1": "v1alpha1"}


def test_a_crd_of_kubernetes_own_groups_is_marked_as_unapproved() -> None:
    assert crds.prepared(published("objectstorage.k8s.io"))["metadata"]["annotations"] == {
        "api-approved.kubernetes.io": "unapproved, rehearsal"
    }


def test_an_existing_approval_is_kept() -> None:
    crd = published("snapshot.storage.k8s.io")
    crd["metadata"]["annotations"] = {"api-approved.kubernetes.io": "https://example.org/1"}

    assert crds.prepared(crd)["metadata"]["annotations"] == {"api-approved.kubernetes.io": "https://example.org/1"}


def test_a_stand_in_accepts_anything_and_has_the_contract_label() -> None:
    made = crds.stand_in(Kind("infrastructure.cluster.x-k8s.io", "v1beta2", "Metal3Machine"))

    assert made["metadata"] == {
        "name": "metal3machines.infrastructure.cluster.x-k8s.io",
        "labels": {"cluster.x-k8s.io/v1beta2": "v1beta2"},
    }
    assert made["spec"]["versions"] == [
        {
            "name": "v1beta2",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            "subresources": {"status": {}},
        }
    ]


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("DPU", "dpus"),
        ("OCIRepository", "ocirepositories"),
        ("StorageClass", "storageclasses"),
        ("BGPPeer", "bgppeers"),
        ("DPUDiscovery", "dpudiscoveries"),
        ("IPAddress", "ipaddresses"),
        ("NetworkAttachmentDefinition", "network-attachment-definitions"),
    ],
)
def test_plurals_follow_the_projects(kind: str, plural: str) -> None:
    assert Kind("example.org", "v1", kind).plural == plural


def test_the_table_marks_scope_and_status() -> None:
    kinds = {kind.kind: kind for kind in [*stand_ins("management"), *stand_ins("acme")]}

    assert (kinds["DataStore"].cluster_scoped, kinds["DataStore"].status) == (True, True)
    assert (kinds["DPUFlavor"].cluster_scoped, kinds["DPUFlavor"].status) == (False, False)


def test_a_bare_equals_sign_is_read_as_text() -> None:
    assert yaml.load("enum: [=, '!=']", crds.Loader) == {"enum": ["=", "!="]}  # noqa: S506 - it is a safe loader


def test_crds_dir_replaces_the_stand_ins_of_the_same_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kubevirt = published("kubevirt.io")
    kubevirt["spec"]["names"] = {"kind": "KubeVirt", "plural": "kubevirts"}
    older = published("cdi.kubevirt.io", "v1alpha1")
    older["spec"]["names"] = {"kind": "CDI", "plural": "cdis"}
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "all.yaml").write_text(yaml.safe_dump_all([kubevirt, older]))
    monkeypatch.setenv("CRDS_DIR", str(tmp_path))

    every = crds.definitions("acme")
    found = {crd["spec"]["names"]["kind"]: crd for crd in every}

    assert found["KubeVirt"] == crds.prepared(kubevirt)
    assert found["CDI"] == crds.stand_in(Kind("cdi.kubevirt.io", "v1beta1", "CDI", cluster_scoped=True, status=False))
    assert len(every) == len(stand_ins("acme"))


def test_crds_dir_that_is_no_folder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRDS_DIR", "/nowhere/crds")

    with pytest.raises(RehearsalError) as caught:
        crds.definitions("acme")

    assert str(caught.value) == (
        "CRDS_DIR: '/nowhere/crds' is not a folder; set a folder of published CRDs, or unset it to use stand-ins"
    )
