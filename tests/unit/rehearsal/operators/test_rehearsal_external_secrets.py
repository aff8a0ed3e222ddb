"""External Secrets Operator in the local region: prerequisites, rejected objects, and written Secrets."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from components.render.manifest import MANAGEMENT
from components.render.objects import namespace
from components.render.region.external_secrets import Delivery, external_secrets
from components.render.region.secret_store import render
from components.specs.struct import replace
from jacquard.lab.rehearsal.operators import external_secrets as operator
from jacquard.lab.rehearsal.operators.releases.installed import HELM, SOURCE
from jacquard.lab.rehearsal.operators.view import reported
from tests.support.data.external_store import MADE
from tests.support.objects.live_objects import obj

HERE = Delivery(cluster=MANAGEMENT, namespace="hosts", name="bmc-a01", keys=("password", "username"), entry="a/bmc-a01")
INSIDE = Delivery(cluster="acme-train", namespace="vast-csi", name="vast", keys=("endpoint",), entry="a/vast")
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
AUTHORITY = obj("v1", "ConfigMap", "vault-ca", namespace="external-secrets", data={"ca.crt": "simulated"})
KUBECONFIG = obj("v1", "Secret", "acme-train-kubeconfig", namespace="acme-train", data={"value": "simulated"})
CHART = obj(SOURCE, "OCIRepository", "eso", {"url": "oci://registry.example/charts/external-secrets"}, "ops")
ACCOUNT, *_, STORE = (item.body for item in render(MADE))


def release(**more: Any) -> dict[str, Any]:
    chart = {"kind": "OCIRepository", "name": "eso", "namespace": "ops"}
    return obj(HELM, "HelmRelease", "eso", {"chartRef": chart}, "ops", **more)


def rendered(*deliveries: Delivery) -> list[Any]:
    spaces = [namespace(name).body for name in ("hosts", "acme-train")]
    return [*spaces, ACCOUNT, STORE, *(item.body for item in external_secrets(MADE.store or "", deliveries))]


def settled(view: Any, inside: Any = None) -> Any:
    for _ in range(5):
        operator.reconcile(view, {"acme-train": inside}.get)
    return view


def condition(view: Any, kind: str, name: str, place: str = "") -> tuple[str, str, str]:
    [one] = view.get(kind, name, place)["status"]["conditions"]
    return one["status"], one["reason"], one["message"]


def test_a_secret_is_copied_with_the_keys_that_its_readers_need(objects: Any) -> None:
    view = settled(objects(*rendered(HERE), AUTHORITY))

    assert condition(view, "ClusterSecretStore", "vault") == ("True", "Valid", "")
    assert condition(view, "ExternalSecret", "bmc-a01", "hosts") == ("True", "SecretSynced", "")
    assert view.get("Secret", "bmc-a01", "hosts")["data"].keys() == {"password", "username"}


def test_a_status_is_written_once_with_the_fields_of_the_schema(objects: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    view = settled(objects(*rendered(HERE), AUTHORITY))
    monkeypatch.delattr(type(view), "status")

    settled(view)

    [ready] = view.get("ExternalSecret", "bmc-a01", "hosts")["status"]["conditions"]
    assert ready.keys() == {"type", "status", "reason", "message", "lastTransitionTime"}


@pytest.mark.parametrize(
    ("gone", "lacking"),
    [
        ([ACCOUNT], "ServiceAccount 'vault-login' not found"),
        ([AUTHORITY], "ConfigMap 'vault-ca' not found"),
        ([ACCOUNT, AUTHORITY], "ServiceAccount 'vault-login' not found; ConfigMap 'vault-ca' not found"),
    ],
)
def test_a_store_without_credentials_is_not_ready_and_delivers_nothing(
    objects: Any, gone: list[Any], lacking: str
) -> None:
    view = settled(objects(*(one for one in (*rendered(HERE), AUTHORITY) if one not in gone)))

    assert condition(view, "ClusterSecretStore", "vault") == ("False", "InvalidProviderConfig", lacking)
    assert condition(view, "ExternalSecret", "bmc-a01", "hosts")[2] == "ClusterSecretStore 'vault' is not ready"
    assert view.find("v1", "Secret", "bmc-a01", "hosts") is None


def test_a_certificate_under_another_key_is_none(objects: Any) -> None:
    view = settled(objects(*rendered(), {**AUTHORITY, "data": {"tls.crt": "simulated"}}))

    assert condition(view, "ClusterSecretStore", "vault")[2] == "ConfigMap 'vault-ca' has no key 'ca.crt'"


def test_a_namespace_that_the_region_did_not_make_is_refused(objects: Any) -> None:
    foreign = obj("v1", "Namespace", "theirs", namespace="", metadata={"labels": {"team": "other"}})
    view = settled(objects(*rendered(replace(HERE, namespace="theirs")), foreign, AUTHORITY))

    status, _, message = condition(view, "ExternalSecret", "bmc-a01", "theirs")
    assert (status, message) == (
        "False",
        "using cluster store 'vault' is not allowed from namespace 'theirs': denied by spec.condition",
    )


def test_a_missing_store_delivers_nothing(objects: Any) -> None:
    view = settled(objects(*(one for one in rendered(HERE) if one is not STORE)))

    assert condition(view, "ExternalSecret", "bmc-a01", "hosts")[2] == "ClusterSecretStore 'vault' not found"


def test_nothing_happens_before_the_operator_of_a_release_is_ready(objects: Any) -> None:
    view = settled(objects(*rendered(HERE), AUTHORITY, CHART, release()))
    assert "status" not in view.get("ExternalSecret", "bmc-a01", "hosts")

    view.status(release(), READY)
    settled(view)
    assert reported(view.get("ExternalSecret", "bmc-a01", "hosts"), "Ready")


def test_a_login_to_pull_images_has_its_type_and_is_json(objects: Any) -> None:
    view = settled(objects(*rendered(replace(HERE, keys=(".dockerconfigjson",))), AUTHORITY))

    found = view.get("Secret", "bmc-a01", "hosts")
    assert found["type"] == "kubernetes.io/dockerconfigjson"
    assert json.loads(base64.b64decode(found["data"][".dockerconfigjson"])) == {"auths": {}}


def test_a_secret_inside_a_cluster_is_pushed_into_its_namespace(objects: Any) -> None:
    inside = objects(namespace("vast-csi").body)
    view = settled(objects(*rendered(INSIDE), AUTHORITY, KUBECONFIG), inside)

    assert condition(view, "PushSecret", "vast-csi-vast", "acme-train") == ("True", "Synced", "")
    assert inside.get("Secret", "vast", "vast-csi")["data"].keys() == {"endpoint"}


@pytest.mark.parametrize(
    ("there", "lacking"),
    [
        ([AUTHORITY], "SecretStore 'vast-csi' is not ready"),
        ([KUBECONFIG], "Secret 'vast-csi-vast' not found"),
        ([AUTHORITY, KUBECONFIG], "namespace 'vast-csi' of cluster 'acme-train' not found"),
    ],
    ids=["no kubeconfig", "nothing copied", "no namespace"],
)
def test_a_push_reports_its_missing_prerequisite(objects: Any, there: list[Any], lacking: str) -> None:
    view = settled(objects(*rendered(INSIDE), *there), objects())

    assert condition(view, "PushSecret", "vast-csi-vast", "acme-train") == ("False", "Errored", lacking)
