"""Drift of all clusters of a region: nothing without differences, otherwise objects, fields and owners."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from rich.console import Console

from components.specs.environment import Environment
from jacquard.cli.views.changes.drift import lines
from jacquard.observe.clusters_compared import drift
from jacquard.observe.drift import Drift, Unread, What
from jacquard.providers.kube import ApiError, KubeconfigError
from jacquard.providers.kube.errors import Unreachable
from tests.support.api_servers.fake_servers import FakeServer, fake_servers

Servers = dict[str, FakeServer]
HOST = ("BareMetalHost", "acme-train", "a01-u01")


@pytest.fixture
def servers(laptop: Environment) -> Servers:
    return fake_servers(laptop)


def look(environment: Environment, servers: Servers) -> Drift:
    return drift(environment, lambda _, cluster: servers[cluster])


def reported(found: Drift) -> list[str]:
    console = Console(width=200, color_system=None)
    with console.capture() as captured:
        for line in lines(found):
            console.print(line, soft_wrap=True)
    return captured.get().splitlines()[1:]


def edited(servers: Servers, key: tuple[str, str, str], **spec: Any) -> None:
    body = servers["management"].objects[key]
    body["spec"] |= spec
    entry = {"manager": "kubectl-edit", "operation": "Update", "time": "2026-11-22T16:00:00Z"}
    entry["fieldsV1"] = {"f:spec": {f"f:{name}": {} for name in spec}}
    body["metadata"]["managedFields"].append(entry)


@pytest.mark.parametrize("name", ["laptop", "south"])
def test_a_region_that_is_as_declared_has_no_drift(name: str, request: pytest.FixtureRequest) -> None:
    environment = request.getfixturevalue(name)

    found = look(environment, fake_servers(environment))

    assert (found.objects, found.unread) == ((), ())
    assert found.compared > 100
    assert reported(found) == ["  no drift"]


def test_the_same_edit_of_many_hosts_is_one_line(laptop: Environment, servers: Servers) -> None:
    hosts = sorted(key for key in servers["management"].objects if key[0] == "BareMetalHost")[:5]
    for key in hosts:
        edited(servers, key, online=False)

    found = look(laptop, servers)

    assert [(one.kind, one.what) for one in found.objects] == [("metal3.io/BareMetalHost", What.DIFFERS)] * 5
    names = ", ".join(f"management/{namespace}/{name}" for _, namespace, name in hosts[:3])
    assert reported(found) == [
        "",
        "changed by hand:",
        (
            "  BareMetalHost spec.online: declared true, live false; kubectl-edit, 2026-11-22 16:00 UTC: 5 objects: "
            f"{names} and 2 more"
        ),
    ]


def test_missing_and_terminating_objects_are_reported(laptop: Environment, servers: Servers) -> None:
    [gone, going] = sorted(key for key in servers["management"].objects if key[0] == "MachineDeployment")[:2]
    del servers["management"].objects[gone]
    servers["management"].objects[going]["metadata"]["deletionTimestamp"] = "now"

    assert reported(look(laptop, servers)) == [
        "",
        "declared but missing:",
        f"  MachineDeployment management/{'/'.join(gone[1:])}",
        "",
        "declared but being deleted:",
        f"  MachineDeployment management/{'/'.join(going[1:])}",
    ]


def stray(servers: Servers, kind: str, manager: str, **metadata: Any) -> None:
    """Create a copy of an object under another name."""
    key = next(key for key in sorted(servers["management"].objects) if key[0] == kind)
    body = copy.deepcopy(servers["management"].objects[key])
    body["metadata"] |= {"name": "stray", "managedFields": [{"manager": manager, "operation": "Apply"}], **metadata}
    servers["management"].put(body)


def test_undeclared_objects_of_ours_and_foreign_ones_with_our_marks_are_distinguished(
    laptop: Environment, servers: Servers
) -> None:
    stray(servers, "MachineDeployment", "jacquard")
    stray(servers, "MachineHealthCheck", "helm")

    found = look(laptop, servers)

    assert [
        (one.kind.rpartition("/")[2], one.name.rpartition("/")[2], one.what, one.note) for one in found.objects
    ] == [
        ("MachineDeployment", "stray", What.LEFT_OVER, None),
        ("MachineHealthCheck", "stray", What.FOREIGN, "written by helm"),
    ]


def test_old_templates_and_children_of_controllers_are_no_drift(laptop: Environment, servers: Servers) -> None:
    stray(servers, "Metal3MachineTemplate", "jacquard")
    stray(servers, "BFB", "jacquard")
    stray(servers, "MachineDeployment", "manager", ownerReferences=[{"controller": True}])

    assert look(laptop, servers).objects == ()


def test_an_object_without_our_label_is_read_by_its_name(laptop: Environment, servers: Servers) -> None:
    servers["management"].objects[HOST]["metadata"]["labels"] = {}

    [found] = look(laptop, servers).objects

    assert found.name == "acme-train/a01-u01"
    assert all(field.path.startswith("metadata.labels") for field in found.fields)


def test_unreadable_objects_are_reported_and_not_missing(laptop: Environment, servers: Servers) -> None:
    servers["management"].refused["BareMetalHost"] = ApiError(403, "Forbidden", "hosts is forbidden")

    found = look(laptop, servers)

    reason = "hosts is forbidden (403 Forbidden)"
    unread = Unread(cluster="management", what="metal3.io/BareMetalHost", reason=reason)
    assert (found.objects, found.unread) == ((), (unread,))
    assert reported(found) == ["", "could not be read:", f"  management: metal3.io/BareMetalHost: {reason}"]


def test_unreachable_clusters_are_named_and_others_are_checked(laptop: Environment, servers: Servers) -> None:
    servers["management"].refused["BareMetalHost"] = Unreachable("https://m", "timed out")

    def connect(_: Environment, cluster: str) -> FakeServer:
        if cluster == "acme-train":
            msg = "there is no such kubeconfig"
            raise KubeconfigError(msg)
        return servers[cluster]

    found = drift(laptop, connect)

    assert found.unread == (
        Unread(cluster="management", what=None, reason="https://m does not answer: timed out"),
        Unread(cluster="acme-train", what=None, reason="there is no such kubeconfig"),
    )
    assert found.objects == ()
    assert 0 < found.compared < 50


def test_hostile_values_are_not_interpreted(laptop: Environment, servers: Servers) -> None:
    edited(servers, HOST, online="\x1b[31m\u202e\n")

    assert "\\u001b[31m\\u202e\\n" in "\n".join(reported(look(laptop, servers)))
