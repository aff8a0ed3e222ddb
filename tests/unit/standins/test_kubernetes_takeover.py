"""Fields move to the resource's manager before it applies."""

from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.standins.kubernetes.objects import takeover
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import field_sets
from jacquard.providers.rpc.values import decode

URN = "urn:pulumi:dev::toy::kubernetes:core/v1:ConfigMap::r"
CM_PATH = "/api/v1/namespaces/toy/configmaps/a"
BODY: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "toy"}}


def entry(manager: str, fields: dict[str, Any], operation: str = "Update", **more: Any) -> dict[str, Any]:
    return {"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields, **more}


def owned(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**BODY, "metadata": {**BODY["metadata"], "managedFields": list(entries)}, **more}


def data(*keys: str) -> dict[str, Any]:
    return {"f:data": {".": {}, **{f"f:{key}": {} for key in keys}}}


@pytest.mark.parametrize(
    "manager", ["pulumi-kubernetes", "pulumi-kubernetes.exe", "pulumi-resource-kubernetes", "ours"]
)
def test_everything_moves_that_the_vendors_provider_wrote(manager: str) -> None:
    other = entry("controller", {"f:status": {}})

    move = takeover.moved(owned(entry(manager, data("a", "gone")), other), "ours", [])

    ours = {"manager": "ours", "operation": "Apply", "fieldsType": "FieldsV1", "apiVersion": "v1"}
    assert move == takeover.Move([other, {**ours, "fieldsV1": data("a", "gone")}], ())


def test_moved_fields_are_merged_with_ours() -> None:
    move = takeover.moved(owned(entry("ours", data("a"), "Apply"), entry("pulumi-kubernetes", data("b"))), "ours", [])

    assert move is not None
    assert [(item["manager"], item["operation"], item["fieldsV1"]) for item in move.entries] == [
        ("ours", "Apply", data("a", "b"))
    ]


def test_only_declared_fields_of_users_are_moved() -> None:
    by_hand = entry("kubectl-edit", {**data("old", "new", "theirs"), "f:metadata": {"f:labels": {"f:l": {}}}})

    move = takeover.moved(owned(by_hand), "ours", [{"data": {"old": "1"}}, {"data": {"new": "1"}}])

    assert move is not None
    assert move.from_hands == ("kubectl-edit",)
    assert [(item["manager"], item["fieldsV1"]) for item in move.entries] == [
        ("kubectl-edit", {"f:data": {"f:theirs": {}}, "f:metadata": {"f:labels": {"f:l": {}}}}),
        ("ours", data("old", "new")),
    ]


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (entry("controller", data("a")), "a controller's"),
        (entry("kubectl-edit", {"f:metadata": {"f:labels": {"f:l": {}}}}), "a label that nobody declares"),
        (entry("pulumi-kubernetes", data("a"), subresource="status"), "a status"),
        (entry("pulumi-kubernetes-4711", data("a"), "Apply"), "another resource's"),
        (entry("jacquard-window", data("a"), "Apply"), "the keeper's of a window"),
    ],
)
def test_fields_of_other_managers_are_kept(other: dict[str, Any], why: str) -> None:
    mine = entry("jacquard", data("b"), "Apply")

    assert takeover.moved(owned(mine, other), "jacquard", [{"data": {"a": "1"}}]) is None, why


PORTS = {
    "f:spec": {
        "f:ports": {
            ".": {},
            'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:name": {}},
            'k:{"port":81,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:name": {}},
        },
        "f:finalizers": {'v:"a"': {}, 'v:"b"': {}},
    }
}


def test_list_items_are_identified_by_keys_and_values() -> None:
    body = {"spec": {"ports": [{"port": 81, "name": "x"}], "finalizers": ["b"]}}

    assert field_sets.of_body(PORTS, body) == {
        "f:spec": {
            "f:ports": {".": {}, 'k:{"port":81,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:name": {}}},
            "f:finalizers": {'v:"b"': {}},
        }
    }
    assert takeover.without(PORTS, field_sets.of_body(PORTS, body)) == {
        "f:spec": {
            "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:name": {}}},
            "f:finalizers": {'v:"a"': {}},
        }
    }


def test_an_apply_after_a_take_over_is_foreseen() -> None:
    port = {"protocol": "TCP", "targetPort": 1}
    live = owned(
        spec={
            "ports": [{"port": 80, "name": "w", **port}, {"port": 81, "name": "x", **port}],
            "finalizers": ["a", "b", "theirs"],
            "type": "ClusterIP",
        },
        data={"only": "ours"},
    )
    fields = {**PORTS, **data("only")}
    move = takeover.Move([entry("controller", {"f:spec": {"f:type": {}}}), entry("ours", fields, "Apply")], ())
    body = {**BODY, "spec": {"ports": [{"port": 81, "name": "y"}], "finalizers": ["b", "c"]}}

    after = takeover.applied(live, body, move)

    assert after["spec"] == {
        "ports": [{"port": 81, "name": "y", **port}],
        "finalizers": ["b", "theirs", "c"],
        "type": "ClusterIP",
    }
    assert "data" not in after


