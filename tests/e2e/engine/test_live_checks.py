"""Direct checks of the program at a real API server: readiness, unknown fields, and objects of other owners."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pulumi
import pytest

from components.render.manifest import Manifest, Readiness
from components.resources import child_name, type_token
from components.specs.struct import replace
from jacquard.providers.kube import ObjectRef
from stacks.probes import ReadinessCheck, not_ready
from stacks.validation import object_errors
from tests.support.api_servers.api_server import LocalApiServer

pytestmark = pytest.mark.e2e

HOST = ("metal3.io/v1alpha1", "BareMetalHost")
ONLINE = Readiness(conditions=("jsonpath={.spec.online}=true",), timeout_seconds=20)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    running = LocalApiServer(tmp_path_factory.mktemp("checking") / "server")
    try:
        yield running
    finally:
        running.stop()


def manifest(api_version: str, kind: str, namespace: str, name: str = "weft", **sections: Any) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return Manifest(body={"apiVersion": api_version, "kind": kind, "metadata": metadata, **sections})


def checked(
    server: LocalApiServer, *items: Manifest, recorded: tuple[Manifest, ...] = ()
) -> tuple[list[str], list[str]]:
    """Return the objects with unknown fields, and the existing objects that the stack did not create."""
    names = frozenset((type_token(item), child_name("c", item)) for item in recorded)
    found = object_errors(server.api, [("c", items)], names)
    return list(found.unknown), list(found.foreign)


def test_unknown_fields_are_reported_also_for_new_namespaces(server: LocalApiServer, place: str) -> None:
    items = (
        manifest("v1", "ConfigMap", place, daat={"a": "1"}),
        manifest("v1", "ConfigMap", "to-come", daat={"a": "1"}),
        manifest(*HOST, place, spec={"online": False, "onlin": True}),
        manifest("v1", "ConfigMap", place, "right", data={"a": "1"}),
        manifest("example.com/v1", "Loom", place, spec={"kind": "nobody serves"}),
    )

    unknown, foreign = checked(server, *items)

    assert [line.partition(": ")[0] for line in unknown] == [
        f"ConfigMap {place}/weft of cluster management",
        "ConfigMap to-come/weft of cluster management",
        f"BareMetalHost {place}/weft of cluster management",
    ]
    assert all(".daat: field not declared in schema" in line for line in unknown[:2])
    assert ".spec.onlin: field not declared in schema" in unknown[2]
    assert foreign == []
    assert server.api.get(ObjectRef.of(items[3].body)) is None


def test_objects_of_other_owners_are_reported_and_those_of_the_stack_are_not(
    server: LocalApiServer, place: str
) -> None:
    item = manifest("v1", "ConfigMap", place, data={"a": "1"})
    server.api.create(item.body, field_manager="somebody")

    line = f"ConfigMap {place}/weft of cluster management already exists outside this stack; "
    assert checked(server, item) == ([], [f"{line}import it, delete it, or choose another name"])
    assert checked(server, item, recorded=(item,)) == ([], [])


def awaited(place: str, *, online: bool) -> Manifest:
    return replace(manifest(*HOST, place, spec={"online": online}), readiness=ONLINE)


def checking(server: LocalApiServer) -> ReadinessCheck:
    return ReadinessCheck("management", server.kubeconfig, None)


def test_a_preview_reports_existing_objects_that_are_not_ready(server: LocalApiServer, place: str) -> None:
    item = awaited(place, online=False)
    assert list(not_ready(server.api, [item])) == []  # The run will create it.

    server.api.apply(item.body, field_manager="test")

    why = "jsonpath={.spec.online}=true: is false"
    assert list(not_ready(server.api, [item])) == [
        f"not ready: BareMetalHost {place}/weft of cluster management, which 'up' waits for: {why}"
    ]


def test_a_gate_passes_when_the_live_object_is_ready_and_not_before(server: LocalApiServer, place: str) -> None:
    item = awaited(place, online=False)
    server.api.apply(item.body, field_manager="test")

    async def story() -> bool:
        gate = asyncio.create_task(checking(server)(item))
        await asyncio.sleep(0.5)
        passed_early = gate.done()
        server.api.patch(ObjectRef.of(item.body), {"spec": {"online": True}}, field_manager="controller")
        await gate
        return passed_early

    assert asyncio.run(story()) is False


def test_a_gate_fails_for_missing_objects_and_those_that_never_become_ready(server: LocalApiServer, place: str) -> None:
    soon = replace(ONLINE, timeout_seconds=1)
    item = replace(awaited(place, online=False), readiness=soon)
    gone = replace(manifest(*HOST, place, "gone"), readiness=soon)
    server.api.apply(item.body, field_manager="test")

    with pytest.raises(pulumi.RunError) as late:
        asyncio.run(checking(server)(item))
    with pytest.raises(pulumi.RunError) as lost:
        asyncio.run(checking(server)(gone))

    assert str(late.value) == (
        f"BareMetalHost {place}/weft: not ready after 1 s: jsonpath={{.spec.online}}=true: is false; "
        "later objects were not applied"
    )
    assert str(lost.value) == (
        f"BareMetalHost {place}/gone of cluster management does not exist, although the stack created it; "
        "run 'pulumi refresh' to update the state, then 'up' to recreate it"
    )
