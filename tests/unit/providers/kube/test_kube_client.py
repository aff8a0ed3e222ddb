"""Requests of the client to an API server, and its interpretation of the responses."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from jacquard.providers.kube import ApiError, ApiServer, Cause, KindNotFound, ObjectRef, Unreachable
from jacquard.providers.kube.discovery import Discovery
from jacquard.providers.kube.kubeconfig import Connection

MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}, "data": {"k": "v"}}
REF = ObjectRef("v1", "ConfigMap", "a", "n")


def test_apply_is_strict_and_never_forces_unasked(script: Any) -> None:
    script.answers = [(200, MAP), (200, MAP)]
    api = script.api()

    assert api.apply(MAP, field_manager="me") == MAP
    api.apply(MAP, field_manager="me", dry_run=True, force=True)

    path = "/api/v1/namespaces/n/configmaps/a?fieldManager=me&fieldValidation=Strict"
    assert script.asked == [("PATCH", path, MAP), ("PATCH", f"{path}&force=true&dryRun=All", MAP)]
    assert script.headers[0]["Content-Type"] == "application/apply-patch+yaml"
    assert script.headers[0]["User-Agent"] == "jacquard"


def test_create_patch_and_delete_send_the_correct_requests(script: Any) -> None:
    script.answers = [(201, MAP), (200, MAP), (200, {})]
    api = script.api()

    api.create(MAP, field_manager="me")
    api.patch(REF, {"status": {}}, subresource="status", field_manager="me")
    assert api.delete(REF, propagation="Orphan", uid="u", resource_version="7")

    strict = "fieldManager=me&fieldValidation=Strict"
    options = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Orphan",
        "preconditions": {"uid": "u", "resourceVersion": "7"},
    }
    assert script.asked == [
        ("POST", f"/api/v1/namespaces/n/configmaps?{strict}", MAP),
        ("PATCH", f"/api/v1/namespaces/n/configmaps/a/status?{strict}", {"status": {}}),
        ("DELETE", "/api/v1/namespaces/n/configmaps/a", options),
    ]


def test_an_object_without_a_namespace_is_of_the_contexts(script: Any) -> None:
    script.answers = [(200, MAP), (200, {})]
    api = script.api()

    api.get(ObjectRef("v1", "ConfigMap", "a"))
    api.get(ObjectRef("v1", "Node", "a", "ignored"))

    assert [path for _, path, _ in script.asked] == ["/api/v1/namespaces/here/configmaps/a", "/api/v1/nodes/a"]


def test_absent_objects_are_none_to_get_and_false_to_delete(script: Any) -> None:
    script.answers = [(404, {"reason": "NotFound", "message": "gone"})] * 2
    api = script.api()

    assert api.get(REF) is None
    assert api.delete(REF) is False


def test_a_list_is_read_page_by_page_and_names_the_kind(script: Any) -> None:
    script.answers = [
        (200, {"metadata": {"continue": "next/1"}, "items": [{"metadata": {"name": "a"}}]}),
        (200, {"metadata": {}, "items": [{"metadata": {"name": "b"}}]}),
    ]

    found = script.api().list("v1", "ConfigMap", namespace="n", label_selector="a=b", metadata_only=True)

    assert [(body["kind"], body["metadata"]["name"]) for body in found] == [("ConfigMap", "a"), ("ConfigMap", "b")]
    query = "limit=500&labelSelector=a%3Db"
    assert [path.partition("?")[2] for _, path, _ in script.asked] == [query, f"{query}&continue=next%2F1"]
    assert script.headers[0]["Accept"] == "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


def test_a_refusal_keeps_status_reason_message_and_causes(script: Any) -> None:
    causes = [{"reason": "FieldManagerConflict", "field": ".data.k", "message": 'conflict with "kubectl"'}]
    refusal = {"reason": "Conflict", "message": "apply failed", "details": {"causes": causes}}
    script.answers = [(409, refusal), (500, {"message": "x: .dat: field not declared in schema"}), (503, "not now")]
    api = script.api()

    with pytest.raises(ApiError) as conflict:
        api.apply(MAP, field_manager="me")
    with pytest.raises(ApiError) as undeclared:
        api.apply(MAP, field_manager="me")
    with pytest.raises(ApiError) as plain:
        api.get(REF)

    assert conflict.value.conflicts == (Cause("FieldManagerConflict", ".data.k", 'conflict with "kubectl"'),)
    assert str(conflict.value) == "apply failed (409 Conflict)"
    assert undeclared.value.undeclared_field
    assert str(plain.value) == "not now (503 NoStatus)"
    assert len(script.asked) == 3


def test_a_retry_after_header_is_respected(script: Any) -> None:
    script.answers = [(429, {"message": "too many"}), (200, MAP)]
    assert script.api().apply(MAP, field_manager="me") == MAP


def test_a_permanently_busy_server_is_rejecting_and_not_unreachable(script: Any) -> None:
    script.answers = [(429, {"reason": "TooManyRequests", "message": "too many"})] * 5

    with pytest.raises(ApiError) as error:
        script.api().get(REF)

    assert (str(error.value), script.answers) == ("too many (429 TooManyRequests)", [])


def test_a_slow_group_does_not_delay_others() -> None:
    asked, go_on = threading.Event(), threading.Event()

    class Server:
        def request(self, _method: str, path: str) -> Any:
            if "slow" in path:
                asked.set()
                assert go_on.wait(10)
            return {"resources": [{"name": "hosts", "kind": "Host", "namespaced": True}]}

    discovery = Discovery(Server())
    with ThreadPoolExecutor(2) as threads:
        slow = threads.submit(discovery.resource, "slow.io/v1", "Host")
        assert asked.wait(10)
        quick = threads.submit(discovery.resource, "quick.io/v1", "Host")
        try:
            assert quick.result(timeout=5).plural == "hosts"
        finally:
            go_on.set()
        assert slow.result().plural == "hosts"


def test_an_expired_credential_is_renewed_once(script: Any) -> None:
    refused = (401, {"reason": "Unauthorized", "message": "Unauthorized"})
    script.answers = [refused, (200, MAP), (200, MAP), refused, refused]
    fetched = iter(("second", "third"))
    connection = Connection(
        server=script.url, namespace="n", headers={}, tls=None, renew=lambda: {"Authorization": next(fetched)}
    )
    api = ApiServer(connection)

    assert (api.get(REF), api.get(REF)) == (MAP, MAP)
    with pytest.raises(ApiError, match=r"Unauthorized \(401 Unauthorized\)"):
        api.get(REF)

    assert [found.get("Authorization") for found in script.headers] == [None, "second", "second", "second", "third"]


def test_a_kind_is_requested_again_until_its_definition_exists(script: Any) -> None:
    late = {"resources": [{"name": "hosts", "kind": "Host", "namespaced": True}]}
    script.answers = [(404, {"reason": "NotFound", "message": "no group"}), (200, {"resources": []}), (200, late)]
    api = script.api()

    for _ in range(2):
        with pytest.raises(KindNotFound) as missing:
            api.resource("m.io/v1", "Host")
        assert str(missing.value) == "the API server does not serve m.io/v1 Host (404 KindNotFound)"
    assert api.resource("m.io/v1", "Host").collection("n") == "/apis/m.io/v1/namespaces/n/hosts"
    assert api.resource("m.io/v1", "Host").plural == "hosts"
    assert len(script.asked) == 3


def test_a_kind_may_live_in_another_version_than_the_preferred_one(script: Any) -> None:
    versions = [{"groupVersion": "m.io/v2"}, {"groupVersion": "m.io/v1"}]
    kinds = {"resources": [{"name": "hosts", "kind": "Host", "namespaced": True}]}
    script.answers = [
        (200, {"preferredVersion": versions[0], "versions": versions}),
        (200, {"resources": []}),
        (200, kinds),
        (404, {"reason": "NotFound", "message": "no group"}),
    ]
    api = script.api()

    assert api.version("m.io", "Host") == "m.io/v1"
    assert api.version("gone.io", "Host") is None


def test_a_path_prefix_of_the_server_is_kept(script: Any) -> None:
    script.url += "/prefix"
    script.answers = [(200, MAP)]
    script.api().get(REF)
    assert script.asked[0][1] == "/prefix/api/v1/namespaces/n/configmaps/a"


def test_no_answer_names_the_server_and_why(script: Any) -> None:
    script.url = "http://127.0.0.1:1"
    with pytest.raises(Unreachable) as error:
        script.api().get(REF)
    assert str(error.value) == (
        "http://127.0.0.1:1 does not answer: Failed to establish a new connection: [Errno 111] Connection refused"
    )


def test_a_streamed_response_is_read_by_line_and_an_error_is_raised(script: Any) -> None:
    script.answers = [(200, '{"type": "ADDED"}\n{"type": "DELETED"}\n'), (410, {"reason": "Expired"})]
    api = script.api()

    assert [event["type"] for event in api.lines("/api/v1/nodes", {"watch": True})] == ["ADDED", "DELETED"]
    with pytest.raises(ApiError) as refused:
        list(api.lines("/api/v1/nodes", {"watch": True}))

    assert refused.value.status == 410
    assert [path for _, path, _ in script.asked] == ["/api/v1/nodes?watch=true"] * 2
