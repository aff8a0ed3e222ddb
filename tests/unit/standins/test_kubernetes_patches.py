"""Patch resources with a fake API server: for objects of any owner, and without deletion of the object."""

from __future__ import annotations

from typing import Any

from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import decode, encode

URN = "urn:pulumi:dev::toy::kubernetes:core/v1:ConfigMapPatch::r"
PATH = "/api/v1/namespaces/toy/configmaps/a"
BODY = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "toy"}, "data": {"b": "c"}}
SOMEBODYS = {**BODY, "metadata": {**BODY["metadata"], "uid": "uid-0", "resourceVersion": "1"}, "data": {"x": "y"}}


def create(kube: Any, *, preview: bool = False) -> dict[str, Any]:
    request = provider_pb2.CreateRequest(urn=URN, properties=encode(BODY), preview=preview)
    return decode(kube.provider.Create(request, None).properties).plain


def delete(kube: Any, state: dict[str, Any]) -> None:
    request = provider_pb2.DeleteRequest(urn=URN, id="toy/a", old_inputs=encode(BODY), properties=encode(state))
    kube.provider.Delete(request, None)


def test_foreign_objects_are_patched_without_warning_or_mark(kube: Any, api_server: Any, engine: Any) -> None:
    api_server.objects[PATH] = SOMEBODYS

    create(kube, preview=True)
    state = create(kube)

    assert api_server.writes() == [("PATCH dry-run", PATH), ("PATCH", PATH)]
    assert (state["kind"], state["metadata"]["uid"], "annotations" in state["metadata"]) == (
        "ConfigMap",
        "uid-0",
        False,
    )
    assert engine.messages == []


def test_deletion_applies_the_object_without_fields_if_it_exists(kube: Any, api_server: Any) -> None:
    api_server.objects[PATH] = SOMEBODYS
    state = create(kube)
    api_server.requests.clear()

    delete(kube, state)

    assert api_server.writes() == [("PATCH", PATH)]
    assert "data" not in api_server.objects[PATH]

    del api_server.objects[PATH]
    delete(kube, state)
    assert api_server.writes() == [("PATCH", PATH)]


def test_a_preview_warns_of_a_patch_whose_object_is_not_there(kube: Any, api_server: Any, engine: Any) -> None:
    del api_server

    create(kube, preview=True)

    [message] = engine.messages
    assert message.startswith(
        "ConfigMap toy/a does not exist: the patch creates it, and deleting the patch will not delete it; "
    )


def test_only_another_object_replaces_a_patch(kube: Any) -> None:
    def replaced(new: dict[str, Any]) -> list[str]:
        request = provider_pb2.DiffRequest(urn=URN, old_inputs=encode(BODY), olds=encode(BODY), news=encode(new))
        return list(kube.provider.Diff(request, None).replaces)

    assert replaced({**BODY, "data": {"b": "d"}, "immutable": True}) == []
    assert replaced({**BODY, "metadata": {"name": "z", "namespace": "toy"}}) == ["metadata.name"]
