"""Delete with a small API server."""

from pathlib import Path
from typing import Any

import pytest

from jacquard.providers.errors import ProviderError
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import decode, encode

CM_PATH = "/api/v1/namespaces/toy/configmaps/a"


def body(kind: str = "ConfigMap", *, annotations: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": "toy", **({"annotations": annotations} if annotations else {})}
    return {"apiVersion": "toy.dev/v1" if kind == "Loom" else "v1", "kind": kind, "metadata": metadata, **fields}


def test_delete_is_foreground_and_bound_to_the_uid(kube: Any, api_server: Any) -> None:
    state = decode(kube.create(body()).properties).plain
    kube.delete(body(), state)

    assert (api_server.objects, api_server.writes()[-1]) == ({}, ("DELETE", CM_PATH))
    kube.delete(body(), state)  # A missing object counts as deleted.


def test_delete_waits_for_finalizers_and_names_them(kube: Any, api_server: Any) -> None:
    inputs = body(annotations={"pulumi.com/timeoutSeconds": "0"})
    state = decode(kube.create(inputs).properties).plain
    api_server.objects[CM_PATH]["metadata"]["finalizers"] = ["toy.dev/hold"]

    with pytest.raises(ProviderError) as error:
        kube.delete(inputs, state)

    assert str(error.value) == "ConfigMap toy/a: not deleted after 0 s: deletion is blocked by toy.dev/hold"


def test_delete_keeps_a_recreated_object_of_others(kube: Any, api_server: Any) -> None:
    state = decode(kube.create(body()).properties).plain
    api_server.objects[CM_PATH]["metadata"]["uid"] = "theirs"

    with pytest.raises(ProviderError) as error:
        kube.delete(body(), state)

    assert str(error.value) == (
        "ConfigMap toy/a was deleted and recreated by another client; run `pulumi refresh` to adopt it, or "
        "`pulumi state delete` to remove it from the state"
    )
    assert CM_PATH in api_server.objects


def test_delete_with_skip_await_does_not_wait(kube: Any, api_server: Any) -> None:
    metadata = {"name": "a", "annotations": {"pulumi.com/skipAwait": "true"}}
    inputs = {**body("Namespace"), "metadata": metadata}
    api_server.objects["/api/v1/namespaces/a"] = {**inputs, "metadata": {"name": "a", "uid": "u", "finalizers": ["f"]}}

    request = provider_pb2.DeleteRequest(
        urn="urn:pulumi:dev::toy::kubernetes:core/v1:Namespace::r", id="a", old_inputs=encode(inputs)
    )
    kube.provider.Delete(request, None)

    assert api_server.writes() == [("DELETE", "/api/v1/namespaces/a")]


@pytest.mark.parametrize(
    ("annotation", "policy"), [("", "Foreground"), ("background", "Background"), ("Orphan", "Orphan")]
)
def test_an_annotation_chooses_how_dependents_are_deleted(
    kube: Any, api_server: Any, annotation: str, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = body(annotations={"pulumi.com/deletionPropagationPolicy": annotation})
    state = decode(kube.create(inputs).properties).plain
    bodies: list[Any] = []
    answer = api_server.answer
    monkeypatch.setattr(
        api_server, "answer", lambda method, path, query, sent: bodies.append(sent) or answer(method, path, query, sent)
    )

    kube.delete(inputs, state)

    assert [sent["propagationPolicy"] for sent in bodies if sent] == [policy]


def test_delete_unreachable_drops_objects_from_the_state(configure: Any, engine: Any, tmp_path: Path) -> None:
    kube = configure(kubeconfig=str(tmp_path / "none"), deleteUnreachable="true")

    assert kube.read(body(), body()).id == ""
    kube.delete(body(), body())
    assert [text.partition(":")[0] for text in engine.messages] == [
        "ConfigMap toy/a is removed from the state",
        "ConfigMap toy/a is removed from the state without being deleted",
    ]
