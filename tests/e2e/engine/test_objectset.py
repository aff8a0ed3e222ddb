"""Object sets with the real engine and a real API server: early rejection, resumption, adoption, transfer."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jacquard.providers.kube import ObjectRef
from jacquard.providers.objectset.applyset import ID, KINDS, MEMBER, PART_OF, applyset_id
from jacquard.providers.objectset.inputs import brief
from tests.support.api_servers.api_server import HOSTS, LocalApiServer
from tests.support.engine.pulumi_project import Project
from tests.support.local_regions.local_region import wait_until

pytestmark = pytest.mark.e2e

SET = "rack-a01"
FIRMWARE = {"HostFirmwareSettings": {"settings": {}}, "HostFirmwareComponents": {"updates": []}}
"""Objects that the bare-metal operator creates for each host, by kind."""
BASELINE: dict[str, dict[str, Any]] = {
    "HostFirmwareSettings": {"settings": {"Turbo": "On", "Watts": 500}},
    "HostFirmwareComponents": {"updates": [{"component": "bios", "url": "https://firmware.example/bios.bin"}]},
}
CANCELLED_HOSTS = 1500
"""Enough hosts that the apply is still running when the signal arrives."""


def host(name: str, namespace: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "labels": {"jacquard.dev/rack": "a01"}}
    bmc = {"address": "redfish-virtualmedia://10.0.0.1/redfish/v1/Systems/1", "credentialsName": "bmc"}
    body = {"online": True, "bmc": bmc, "bootMode": "UEFI", **spec}
    return {"apiVersion": HOSTS[0], "kind": HOSTS[1], "metadata": metadata, "spec": body}


def rack(namespace: str, *names: str, name: str = SET, **specs: dict[str, Any]) -> dict[str, Any]:
    members = {f"{one}/BareMetalHost": host(one, namespace, **specs.get(one, {})) for one in names}
    return {"setName": name, "namespace": namespace, "members": members}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    running = LocalApiServer(tmp_path_factory.mktemp("objectset") / "server", kinds=(HOSTS[1], *FIRMWARE))
    yield running
    running.stop()


@pytest.fixture
def namespace(server: LocalApiServer, request: pytest.FixtureRequest) -> str:
    """A namespace for the test, without hosts of other tests."""
    return server.namespace(request.node.name.replace("_", "-").replace("test-", "")[:60].strip("-"))


@pytest.fixture
def project(server: LocalApiServer, tmp_path: Path) -> Project:
    return Project(tmp_path / "project", server.kubeconfig)


def uids(server: LocalApiServer, namespace: str) -> dict[str, str]:
    """Return the uid of each host in the state."""
    return {name: brief(body) for name, body in server.hosts(namespace).items()}


def recorded(project: Project, name: str = SET) -> dict[str, str]:
    """Return the recorded uids in the state, by host."""
    found = project.resources()[name]["outputs"]["uids"]
    return {key.partition("/")[0]: uid for key, uid in found.items()}


def test_rejections_and_conflicts_appear_in_preview_and_a_failed_up_is_resumed(
    server: LocalApiServer, namespace: str, project: Project
) -> None:
    project.declare({SET: rack(namespace, "u01", "u02", "u03", u02={"bootMode": "bios"}, u03={"onlin": True})})
    preview = project.preview()
    assert preview.code != 0
    assert f"BareMetalHost {namespace}/u02: " in preview.text
    assert 'spec.bootMode: Unsupported value: "bios"' in preview.text
    assert f"BareMetalHost {namespace}/u03: .spec.onlin is not declared in the schema of this kind" in preview.text
    assert server.hosts(namespace) == {}

    half_done = project.up()
    assert half_done.code != 0
    assert f"BareMetalHost {namespace}/u03: .spec.onlin is not declared in the schema of this kind" in half_done.text
    first = uids(server, namespace)
    assert recorded(project) == first
    assert list(first) == ["u01"]

    project.declare({SET: rack(namespace, "u01", "u02", "u03")})
    assert project.up().code == 0
    whole = uids(server, namespace)
    assert recorded(project) == whole
    assert list(whole) == ["u01", "u02", "u03"]
    assert whole["u01"] == first["u01"]


def test_a_conflict_names_the_owner_and_one_run_takes_the_field_over(
    server: LocalApiServer, namespace: str, project: Project
) -> None:
    project.declare({SET: rack(namespace, "u01", "u02")})
    assert project.up().code == 0
    edit = {**host("u01", namespace), "spec": {"online": True, "description": "by hand"}}
    server.api.apply(edit, field_manager="kubectl-edit")
    server.report(namespace, "provisioned", "u02")
    project.declare({SET: rack(namespace, "u01", u01={"description": "declared"})})

    preview = project.preview("--diff")
    assert preview.code != 0
    assert (
        f"BareMetalHost {namespace}/u01: fields belong to other managers: .spec.description ('kubectl-edit')"
        in preview.text
    )
    assert f"BareMetalHost {namespace}/u02 is provisioned; release and wipe it first" in preview.text
    lines = [line.strip() for line in preview.stdout.splitlines()]
    assert '+ description: "declared"' in lines
    assert "- u02/BareMetalHost: {" in lines

    server.report(namespace, "available", "u02")
    up = project.up(JACQUARD_TAKE_FIELDS_FROM="kubectl-edit")
    assert up.code == 0, up.text
    taken = f"fields taken over with JACQUARD_TAKE_FIELDS_FROM: BareMetalHost {namespace}/u01 .spec.description"
    assert taken in up.text
    [left] = server.hosts(namespace).values()
    assert left["spec"]["description"] == "declared"


@pytest.mark.nightly
def test_a_set_whose_state_is_lost_is_adopted_by_up_and_by_import(
    server: LocalApiServer, namespace: str, project: Project
) -> None:
    names = [f"u{number:02}" for number in range(20)]
    declared = rack(namespace, *names, u03={"taints": [{"key": "a", "effect": "NoSchedule"}]})
    project.declare({SET: declared})
    assert project.up().code == 0
    before = uids(server, namespace)
    parent = server.api.get(ObjectRef("v1", "ConfigMap", SET, namespace))
    marks = server.hosts(namespace)["u01"]["metadata"]
    assert parent is not None
    assert parent["metadata"]["annotations"][KINDS] == "BareMetalHost.metal3.io"
    assert marks["labels"][PART_OF] == applyset_id(SET, namespace)
    assert marks["annotations"][MEMBER] == "u01/BareMetalHost"

    project.lose_state()
    adopted = project.up()
    assert adopted.code == 0, adopted.text
    assert uids(server, namespace) == recorded(project) == before

    project.lose_state()
    project.declare({SET: {**declared, "import": f"{namespace}/{SET}"}})
    imported = project.up()
    assert imported.code == 0, imported.text
    assert uids(server, namespace) == recorded(project) == before
    project.declare({SET: declared})
    unchanged = project.preview("--expect-no-changes", "--refresh")
    assert unchanged.code == 0, unchanged.text


def test_a_split_and_then_renamed_rack_keeps_its_hosts(
    server: LocalApiServer, namespace: str, project: Project
) -> None:
    project.declare({SET: rack(namespace, "u01", "u02", "u03")})
    assert project.up().code == 0
    before = uids(server, namespace)
    server.report(namespace, "provisioned")

    project.declare({SET: rack(namespace, "u01"), "rack-a02": rack(namespace, "u02", "u03", name="rack-a02")})
    split = project.up()
    assert split.code == 0, split.text
    project.declare(
        {
            "rack-a01b": rack(namespace, "u01", name="rack-a01b"),
            "rack-a02": rack(namespace, "u02", "u03", name="rack-a02b"),
        }
    )
    renamed = project.up()
    assert renamed.code == 0, renamed.text

    assert uids(server, namespace) == before
    assert recorded(project, "rack-a01b") | recorded(project, "rack-a02") == before
    parents = server.api.list("v1", "ConfigMap", namespace=namespace, label_selector=ID)
    assert [parent["metadata"]["name"] for parent in parents] == ["rack-a01b", "rack-a02b"]


def test_another_cluster_with_the_same_kubeconfig_loses_nothing(
    server: LocalApiServer, namespace: str, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "kubeconfig.yaml"
    kubeconfig.write_bytes(server.kubeconfig.read_bytes())
    project = Project(tmp_path / "project", kubeconfig)
    project.declare({SET: rack(namespace, "u01")})
    assert project.up().code == 0
    before = project.resources()[SET]

    other = LocalApiServer(tmp_path / "other")
    try:
        other.namespace(namespace)
        kubeconfig.write_bytes(other.kubeconfig.read_bytes())
        refreshed = project.pulumi("refresh", "-s", "test", "--yes", "--skip-preview")
        destroyed = project.pulumi("destroy", "-s", "test", "--yes", "--skip-preview")
    finally:
        other.stop()

    for outcome in (refreshed, destroyed):
        assert outcome.code != 0
        assert "is not the cluster to which this set was applied" in outcome.text
    after = project.resources()[SET]
    assert (after["inputs"], after["outputs"]) == (before["inputs"], before["outputs"])
    assert list(server.hosts(namespace)) == ["u01"]


def test_an_interrupted_up_leaves_a_correct_state_and_the_next_one_continues(
    server: LocalApiServer, namespace: str, project: Project
) -> None:
    names = [f"u{number:05}" for number in range(CANCELLED_HOSTS)]
    project.declare({SET: rack(namespace, *names)})
    process = project.start("up", "-s", "test", "--yes", "--skip-preview")
    first = ObjectRef(*HOSTS, names[50], namespace)
    wait_until(lambda: server.api.get(first) is not None, timeout_seconds=60, what="hosts are applied", during=process)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)

    done = uids(server, namespace)
    assert process.returncode != 0
    assert 0 < len(done) < len(names)
    assert f"{len(names) - len(done)} objects not started because the run was cancelled" in stdout + stderr
    assert recorded(project) == done

    resumed = project.up()
    assert resumed.code == 0, resumed.text
    after = uids(server, namespace)
    assert recorded(project) == after
    assert len(after) == len(names)
    assert done.items() <= after.items()


def make_firmware(server: LocalApiServer, namespace: str, name: str) -> None:
    for kind, empty in FIRMWARE.items():
        body = {"apiVersion": HOSTS[0], "kind": kind, "metadata": {"name": name, "namespace": namespace}}
        server.api.create({**body, "spec": empty}, field_manager="baremetal-operator")


def firmware(server: LocalApiServer, namespace: str) -> dict[str, dict[str, Any]]:
    """Return the specs of the firmware objects by kind and name."""
    found = {kind: server.api.list(HOSTS[0], kind, namespace=namespace) for kind in FIRMWARE}
    return {kind: {body["metadata"]["name"]: body["spec"] for body in bodies} for kind, bodies in found.items()}


def test_firmware_objects_are_patched_when_they_exist_and_released_unchanged(
    server: LocalApiServer, namespace: str, project: Project
) -> None:
    patch = {"apiVersion": HOSTS[0], "namespace": namespace, "names": ["u01", "u02"]}
    patches = {kind: {**patch, "kind": kind, "fields": {"spec": fields}} for kind, fields in BASELINE.items()}
    declared = {**rack(namespace, "u01", "u02"), "patches": patches}
    make_firmware(server, namespace, "u01")
    project.declare({SET: declared})
    up = project.up()
    assert up.code == 0, up.text
    assert firmware(server, namespace) == {kind: {"u01": fields} for kind, fields in BASELINE.items()}
    waits = "2 objects of other controllers cannot be patched yet; the next up patches them"
    assert waits in up.text
    preview = project.preview()
    assert (preview.code, waits in preview.text, "~ patches" in preview.text) == (0, True, False)

    make_firmware(server, namespace, "u02")
    up = project.up()
    assert up.code == 0, up.text
    assert firmware(server, namespace) == {kind: {"u01": fields, "u02": fields} for kind, fields in BASELINE.items()}
    unchanged = project.preview("--expect-no-changes", "--refresh")
    assert unchanged.code == 0, unchanged.text

    project.lose_state()
    project.declare({SET: {**declared, "import": f"{namespace}/{SET}"}})
    imported = project.up()
    assert imported.code == 0, imported.text
    project.declare({SET: {**declared, "patches": {}}})
    up = project.up()
    assert up.code == 0, up.text
    assert firmware(server, namespace) == {kind: {"u01": empty, "u02": empty} for kind, empty in FIRMWARE.items()}

    project.declare({SET: declared})
    assert project.up().code == 0
    assert firmware(server, namespace) == {kind: {"u01": fields, "u02": fields} for kind, fields in BASELINE.items()}
    theirs = {"apiVersion": HOSTS[0], "kind": "HostFirmwareSettings", "spec": {"settings": {"Turbo": "On"}}}
    server.api.apply({**theirs, "metadata": {"name": "u01", "namespace": namespace}}, field_manager="kubectl")
    server.report(namespace, "available")
    project.declare({})
    removed = project.up()
    assert removed.code == 0, removed.text
    assert firmware(server, namespace) == {
        "HostFirmwareSettings": {"u01": theirs["spec"], "u02": {"settings": {}}},
        "HostFirmwareComponents": {"u01": {"updates": []}, "u02": {"updates": []}},
    }
    assert server.hosts(namespace) == {}
