"""Prerequisites of a local region: created as in the list, if their namespace exists."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from jacquard.lab.rehearsal.operators import platform
from jacquard.machine.paths import GIVEN
from tests.support.objects.live_objects import obj

BMC_SECRET = "metal.ironcore.dev/BMCSecret"


def listed(folder: Path, *entries: tuple[str, str, str, str, list[str]]) -> Path:
    fields = ("kind", "cluster", "namespace", "name", "keys")
    (folder / GIVEN).write_text(json.dumps([dict(zip(fields, entry, strict=True)) for entry in entries]))
    return folder


def secrets(view: Any) -> dict[str, list[str]]:
    return {one["metadata"]["name"]: sorted(one["data"]) for one in view.all("v1", "Secret")}


def test_secrets_are_created_with_their_keys_in_the_listed_cluster_and_namespace(objects: Any, tmp_path: Path) -> None:
    login = ("Secret", "management", "acme", "bmc", ["password", "username"])
    of_tenant = ("Secret", "acme", "csi", "login", ["token"])
    space = obj("v1", "Namespace", "acme", namespace="")
    views = {"management": objects(space), "acme": objects(obj("v1", "Namespace", "csi", namespace=""))}

    platform.reconcile(listed(tmp_path, login, of_tenant), views)

    assert {cluster: secrets(view) for cluster, view in views.items()} == {
        "management": {"bmc": ["password", "username"]},
        "acme": {"login": ["token"]},
    }


def test_prerequisites_without_a_namespace_are_created_later(objects: Any, tmp_path: Path) -> None:
    folder = listed(tmp_path, ("Secret", "management", "acme", "bmc", ["username"]))
    view = objects()
    platform.reconcile(folder, {})
    platform.reconcile(folder, {"management": view})
    assert secrets(view) == {}

    view.create(obj("v1", "Namespace", "acme", namespace=""))
    platform.reconcile(folder, {"management": view})

    assert secrets(view) == {"bmc": ["username"]}


def test_flux_has_its_rights_in_the_management_cluster_only(objects: Any, tmp_path: Path) -> None:
    views = {"management": objects(), "acme": objects()}

    platform.reconcile(tmp_path, views)

    rights = views["management"].get("ClusterRoleBinding", "cluster-reconciler-flux-system")
    assert platform.FLUX.split(":")[2:] == [rights["subjects"][0][key] for key in ("namespace", "name")]
    assert views["acme"].store == {}


def test_nothing_is_created_without_a_list_or_for_unlisted_kinds(objects: Any, tmp_path: Path) -> None:
    view = objects(obj("v1", "Namespace", "acme", namespace=""))
    platform.reconcile(tmp_path, {"management": view})
    before = dict(view.store)
    storage_class = ("storage.k8s.io/StorageClass", "management", "", "local", [])
    platform.reconcile(listed(tmp_path, storage_class), {"management": view})

    assert view.store == before


def test_config_maps_are_created_with_their_keys(objects: Any, tmp_path: Path) -> None:
    view = objects(obj("v1", "Namespace", "external-secrets", namespace=""))
    authority = ("ConfigMap", "management", "external-secrets", "vault-ca", ["ca.crt"])

    platform.reconcile(listed(tmp_path, authority), {"management": view})

    assert view.get("ConfigMap", "vault-ca", "external-secrets")["data"].keys() == {"ca.crt"}


def test_existing_prerequisites_are_kept(objects: Any, tmp_path: Path) -> None:
    own = obj("v1", "Secret", "bmc", namespace="acme", data={"username": "b3du"})
    view = objects(obj("v1", "Namespace", "acme", namespace=""), own)

    platform.reconcile(listed(tmp_path, ("Secret", "management", "acme", "bmc", ["username"])), {"management": view})

    assert view.get("Secret", "bmc", "acme")["data"] == {"username": "b3du"}


def test_each_kind_is_created_as_its_api_server_requires(objects: Any, tmp_path: Path) -> None:
    view = objects(obj("v1", "Namespace", "acme", namespace=""))
    pull = ("Secret", "management", "acme", "pull", [".dockerconfigjson"])
    bmc = (BMC_SECRET, "management", "", "bmc-a01", ["password", "username"])
    store = ("external-secrets.io/ClusterSecretStore", "management", "", "vault", [])

    platform.reconcile(listed(tmp_path, pull, bmc, store), {"management": view})

    made = view.get("Secret", "pull", "acme")
    assert made["type"] == "kubernetes.io/dockerconfigjson"
    assert json.loads(base64.b64decode(made["data"][".dockerconfigjson"])) == {"auths": {}}
    assert view.get("BMCSecret", "bmc-a01").keys() == {"apiVersion", "kind", "metadata", "data"}
    assert sorted(view.get("BMCSecret", "bmc-a01")["data"]) == ["password", "username"]
    assert view.get("ClusterSecretStore", "vault")["spec"] == {"provider": {"fake": {"data": []}}}
