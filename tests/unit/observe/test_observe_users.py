"""Users of a storage class or an image: found by references of objects, reported by owner."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.observe.users import CLASS, DISK, QUEUE, SOURCE, Name, UnreadableError, users, using
from jacquard.providers.kube import ApiServer, KubeconfigError
from tests.support.objects.live_objects import obj

CDI, KUBEVIRT, POOL = "cdi.kubevirt.io/v1beta1", "kubevirt.io/v1", "pool.kubevirt.io/v1beta1"
GOLDEN: Name = (DISK, "virtual-machines", "debian-1")
IMAGE: Name = (SOURCE, "virtual-machines", "debian")
SHARED: Name = (CLASS, "", "shared")
TEAM: Name = (QUEUE, "", "research")
FROM_IMAGE = {"sourceRef": {"kind": "DataSource", "name": "debian", "namespace": "virtual-machines"}}


def claim(name: str, owner: dict[str, Any] | None = None, namespace: str = "ns") -> dict[str, Any]:
    owners = []
    if owner:
        named = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
        owners = [{**named, "controller": True}]
    spec, metadata = {"storageClassName": "shared"}, {"ownerReferences": owners}
    return obj("v1", "PersistentVolumeClaim", name, spec, namespace=namespace, metadata=metadata)


def machine(**template: Any) -> dict[str, Any]:
    return obj(KUBEVIRT, "VirtualMachine", "desk", template, namespace="virtual-machines")


def disk(**spec: Any) -> dict[str, Any]:
    return obj(CDI, "DataVolume", "data", spec)


def job(condition: str) -> dict[str, Any]:
    status = {"admission": {"clusterQueue": "research"}, "conditions": [{"type": condition, "status": "True"}]}
    return {**obj("kueue.x-k8s.io/v1beta1", "Workload", "job-a", {}), "status": status}


def matches_none(_: Name) -> bool:
    return False


OF_CLASS = {"storage": {"storageClassName": "shared"}}
FROM_GOLDEN = {"source": {"pvc": {"name": "debian-1", "namespace": "virtual-machines"}}}
CLONING = machine(dataVolumeTemplates=[{"spec": FROM_IMAGE}])
MAPPING = {"ephemeral": {"persistentVolumeClaim": {"claimName": "debian-1"}}}


@pytest.mark.parametrize(
    ("body", "used"),
    [
        (claim("data"), SHARED),
        (disk(**OF_CLASS), SHARED),
        (disk(pvc={"storageClassName": "shared"}), SHARED),
        (machine(dataVolumeTemplates=[{"spec": OF_CLASS}]), SHARED),
        (disk(**FROM_IMAGE), IMAGE),
        (CLONING, IMAGE),
        (obj(POOL, "VirtualMachinePool", "desk", {"virtualMachineTemplate": {"spec": CLONING["spec"]}}), IMAGE),
        (
            obj(CDI, "DataVolume", "data", {"sourceRef": {"name": "debian"}}, namespace="virtual-machines"),
            IMAGE,
        ),
        (disk(**FROM_GOLDEN), GOLDEN),
        (obj(CDI, "DataSource", "mine", FROM_GOLDEN), GOLDEN),
        (machine(template={"spec": {"volumes": [MAPPING]}}), GOLDEN),
        (obj(KUBEVIRT, "VirtualMachineInstance", "desk", {"volumes": [MAPPING]}, namespace="virtual-machines"), GOLDEN),
        (job("Admitted"), TEAM),
    ],
)
def test_referring_objects_are_users(body: dict[str, Any], used: Name) -> None:
    others = [one for one in (SHARED, IMAGE, GOLDEN, TEAM) if one != used]

    assert using([body], used, matches_none) == (
        f"{body['kind']} {body['metadata']['namespace']}/{body['metadata']['name']}",
    )
    assert [using([body], one, matches_none) for one in others] == [(), (), ()]


def test_a_finished_job_is_no_user_of_its_queue() -> None:
    assert using([job("Finished")], TEAM, matches_none) == ()


def test_a_claim_of_a_machines_disk_is_reported_by_the_machine() -> None:
    desk = machine()
    root = claim("root", desk, "virtual-machines") | {"apiVersion": CDI, "kind": "DataVolume", "spec": {}}
    found = [desk, root, claim("root", root, "virtual-machines"), claim("notes")]

    assert using(found, SHARED, matches_none) == (
        "PersistentVolumeClaim ns/notes",
        "VirtualMachine virtual-machines/desk",
    )
    known = ("kubevirt.io/VirtualMachine", "virtual-machines", "desk")
    assert using(found, SHARED, lambda name: name == known) == ("PersistentVolumeClaim ns/notes",)


def test_a_disk_is_no_user_of_itself() -> None:
    golden = obj(CDI, "DataVolume", "debian-1", {"storage": {}}, namespace="virtual-machines")

    assert using([golden, claim("debian-1", golden, "virtual-machines")], GOLDEN, matches_none) == ()


def test_an_unreachable_cluster_reports_nothing() -> None:
    def connect() -> ApiServer:
        msg = "not made yet"
        raise KubeconfigError(msg)

    with pytest.raises(UnreadableError, match="not made yet"):
        users(connect, SHARED, matches_none)
