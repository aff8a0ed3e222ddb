"""Names and keys of a region's prerequisites, checked at a real API server without reading the values."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from components.render.manifest import MANAGEMENT
from components.render.objects import manifest
from jacquard.providers.kube import ObjectRef
from stacks.prerequisites import PrerequisiteCheck, keys_of, look
from tests.support.api_servers.api_server import LocalApiServer

pytestmark = pytest.mark.e2e
HOST = manifest(
    "metal3.io/v1alpha1", "BareMetalHost", "u01", namespace="hosts", spec={"bmc": {"credentialsName": "bmc-a01"}}
)
VALUE = "warp-and-weft"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    """Serve an API with the namespace of the hosts."""
    server = LocalApiServer(tmp_path_factory.mktemp("prerequisites") / "server", kinds=())
    try:
        server.namespace("hosts")
        yield server
    finally:
        server.stop()


def secret(name: str, section: str, *keys: str) -> dict[str, Any]:
    value = VALUE if section == "stringData" else base64.b64encode(VALUE.encode()).decode()
    metadata = {"name": name, "namespace": "hosts"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, section: dict.fromkeys(keys, value)}


@pytest.mark.parametrize("section", ["data", "stringData"])
@pytest.mark.parametrize("way", ["create", "apply"])
def test_metadata_contain_the_keys_and_no_values(server: LocalApiServer, way: str, section: str) -> None:
    name = f"{way}-{section.lower()}"
    getattr(server.api, way)(secret(name, section, "username", "password"), field_manager="somebody")

    found = server.api.get(ObjectRef("v1", "Secret", name, "hosts"), metadata_only=True)

    assert found is not None
    assert found["kind"] == "PartialObjectMetadata"
    assert keys_of(found["metadata"]) == {"username", "password"}
    assert not {VALUE, base64.b64encode(VALUE.encode()).decode()} & set(json.dumps(found).split('"'))


def test_the_gate_reads_keys_as_they_are_added_to_a_secret(server: LocalApiServer) -> None:
    apis, items = {MANAGEMENT: server.api}, (HOST,)

    def missing() -> str:
        [text] = look(apis, items, tuple).missing
        return text.splitlines()[1].strip()

    assert missing() == "Secret in hosts of cluster management: bmc-a01"
    server.api.apply(secret("bmc-a01", "data", "username"), field_manager="somebody")
    assert missing() == "Secret in hosts of cluster management: bmc-a01 (lacks password)"
    server.api.apply(secret("bmc-a01", "data", "password"), field_manager="somebody else")
    assert look(apis, items, tuple) == PrerequisiteCheck()
