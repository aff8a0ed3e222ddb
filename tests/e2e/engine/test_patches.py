"""Patch resources of the kubernetes stand-in at a real API server: fields next to those of others, and release."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.engine.driven_standin import DrivenStandIn

pytestmark = pytest.mark.e2e

URN = "urn:pulumi:dev::toy::kubernetes:{}Patch::r"
CONFIG_MAP, SERVICE = URN.format("core/v1:ConfigMap"), URN.format("core/v1:Service")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    running = LocalApiServer(tmp_path_factory.mktemp("patches") / "server", kinds=())
    try:
        yield running
    finally:
        running.stop()


def config_map(place: str, data: dict[str, str], **annotations: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "weft", "namespace": place}
    metadata |= {"annotations": {f"pulumi.com/{key}": text for key, text in annotations.items()}} if annotations else {}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def live(server: LocalApiServer, body: dict[str, Any]) -> dict[str, Any] | None:
    return server.api.get(ObjectRef.of(body))


def test_fields_are_set_changed_and_released_while_others_are_kept(
    server: LocalApiServer, standin: DrivenStandIn, place: str
) -> None:
    theirs = server.api.apply(config_map(place, {"a": "1"}), field_manager="somebody")
    inputs = standin.check(CONFIG_MAP, config_map(place, {"b": "2", "c": "3"}))

    assert standin.plan(CONFIG_MAP, inputs)["data"] == {"a": "1", "b": "2", "c": "3"}
    state = standin.create(CONFIG_MAP, inputs)
    assert (state["data"], state["metadata"]["uid"]) == ({"a": "1", "b": "2", "c": "3"}, theirs["metadata"]["uid"])
    assert "annotations" not in state["metadata"]

    changed = config_map(place, {"b": "4"})
    assert standin.diff(CONFIG_MAP, inputs, state, changed) == {"data.b": "update", "data.c": "delete"}
    promised = standin.update(CONFIG_MAP, inputs, state, changed, preview=True)
    state = standin.update(CONFIG_MAP, inputs, state, changed)
    assert promised["data"] == state["data"] == {"a": "1", "b": "4"}

    refreshed, kept = standin.read(CONFIG_MAP, changed, state)
    assert standin.diff(CONFIG_MAP, refreshed, kept, changed) == {}

    standin.delete(CONFIG_MAP, changed, state)
    left = live(server, changed)
    assert left is not None
    assert (left["data"], left["metadata"]["uid"]) == ({"a": "1"}, theirs["metadata"]["uid"])


def test_fields_of_others_are_only_taken_over_by_force(
    server: LocalApiServer, standin: DrivenStandIn, place: str
) -> None:
    server.api.apply(config_map(place, {"a": "1"}), field_manager="kubectl")

    with pytest.raises(ProviderError, match=r"belong to another field manager:\n  \.data\.a: .*kubectl"):
        standin.create(CONFIG_MAP, config_map(place, {"a": "2"}))

    assert standin.create(CONFIG_MAP, config_map(place, {"a": "2"}, patchForce="true"))["data"] == {"a": "2"}


def test_missing_objects_are_created_and_kept_and_deleted_ones_not_recreated(
    server: LocalApiServer, standin: DrivenStandIn, place: str
) -> None:
    inputs = config_map(place, {"a": "1"})
    standin.plan(CONFIG_MAP, inputs)
    assert live(server, inputs) is None

    state = standin.create(CONFIG_MAP, inputs)
    standin.delete(CONFIG_MAP, inputs, state)
    left = live(server, inputs)
    assert left is not None
    assert "data" not in left

    server.api.delete(ObjectRef.of(inputs))
    standin.delete(CONFIG_MAP, inputs, state)
    assert live(server, inputs) is None


def test_required_fields_are_not_released(server: LocalApiServer, standin: DrivenStandIn, place: str) -> None:
    inputs = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "shuttle", "namespace": place, "annotations": {"pulumi.com/skipAwait": "true"}},
        "spec": {"ports": [{"port": 80}]},
    }
    state = standin.create(SERVICE, inputs)

    with pytest.raises(ProviderError) as error:
        standin.delete(SERVICE, inputs, state)

    assert str(error.value) == (
        f"Service {place}/shuttle: only this patch sets spec.ports, which the object requires; set it with another "
        "manager first, or use the resource option retain_on_delete"
    )
    assert live(server, inputs) is not None
