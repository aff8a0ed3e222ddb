"""Previews with a small API server, and without one."""

from pathlib import Path
from typing import Any

import pytest

from jacquard.providers.errors import ProviderError
from jacquard.providers.rpc.values import UNKNOWN, decode

CM_PATH = "/api/v1/namespaces/toy/configmaps/a"


def body(kind: str = "ConfigMap", *, annotations: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": "toy", **({"annotations": annotations} if annotations else {})}
    return {"apiVersion": "toy.dev/v1" if kind == "Loom" else "v1", "kind": kind, "metadata": metadata, **fields}


def test_a_preview_writes_nothing_and_promises_no_uid(kube: Any, api_server: Any) -> None:
    planned = decode(kube.create(body(data={"v": "1"}), preview=True).properties).plain

    assert (planned["metadata"]["uid"], planned["data"]) == (UNKNOWN, {"v": "1"})
    assert api_server.writes() == [("PATCH dry-run", CM_PATH)]
    assert api_server.objects == {}


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        (body(data={"v": UNKNOWN}), "an unknown input"),
        ({**body("Loom"), "apiVersion": "future.dev/v1"}, "a kind still to come"),
    ],
)
def test_a_preview_without_a_dry_run_echoes_the_inputs(
    kube: Any, api_server: Any, inputs: dict[str, Any], why: str
) -> None:
    planned = decode(kube.create(inputs, preview=True).properties).plain

    assert {**planned["metadata"], "uid": None}["name"] == "a", why
    assert planned.get("data") == inputs.get("data")
    assert api_server.writes() == []


def test_a_preview_survives_a_namespace_still_to_come(kube: Any, api_server: Any) -> None:
    missing = {"kind": "Status", "reason": "NotFound", "message": 'namespaces "toy" not found'}
    api_server.refusals["PATCH", CM_PATH] = (404, missing)

    assert decode(kube.create(body(data={"v": "1"}), preview=True).properties).plain["data"] == {"v": "1"}

    with pytest.raises(ProviderError) as error:
        kube.create(body())
    assert str(error.value) == (
        'ConfigMap toy/a: namespaces "toy" not found; create the namespace first, and make this resource depend on it'
    )


def test_a_preview_without_a_kubeconfig_warns_once(
    configure: Any, engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ambient = tmp_path / "ambient"
    ambient.write_text("must never be read")
    monkeypatch.setenv("KUBECONFIG", str(ambient))
    kube = configure(kubeconfig=str(tmp_path / "none"))

    for _ in range(3):
        kube.create(body(data={"v": "1"}), preview=True)

    assert engine.messages == [
        (
            f"objects are planned without validation by their cluster: {tmp_path / 'none'}: the kubeconfig does not "
            "exist (yet); create the cluster first (`jacquard up ENVIRONMENT` writes the file), or make the provider "
            "depend on the resource that writes it"
        )
    ]


def test_an_update_preview_keeps_the_uid(kube: Any) -> None:
    state = decode(kube.create(body(data={"v": "1"})).properties).plain

    planned = decode(kube.update(state, body(data={"v": "2"}), preview=True).properties).plain

    assert (planned["metadata"]["uid"], planned["data"]) == ("uid-1", {"v": "2"})
