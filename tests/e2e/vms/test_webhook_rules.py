"""Objects that webhooks of KubeVirt and CDI reject, at a real API server with the simulation's rules."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from components.inputs import vm_offering
from components.lookups.pools import clusters
from components.render.manifest import Manifest, objects
from components.specs.reading.loader import environments, load_environment
from jacquard.lab.rehearsal import crds, webhooks
from jacquard.providers.kube import ApiError, ApiServer
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.local_regions.local_region import wait_until

pytestmark = pytest.mark.e2e

TENANT = "acme-train"
SIZES = "VirtualMachineClusterInstancetype"
KINDS = ("DataVolume", "VirtualMachine", "VirtualMachinePool", SIZES)
TOGETHER = "not be requested together"
Spoil = Callable[[dict[str, Any]], Any]


@cache
def rendered() -> list[Manifest]:
    """Return the objects of all environments that the rules match."""
    every = [load_environment(name, ENVIRONMENTS) for name in environments(ENVIRONMENTS)]
    offered = [one for env in every for placed in clusters(env) for one in vm_offering.of_cluster(env, placed)]
    return [item for one in offered for item in objects(one.render()) if item.kind in KINDS]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    server = LocalApiServer(tmp_path_factory.mktemp("webhooks") / "server", kinds=())
    try:
        crds.install(server.api, [crd for crd in crds.definitions(TENANT) if crd["spec"]["names"]["kind"] in KINDS])
        server.namespace("virtual-machines")
        webhooks.install(server.api, TENANT)
        # A server activates rules in the order of creation, so all are active when the last ones are.
        last = of(SIZES)
        overcommit(last)
        wait_until(lambda: TOGETHER in answer(server.api, last), timeout_seconds=60, what="the rules are in force")
        yield server.api
    finally:
        server.stop()


def of(kind: str, **changed: Any) -> dict[str, Any]:
    body = copy.deepcopy(next(item for item in rendered() if item.kind == kind).body)
    return {**body, "metadata": {**body["metadata"], **changed}}


def answer(api: ApiServer, body: dict[str, Any]) -> str:
    """Return the reason for which an object is rejected; empty if accepted."""
    try:
        api.apply(body, field_manager="test", force=True, dry_run=True)
    except ApiError as error:
        return error.message
    return ""


def test_rules_of_sizes_are_created_last() -> None:
    assert SIZES.lower() in webhooks.policies()[-2]["spec"]["matchConstraints"]["resourceRules"][0]["resources"][0]


def test_all_rendered_objects_are_accepted(api: ApiServer) -> None:
    found = [(item.key, why) for item in rendered() if (why := answer(api, item.body))]

    assert len(rendered()) > len(KINDS)
    assert found == []


def run_twice(body: dict[str, Any]) -> None:
    body["spec"]["running"] = True


def run_never(body: dict[str, Any]) -> None:
    del body["spec"]["runStrategy"]


def run_somehow(body: dict[str, Any]) -> None:
    body["spec"]["runStrategy"] = "Sometimes"


def unmount(body: dict[str, Any]) -> None:
    body["spec"]["template"]["spec"]["volumes"].pop(0)


def add_unreferenced_template(body: dict[str, Any]) -> None:
    body["spec"]["dataVolumeTemplates"] = [{"metadata": {"name": "nobodys"}, "spec": {}}]


def add_oversized_user_data(body: dict[str, Any]) -> None:
    volumes = body["spec"]["template"]["spec"]["volumes"]
    next(one for one in volumes if "cloudInitNoCloud" in one)["cloudInitNoCloud"] = {"userData": "#" * 2049}


def remove_source(body: dict[str, Any]) -> None:
    body["spec"]["source"] = {}


def add_second_source(body: dict[str, Any]) -> None:
    body["spec"]["source"] = {"blank": {}, "upload": {}}


def add_source_ref(body: dict[str, Any]) -> None:
    body["spec"]["sourceRef"] = {"kind": "DataSource", "name": "debian"}


def of_two_shapes(body: dict[str, Any]) -> None:
    body["spec"]["pvc"] = {}


def overcommit(body: dict[str, Any]) -> None:
    body["spec"]["memory"] |= {"overcommitPercent": 10, "hugepages": {"pageSize": "2Mi"}}


@pytest.mark.parametrize(
    ("kind", "spoil", "why"),
    [
        ("VirtualMachine", run_twice, "mutually exclusive"),
        ("VirtualMachine", run_never, "mutually exclusive"),
        ("VirtualMachine", run_somehow, "Invalid RunStrategy"),
        ("VirtualMachine", unmount, "each disk needs a volume"),
        ("VirtualMachine", add_unreferenced_template, "must be referenced"),
        ("VirtualMachine", add_oversized_user_data, "2048 byte limit"),
        ("DataVolume", remove_source, "exactly one source"),
        ("DataVolume", add_second_source, "exactly one source"),
        ("DataVolume", add_source_ref, "either Source or SourceRef"),
        ("DataVolume", of_two_shapes, "one of pvc and storage"),
        (SIZES, overcommit, TOGETHER),
    ],
)
def test_objects_that_a_webhook_rejects_are_rejected(api: ApiServer, kind: str, spoil: Spoil, why: str) -> None:
    body = of(kind)
    spoil(body)

    assert why in answer(api, body)


@pytest.mark.parametrize(
    ("kind", "path", "why"),
    [
        ("DataVolume", ("spec", "storage", "resources", "requests", "storage"), "Cannot update DataVolume Spec"),
        ("DataVolume", ("spec", "storage", "storageClassName"), "Cannot update DataVolume Spec"),
        ("VirtualMachinePool", ("spec", "selector", "matchLabels", "also"), "selector is immutable"),
    ],
)
def test_changes_of_immutable_fields_are_rejected(api: ApiServer, kind: str, path: Any, why: str) -> None:
    body = of(kind, name=f"{kind.lower()}-{path[-1].lower()}")
    api.apply(body, field_manager="test", force=True)
    *way, last = path
    inner = body
    for one in way:
        inner = inner[one]
    inner[last] = "7Gi"

    assert why in answer(api, body)