def test_a_takeover_from_users_is_reported_and_survives_a_busy_controller(
    kube: Any, api_server: Any, engine: Any
) -> None:
    inputs = {**BODY, "data": {"v": "1"}}
    state = decode(kube.create(inputs).properties).plain
    api_server.objects[CM_PATH]["metadata"]["managedFields"] = [entry("kubectl-patch", data("v"))]
    looks = []

    def busy(path: str) -> None:
        looks.append(path)
        if len(looks) < 3:
            seen = api_server.objects[path]
            changed = {**seen["metadata"], "resourceVersion": f"busy-{len(looks)}"}
            api_server.objects[path] = {**seen, "metadata": changed}

    api_server.after_get = busy
    kube.update(state, {**BODY, "data": {"v": "2"}})

    assert api_server.objects[CM_PATH]["data"] == {"v": "2"}
    assert len(looks) == 3
    assert engine.messages == [
        "ConfigMap toy/a: ownership of the declared fields moves from kubectl-patch to this resource"
    ]


def test_a_conflict_with_another_manager_is_an_error_in_a_preview_too(kube: Any, api_server: Any) -> None:
    inputs = {**BODY, "data": {"v": "1"}}
    state = decode(kube.create(inputs).properties).plain
    api_server.objects[CM_PATH]["metadata"]["managedFields"] = [entry("pulumi-kubernetes", data("v"))]
    cause = {"reason": "FieldManagerConflict", "field": ".data.v", "message": 'conflict with "controller" using v1'}
    conflict = {"kind": "Status", "reason": "Conflict", "message": "1 conflict", "details": {"causes": [cause]}}
    api_server.refusals["PATCH", CM_PATH] = (409, conflict)

    with pytest.raises(ProviderError, match="belong to another field manager"):
        kube.update(state, inputs, preview=True)

    cause["message"] = 'conflict with "pulumi-kubernetes" using v1'
    planned = decode(kube.update(state, {**BODY, "data": {"v": "3"}}, preview=True).properties).plain
    assert planned["data"] == {"v": "3"}
    assert api_server.writes()[-1] == ("PUT dry-run", CM_PATH)


CHANGED = {**BODY, "data": {"v": "2"}}
VENDORS = {"manager": "pulumi-kubernetes", "operation": "Update", "fieldsV1": {"f:data": {"f:v": {}, "f:gone": {}}}}


@pytest.fixture
def adopting(configure: Any, api_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A provider that adopts objects that the vendor's provider created before the state was lost."""
    metadata = {"name": "a", "namespace": "toy", "uid": "theirs", "resourceVersion": "1", "managedFields": [VENDORS]}
    api_server.objects[CM_PATH] = {**BODY, "data": {"v": "1", "gone": "1"}, "metadata": metadata}
    monkeypatch.setenv("PULUMI_K8S_UPSERT_EXISTING_OBJECTS", "true")
    return configure(kubeconfig=str(tmp_path / "kubeconfig"))


def test_objects_of_the_vendors_provider_are_adopted_on_request(adopting: Any, api_server: Any) -> None:
    metadata = {**BODY["metadata"], "annotations": {"pulumi.com/patchFieldManager": "shared"}}
    made = decode(adopting.create({**CHANGED, "metadata": metadata}).properties).plain

    assert (made["metadata"]["uid"], api_server.objects[CM_PATH]["data"]) == ("theirs", {"v": "2"})
    # Its fields move first; otherwise fields that are no longer declared would remain.
    assert [method for method, _ in api_server.writes()] == ["PATCH", "PATCH"]
    assert api_server.objects[CM_PATH]["metadata"]["annotations"]["jacquard.dev/made-by"] == URN


def test_a_preview_reports_adoptions(adopting: Any, api_server: Any, engine: Any) -> None:
    planned = decode(adopting.create(CHANGED, preview=True).properties).plain

    assert (planned["data"], engine.messages) == ({"v": "2"}, [])
    assert {method for method, _ in api_server.writes()} == {"PATCH dry-run", "PUT dry-run"}


def test_objects_of_our_other_resources_are_kept_all_the_same(adopting: Any, api_server: Any) -> None:
    maker = {"jacquard.dev/made-by": "urn:pulumi:other::toy::kubernetes:core/v1:ConfigMap::r"}
    api_server.objects[CM_PATH]["metadata"]["annotations"] = maker

    with pytest.raises(ProviderError, match="already exists and was created by urn:pulumi:other::"):
        adopting.create(CHANGED)
    assert api_server.writes() == []
