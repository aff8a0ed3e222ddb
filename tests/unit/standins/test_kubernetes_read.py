"""Refresh and import with a small API server, and errors without one."""

from pathlib import Path
from typing import Any

import pytest

from jacquard.providers.errors import ProviderError
from jacquard.providers.rpc.errors import InitFailed
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import decode, encode

CM_PATH = "/api/v1/namespaces/toy/configmaps/a"
SECRET_PATH = "/api/v1/namespaces/toy/secrets/a"
LOOM_PATH = "/apis/toy.dev/v1/namespaces/toy/looms/a"
AWAITED = {"pulumi.com/waitFor": "condition=Ready", "pulumi.com/timeoutSeconds": "0"}


def body(kind: str = "ConfigMap", *, annotations: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": "toy", **({"annotations": annotations} if annotations else {})}
    return {"apiVersion": "toy.dev/v1" if kind == "Loom" else "v1", "kind": kind, "metadata": metadata, **fields}


def test_refresh_finds_drift_in_declared_fields_only(kube: Any, api_server: Any) -> None:
    inputs = body(data={"v": "1"})
    state = decode(kube.create(inputs).properties).plain
    api_server.objects[CM_PATH]["metadata"]["labels"] = {"by": "others"}
    assert decode(kube.read(inputs, state).inputs).plain == inputs

    api_server.objects[CM_PATH]["data"] = {"v": "outside"}
    assert decode(kube.read(inputs, state).inputs).plain == body(data={"v": "outside"})


def test_refresh_finds_drift_of_string_data(kube: Any, api_server: Any) -> None:
    inputs = body("Secret", stringData={"pw": "geheim"})
    live = body("Secret", data={"pw": "Z2VoZWlt"})
    api_server.objects[SECRET_PATH] = live
    assert decode(kube.read(inputs, live).inputs).plain == live

    api_server.objects[SECRET_PATH] = body("Secret", data={"pw": "b3RoZXI="})
    drifted = decode(kube.read(inputs, live).inputs)
    assert (drifted.plain["data"], drifted.secrets) == ({"pw": "b3RoZXI="}, {("data",)})


def test_refresh_of_a_missing_object_or_kind(kube: Any) -> None:
    assert kube.read(body(), body()).id == ""
    unserved = provider_pb2.ReadRequest(urn="urn:pulumi:dev::toy::kubernetes:future.dev/v1:X::x", id="toy/a")
    assert kube.provider.Read(unserved, None).id == ""


def test_refresh_reports_unready_objects(kube: Any, api_server: Any) -> None:
    inputs = body("Loom", annotations=AWAITED)
    api_server.objects[LOOM_PATH] = inputs

    with pytest.raises(InitFailed) as error:
        kube.read(inputs, inputs)

    assert list(error.value.detail.reasons) == ["condition=Ready: not reported yet"]


def test_import_uses_the_whole_live_object_as_inputs(kube: Any, api_server: Any) -> None:
    api_server.objects[CM_PATH] = {**body(data={"v": "1"}), "status": {}}

    assert decode(kube.read({}, {}).inputs).plain == body(data={"v": "1"})


def test_an_unreachable_cluster_keeps_the_state(configure: Any, tmp_path: Path) -> None:
    kube = configure(kubeconfig=str(tmp_path / "none"))
    state = decode(encode(body(data={"v": "1"}))).plain
    why = (
        f"{tmp_path / 'none'}: the kubeconfig does not exist (yet); create the cluster first (`jacquard up "
        "ENVIRONMENT` writes the file), or make the provider depend on the resource that writes it; the object stays "
        "in the state. If the cluster no longer exists, set deleteUnreachable on the provider to remove its objects "
        "from the state"
    )

    for verb, call in (
        ("read", lambda: kube.read(body(), state)),
        ("updated", lambda: kube.update(state, body(data={"v": "2"}))),
        ("deleted", lambda: kube.delete(body(), state)),
    ):
        with pytest.raises(ProviderError) as error:
            call()
        assert str(error.value) == f"ConfigMap toy/a cannot be {verb}: {why}"


def test_skip_update_unreachable_keeps_the_last_state(configure: Any, engine: Any, tmp_path: Path) -> None:
    kube = configure(kubeconfig=str(tmp_path / "none"), skipUpdateUnreachable="true")
    state = body(data={"v": "1"})

    assert decode(kube.read(body(data={"v": "0"}), state).inputs).plain == body(data={"v": "0"})
    assert decode(kube.update(state, body(data={"v": "2"})).properties).plain == state
    assert [text.partition(":")[0] for text in engine.messages] == [
        "ConfigMap toy/a is not refreshed, its last state is kept",
        "ConfigMap toy/a is not updated, its last state is kept",
    ]


def test_unsupported_operations_are_an_error(kube: Any) -> None:
    install = "install the vendor's provider: pulumi plugin install resource kubernetes v4.34.2"
    instead = "declare a HelmRelease of Flux, or read the output of `helm template` with a ConfigFile, or "
    invoke, make = provider_pb2.InvokeRequest, provider_pb2.ConstructRequest
    for call, token, remedy in (
        (lambda token: kube.provider.Invoke(invoke(tok=token), None), "kubernetes:helm:template", instead),
        (lambda token: kube.provider.Invoke(invoke(tok=token), None), "kubernetes:some:function", ""),
        (lambda token: kube.provider.Construct(make(type=token), None), "kubernetes:helm.sh/v4:Chart", instead),
    ):
        with pytest.raises(ProviderError) as error:
            call(token)
        assert str(error.value) == f"this stand-in for pulumi-kubernetes does not support {token}; {remedy}{install}"


def test_the_stand_in_reports_the_replaced_version(kube: Any) -> None:
    assert kube.provider.GetPluginInfo(None, None).version == "4.34.2"
