"""``jacquard gc`` and the golden volumes of earlier image versions in the clusters of tenants."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from components.reports.garbage import golden_volumes
from components.specs.environment import Environment
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import KindNotFound, ObjectRef

Invoke = Callable[..., Result]
Object = dict[str, Any]
CLUSTER, PLACE, OLD = "acme-train", "virtual-machines", "ubuntu-24-04-20260501-40gi"
CDI, KUBEVIRT = "cdi.kubevirt.io/v1beta1", "kubevirt.io/v1"
LABELS = {"app.kubernetes.io/managed-by": "jacquard"}
GOLDEN = {"cdi.kubevirt.io/storage.bind.immediate.requested": "true"}
MOUNT = [{"name": "root", "ephemeral": {"persistentVolumeClaim": {"claimName": OLD}}}]


class FakeApi:
    """Objects of one cluster; deletions are recorded."""

    def __init__(self, *objects: Object) -> None:
        self.objects = list(objects)
        self.deleted: list[str] = []

    def list(self, version: str, kind: str) -> list[Object]:
        return [body for body in self.objects if (body["apiVersion"], body["kind"]) == (version, kind)]

    def each(self, version: str, kind: str, *, namespace: str | None) -> Iterator[Object]:
        if kind == "VirtualMachinePool":
            raise KindNotFound(version, kind)
        yield from (body for body in self.list(version, kind) if namespace in (None, body["metadata"]["namespace"]))

    def delete(self, ref: ObjectRef, *, uid: str, resource_version: str) -> bool:
        self.deleted.append(f"{ref.kind} {ref.namespace}/{ref.name} {uid} {resource_version}")
        return True


def obj(version: str, kind: str, name: str, spec: Object | None = None, **others: Any) -> Object:
    metadata = {"name": name, "namespace": PLACE, "uid": f"uid-{name}", "resourceVersion": "7"}
    return {"apiVersion": version, "kind": kind, "spec": spec or {}, **others} | {
        "metadata": {**metadata, **others.get("metadata", {})}
    }


def golden(name: str, labels: Object = LABELS, annotations: Object = GOLDEN) -> Object:
    return obj(CDI, "DataVolume", name, metadata={"labels": labels, "annotations": annotations})


def owned(kind: str, name: str) -> Object:
    return {"ownerReferences": [{"apiVersion": KUBEVIRT, "kind": kind, "name": name, "controller": True}]}


@pytest.fixture
def with_objects(monkeypatch: pytest.MonkeyPatch, home: Path, data_folder: Path) -> Callable[..., FakeApi]:
    """Set the objects of the cluster with VMs; the other clusters are empty."""
    del home, data_folder

    def use(*objects: Object) -> FakeApi:
        fake, empty = FakeApi(*objects), FakeApi()
        monkeypatch.setattr("jacquard.cli.verbs.gc.connect", lambda _, cluster: fake if cluster == CLUSTER else empty)
        return fake

    return use


def test_a_volume_that_nothing_uses_is_deleted(invoke: Invoke, with_objects: Callable[..., FakeApi]) -> None:
    api = with_objects(golden(OLD))

    result = invoke("gc", "laptop")

    assert result.output.splitlines() == [
        f"DataVolume {PLACE}/{OLD} in {CLUSTER} deleted: no object and no data reference it",
        "laptop: 1 object deleted, 0 in use",
    ]
    assert api.deleted == [f"DataVolume {PLACE}/{OLD} uid-{OLD} 7"]


@pytest.mark.parametrize(
    ("users", "used_by"),
    [
        pytest.param(
            [
                obj(KUBEVIRT, "VirtualMachine", "bastion", {"template": {"spec": {"volumes": []}}}),
                obj(
                    KUBEVIRT,
                    "VirtualMachineInstance",
                    "bastion",
                    {"volumes": MOUNT},
                    metadata=owned("VirtualMachine", "bastion"),
                ),
            ],
            [f"VirtualMachine {PLACE}/bastion"],
            id="a machine that was not restarted",
        ),
        pytest.param(
            [obj("v1", "Pod", "copy", {"volumes": [{"persistentVolumeClaim": {"claimName": OLD}}]})],
            [f"Pod {PLACE}/copy"],
            id="a pod",
        ),
        pytest.param(
            [obj(CDI, "DataVolume", "disk", {"source": {"pvc": {"name": OLD, "namespace": PLACE}}})],
            [f"DataVolume {PLACE}/disk"],
            id="a disk that is being cloned",
        ),
        pytest.param(
            [obj(CDI, "DataVolume", "disk", {"sourceRef": {"kind": "DataSource", "name": "ubuntu"}})],
            [f"DataVolume {PLACE}/disk"],
            id="a disk that is being cloned from an image, perhaps from its earlier version",
        ),
    ],
)
def test_a_volume_in_use_is_kept(
    invoke: Invoke, with_objects: Callable[..., FakeApi], users: list[Object], used_by: list[str]
) -> None:
    api = with_objects(golden(OLD), *users)

    answer = json.loads(invoke("gc", "laptop", "--format", "json").stdout)

    assert [(item["name"], item["cluster"], item["used_by"]) for item in answer["kept"]] == [(OLD, CLUSTER, used_by)]
    assert (answer["unused"], api.deleted) == ([], [])


def test_a_filled_disk_no_longer_uses_the_volume(invoke: Invoke, with_objects: Callable[..., FakeApi]) -> None:
    source = {"source": {"pvc": {"name": OLD, "namespace": PLACE}}}
    api = with_objects(golden(OLD), obj(CDI, "DataVolume", "disk", source, status={"phase": "Succeeded"}))

    assert invoke("gc", "laptop").exit_code == 0
    assert len(api.deleted) == 1


def test_volumes_of_the_data_and_of_others_are_kept(
    invoke: Invoke, with_objects: Callable[..., FakeApi], laptop: Environment
) -> None:
    declared = sorted(golden_volumes(laptop, CLUSTER))
    api = with_objects(*map(golden, declared), golden("theirs", labels={}), golden("disk", annotations={}))

    answer = json.loads(invoke("gc", "laptop", "--format", "json").stdout)

    assert [(item["name"], item["used_by"]) for item in answer["kept"]] == [(name, ["the data"]) for name in declared]
    assert (len(declared) > 0, answer["unused"], api.deleted) == (True, [], [])


def test_a_cluster_that_cannot_be_read_is_named(
    invoke: Invoke, with_objects: Callable[..., FakeApi], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_objects()
    empty = FakeApi()

    def connect(_: Environment, cluster: str) -> FakeApi:
        if cluster == CLUSTER:
            msg = "no kubeconfig"
            raise ProviderError(msg)
        return empty

    monkeypatch.setattr("jacquard.cli.verbs.gc.connect", connect)

    result = invoke("gc", "laptop")

    assert result.exit_code == 7
    assert result.stdout.splitlines()[0] == f"cluster {CLUSTER} cannot be read: no kubeconfig"
    text = f"laptop: the golden volumes of clusters that cannot be read are unknown: {CLUSTER}"
    assert result.stderr == f"unreachable: {text}\n"
