"""``jacquard gc``: deleted and kept templates and golden volumes with reasons; all other objects are untouched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import Manifest
from components.reports.garbage import USERS
from components.specs.environment import Environment
from jacquard.providers.kube import ApiError, KindNotFound, ObjectRef
from tests.support.data.environment_data import copy_data

Invoke = Callable[..., Result]
Object = dict[str, Any]
LABELS = {
    "app.kubernetes.io/managed-by": "jacquard",
    "jacquard.dev/rollout-group": "acme-train-train-a01",
    "jacquard.dev/image": "gpu-2026.9.1",
}
TEMPLATE = ("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3MachineTemplate")
DATA = ("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3DataTemplate")
BOOTSTRAP = ("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfigTemplate")


class FakeApi:
    """Objects by kind; deletions are recorded with their preconditions."""

    def __init__(self, machine: tuple[str, str] = TEMPLATE, bootstrap: tuple[str, str] = BOOTSTRAP) -> None:
        self.templates = (machine, bootstrap)
        self.objects: dict[str, list[Object]] = {kind: [] for _, kind in (*self.templates, DATA, *USERS)}
        self.deleted: list[tuple[str, str, str]] = []
        self.refuses = ""

    def add(self, api: tuple[str, str], name: str, **others: Any) -> Object:
        version, kind = api
        metadata = {"name": name, "namespace": "acme-train", "uid": f"uid-{name}", "resourceVersion": "7"}
        body = {"apiVersion": version, "kind": kind, "metadata": metadata | {"labels": LABELS}, **others}
        self.objects[kind].append(body)
        return body

    def user(self, kind: str, name: str, machine: str, bootstrap: str) -> None:
        (_, machine_kind), (_, bootstrap_kind) = self.templates
        spec = {
            "infrastructureRef": {"kind": machine_kind, "name": machine},
            "bootstrap": {"configRef": {"kind": bootstrap_kind, "name": bootstrap}},
        }
        self.add((USERS[0][0], kind), name, spec={"template": {"spec": spec}})

    def list(self, version: str, kind: str) -> list[Object]:
        if kind not in self.objects:
            raise KindNotFound(version, kind)
        return self.objects[kind]

    def each(self, version: str, kind: str, **_: Any) -> Iterator[Object]:
        yield from self.list(version, kind)

    def delete(self, ref: ObjectRef, *, uid: str, resource_version: str) -> bool:
        if ref.name == self.refuses:
            raise ApiError(409, "Conflict", "the object has been modified")
        self.deleted.append((f"{ref.kind} {ref.namespace}/{ref.name}", uid, resource_version))
        return True


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch, home: Path, data_folder: Path) -> FakeApi:
    """An API server after a rollout: two old templates, and two that an old MachineSet still references."""
    del home, data_folder
    return with_rollout(FakeApi(), monkeypatch)


def with_rollout(fake: FakeApi, monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    monkeypatch.setattr("jacquard.cli.verbs.gc.connect", lambda *_: fake)
    for name in ("old", "needed", "now"):
        for template in fake.templates:
            fake.add(template, name)
    fake.user("MachineSet", "set-1", "needed", "needed")
    fake.user("MachineDeployment", "train-a01", "now", "now")
    return fake


OLD = ["KubeadmConfigTemplate acme-train/old", "Metal3MachineTemplate acme-train/old"]


def test_unreferenced_templates_are_deleted_with_preconditions(invoke: Invoke, api: FakeApi) -> None:
    result = invoke("gc", "laptop")

    assert (result.exit_code, result.output.splitlines()) == (
        0,
        [f"{name} (gpu-2026.9.1) deleted: no object and no data reference it" for name in OLD]
        + ["laptop: 2 objects deleted, 4 in use"],
    )
    assert api.deleted == [(name, "uid-old", "7") for name in OLD]


def test_address_objects_of_nodes_are_deleted_after_the_last_template_that_references_them(
    invoke: Invoke, api: FakeApi
) -> None:
    for name in ("data-unnamed", "data-named"):
        api.add(DATA, name)
    [old] = [body for body in api.objects[TEMPLATE[1]] if body["metadata"]["name"] == "old"]
    old["spec"] = {"template": {"spec": {"dataTemplate": {"name": "data-named"}}}}

    assert invoke("gc", "laptop").exit_code == 0
    assert [name for name, *_ in api.deleted if "Data" in name] == ["Metal3DataTemplate acme-train/data-unnamed"]


def test_templates_of_other_backends_go_as_well(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(copy_data(tmp_path / "others", "eu-south-03a")))
    machine = ("infrastructure.cluster.x-k8s.io/v1alpha1", "IroncoreMetalMachineTemplate")
    bootstrap = ("bootstrap.cluster.x-k8s.io/v1beta2", "K0sWorkerConfigTemplate")
    api = with_rollout(FakeApi(machine, bootstrap), monkeypatch)

    result = invoke("gc", "eu-south-03a")

    assert (result.exit_code, result.stderr) == (0, "")
    assert api.deleted == [
        ("IroncoreMetalMachineTemplate acme-train/old", "uid-old", "7"),
        ("K0sWorkerConfigTemplate acme-train/old", "uid-old", "7"),
    ]


def test_a_dry_run_only_reports(invoke: Invoke, api: FakeApi) -> None:
    answer = json.loads(invoke("gc", "laptop", "--dry-run", "--format", "json").stdout)

    assert [f"{item['kind']} {item['namespace']}/{item['name']}" for item in answer["unused"]] == OLD
    assert {item["name"]: item["used_by"] for item in answer["kept"]} == {
        "needed": ["MachineSet set-1"],
        "now": ["MachineDeployment train-a01"],
    }
    assert (answer["environment"], answer["dry_run"], api.deleted) == ("laptop", True, [])


def test_templates_named_by_the_data_are_kept_without_references_in_the_cluster(
    invoke: Invoke, api: FakeApi, laptop: Environment
) -> None:
    rendered = (item for part in slices(laptop) for item in manifests(laptop, part))
    declared = [item for item in rendered if isinstance(item, Manifest) and item.kind in {TEMPLATE[1], BOOTSTRAP[1]}]
    for item in declared:
        body = api.add((item.api_version, item.kind), item.name)
        body["metadata"]["namespace"] = item.namespace

    answer = json.loads(invoke("gc", "laptop", "--format", "json").stdout)

    assert [item["name"] for item in answer["unused"]] == ["old", "old"]
    assert sum(item["used_by"] == ["the data"] for item in answer["kept"]) == len(declared) > 0


@pytest.mark.parametrize(
    "change",
    [
        {"labels": {**LABELS, "app.kubernetes.io/managed-by": "helm"}},
        {"labels": None},
        {"deletionTimestamp": "2026-11-21T09:00:00Z"},
    ],
)
def test_foreign_and_terminating_objects_are_kept(invoke: Invoke, api: FakeApi, change: Object) -> None:
    for kind in ("Metal3MachineTemplate", "KubeadmConfigTemplate"):
        api.objects[kind][0]["metadata"].update(change)

    result = invoke("gc", "laptop")

    assert (result.output, api.deleted) == ("laptop: 0 objects deleted, 4 in use\n", [])


def test_a_template_changed_meanwhile_is_kept_and_fails_the_command(invoke: Invoke, api: FakeApi) -> None:
    api.refuses = "old"

    result = invoke("gc", "laptop")

    assert result.exit_code == 1
    assert "Metal3MachineTemplate acme-train/old (gpu-2026.9.1) not deleted: " in result.stdout
    assert result.stderr == "error: laptop: 2 objects could not be deleted; run the command again\n"


def test_nothing_is_unused_if_users_are_unknown(invoke: Invoke, api: FakeApi) -> None:
    del api.objects["MachineSet"]

    result = invoke("gc", "laptop")

    assert (result.exit_code, api.deleted) == (1, [])
