"""VMs in a tenant's API server: their prerequisites, the effect of edits, and fields that `up` preserves.

The tests run in the order of the file on one region. Orders through the API are in a separate namespace.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode
from jacquard.providers.kube import ApiServer, ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, wait_until
from tests.support.local_regions.region_contents import applied, declared
from tests.support.local_regions.region_steps import edited
from tests.support.vms.moved_vm import moved_vm
from tests.support.vms.vm_chart import rendered
from tests.support.vms.vm_states import VM, machine, runs, state

pytestmark = pytest.mark.e2e

CLUSTER, SPACE = "acme-train", "looms"
TENANT, REGION = f"{ENVIRONMENT}/tenants/acme.yaml", f"{ENVIRONMENT}/region.yaml"
DISK = ("cdi.kubevirt.io/v1beta1", "DataVolume")
SUM = "5b4e89ad7035fb700922256a720110a1766e2df71e0c6f63480ddd088fe4a614"
GOLDEN = "ubuntu-24-04-3-20261015-80gi"
"""Golden volume of the image of VM bastion."""
OWN = f"""  own_images:
    - {{name: weaver, version: weaver-1, size: 8Gi, http: {{url: "https://images.acme.example/weaver", sha256: {SUM}}}}}
  image_storage_class:"""
ORDER = """  instances:
    - name: loom
      size: cpu-16
      image: weaver
      pool: system
      public_ip: true
      volumes:
        - {name: patterns, size: 200Gi, storage_class: shared-vast}
        - {name: yarn, size: 1Ti, storage_class: shared-nfs}
        - {name: cache, size: 50Gi, storage_class: shared-vast, scratch: true}
        - {name: spool, size: 20Gi, storage_class: shared-nfs, scratch: true}
  platform:
"""
SPARE = "  - {name: spare-nfs, driver: nfs, server: 10.2.0.10, share: /export/<tenant>, mount_options: [nfsvers=4.2]}\n"
OFFERED = "storage: [shared-nfs, shared-vast"


@pytest.fixture(scope="module")
def ordered(region: LocalRegion) -> LocalRegion:
    """The running region, with a VM ordered by its tenant: a custom image, four volumes, a public address."""
    region.edit(REGION, "storage:\n  - {name: shared-nfs", f"storage:\n{SPARE}  - {{name: shared-nfs")
    region.edit(TENANT, OFFERED, f"{OFFERED}, spare-nfs")
    region.edit(TENANT, "  image_storage_class:", OWN)
    region.edit(TENANT, "  platform:\n", ORDER)
    edited(region, "allocate", ENVIRONMENT)
    region.up()
    region.api(CLUSTER).apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}, field_manager="x")
    return region


@pytest.fixture
def api(ordered: LocalRegion) -> ApiServer:
    return ordered.api(CLUSTER)


def test_a_vm_with_a_custom_image_and_four_volumes_runs_at_its_address(ordered: LocalRegion, api: ApiServer) -> None:
    address = load_environment(ENVIRONMENT, ordered.environments).allocations.public_ips[f"{CLUSTER}/loom"]

    runs(api, "loom", "virtual-machines")

    disks = {one["metadata"]["name"]: one["status"]["phase"] for one in api.list(*DISK, namespace="virtual-machines")}
    assert {disks[f"loom-{name}"] for name in ("patterns", "yarn", "cache", "spool")} == {"Succeeded"}
    assert disks["weaver-1-80gi"] == "Succeeded"
    service = ObjectRef("v1", "Service", "loom", "virtual-machines")
    wait_until(
        lambda: (
            [one["ip"] for one in dig(api.get(service), "status", "loadBalancer", "ingress") or ()] == [str(address)]
        ),
        timeout_seconds=60,
        what=f"the VM has address {address}",
    )


@pytest.mark.parametrize("storage", ["shared-vast", "spare-nfs"])
def test_a_disk_without_modes_has_those_of_its_class(api: ApiServer, storage: str) -> None:
    wanted = {"storageClassName": storage, "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": f"bare-{storage}", "namespace": SPACE}
    spec = {"source": {"blank": {}}, "storage": wanted}
    api.apply({"apiVersion": DISK[0], "kind": DISK[1], "metadata": metadata, "spec": spec}, field_manager="somebody")
    place = ObjectRef("v1", "PersistentVolumeClaim", metadata["name"], SPACE)

    wait_until(lambda: dig(api.get(place), "status", "phase") == "Bound", timeout_seconds=60, what="it has a volume")

    claim = api.get(place) or {}
    assert (claim["spec"]["accessModes"], claim["spec"]["volumeMode"]) == (["ReadWriteMany"], "Filesystem")
    profile = api.get(ObjectRef(DISK[0], "StorageProfile", storage))
    assert dig(profile, "status", "snapshotClass") == storage, "and not that of the driver's default"
    api.delete(ObjectRef(*DISK, metadata["name"], SPACE))


@pytest.fixture
def parts(ordered: LocalRegion) -> dict[str, list[dict[str, Any]]]:
    """Return that VM and its prerequisites under other names, for another namespace of the same cluster."""
    return moved_vm([item.body for item in declared(ordered) if item.cluster == CLUSTER], SPACE)


def test_a_vm_runs_after_all_its_prerequisites_exist(api: ApiServer, parts: Any) -> None:
    def add(*names: str) -> None:
        for name in names:
            for body in parts[name]:
                api.apply(body, field_manager="somebody", force=True)

    def waits(printable: str, *why: str) -> None:
        def reached() -> bool:
            found = state(api, "loom", SPACE)
            return found[0] == printable and all(word in found[1] for word in why)

        wait_until(reached, timeout_seconds=60, what=f"the VM says {printable} {why}, says {state(api, 'loom', SPACE)}")

    add("vm")
    waits("Stopped", "VirtualMachineClusterInstancetype 'loom-size' not found")
    add("size")
    waits("ErrorPvcNotFound", "DataVolume 'loom-patterns' not found", "PersistentVolumeClaim 'weaver-1-80gi' not found")
    add("claims")
    waits("ErrorPvcNotFound", "PersistentVolumeClaim 'weaver-1-80gi' not found")
    add("image")
    image = ObjectRef(*DISK, "weaver-1-80gi", SPACE)
    wait_until(
        lambda: "StorageClass 'loom-class' not found" in str(api.get(image)),
        timeout_seconds=60,
        what="the image says that its class is not there",
    )
    waits("ErrorPvcNotFound")
    add("class")
    waits("Starting")  # On no node
    [node, *_] = api.list("v1", "Node", label_selector="node-restriction.kubernetes.io/pool=system")
    api.patch(ObjectRef.of(node), {"metadata": {"labels": {"loom-pool": "here"}}}, field_manager="somebody")
    runs(api, "loom", SPACE)


def put_back(region: LocalRegion, *edits: tuple[str, str, str]) -> None:
    for file, old, new in reversed(edits):
        region.edit(file, new, old)


IMMUTABLE = {
    "size of a volume": ((TENANT, "patterns, size: 200Gi", "patterns, size: 300Gi"), "Cannot update DataVolume Spec"),
    "class of a volume": (
        (TENANT, "size: 200Gi, storage_class: shared-vast", "size: 200Gi, storage_class: spare-nfs"),
        "Cannot update DataVolume Spec",
    ),
    "build of an image under its version": ((TENANT, SUM, SUM[::-1]), "Cannot update DataVolume Spec"),
    "reclaim of a class": (
        (REGION, "name: spare-nfs, driver: nfs", "name: spare-nfs, reclaim: Retain, driver: nfs"),
        "reclaimPolicy",
    ),
}


@pytest.mark.parametrize("what", IMMUTABLE)
def test_changes_of_immutable_fields_are_rejected_by_the_preview(ordered: LocalRegion, what: str) -> None:
    change, why = IMMUTABLE[what]
    ordered.edit(*change)

    preview = ordered.jacquard("preview", ENVIRONMENT)
    put_back(ordered, change)

    assert preview.code == ExitCode.FAILED, preview.text
    assert why in preview.text


def test_an_up_with_an_immutable_change_changes_nothing(ordered: LocalRegion) -> None:
    before, (change, why) = applied(ordered), IMMUTABLE["size of a volume"]
    ordered.edit(*change)

    outcome = ordered.jacquard("up", ENVIRONMENT)
    put_back(ordered, change)

    assert outcome.code == ExitCode.FAILED, outcome.text
    assert why in outcome.text
    assert applied(ordered) == before


@pytest.fixture(scope="module")
def through_the_api(ordered: LocalRegion, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Objects created through the API: a VM rendered by the chart with the printed values, and a claim."""
    api, asked = ordered.api(CLUSTER), ("offerings", "--example", "cpu-4", "--helm", "--format", "json")
    values = json.loads(ordered.jacquard("show", ENVIRONMENT, *asked).stdout.replace("workstation", "desk"))
    del values["keys_secret"]  # Its Secret does not exist here.
    [order] = rendered(tmp_path_factory.mktemp("chart"), {"desk": values}, SPACE)["desk"]
    order["metadata"]["namespace"] = SPACE
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "cloth", "namespace": SPACE},
        "spec": {
            "storageClassName": "spare-nfs",
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    for body in (order, claim):
        api.apply(body, field_manager="somebody", force=True)
    runs(api, "desk", SPACE)
    yield order
    for body in (order, claim):
        api.delete(ObjectRef.of(body))


def snapshot(api: ApiServer, kind: tuple[str, str], name: str) -> tuple[Any, ...]:
    body = api.get(ObjectRef(*kind, name, SPACE)) or {}
    metadata = body["metadata"]
    return metadata["uid"], metadata["generation"], metadata.get("labels"), metadata.get("annotations"), body["spec"]


def of_the_platform(region: LocalRegion) -> dict[str, Any]:
    return {name: found for name, found in applied(region).items() if f" {SPACE}/" not in name}


@pytest.mark.usefixtures("through_the_api")
def test_objects_in_use_are_not_deleted_and_their_users_are_named(ordered: LocalRegion, api: ApiServer) -> None:
    edits = (
        (TENANT, "images: [ubuntu-24-04, debian-13]", "images: [debian-13]"),
        (TENANT, "      image: ubuntu-24-04\n", "      image: debian-13\n"),
        (TENANT, f"{OFFERED}, spare-nfs", OFFERED),
    )
    source = {"source": {"pvc": {"name": GOLDEN, "namespace": "virtual-machines"}}}
    metadata = {"name": "mine", "namespace": SPACE}
    mine = {"apiVersion": DISK[0], "kind": "DataSource", "metadata": metadata, "spec": source}
    api.apply(mine, field_manager="somebody")
    before = of_the_platform(ordered)
    for one in edits:
        ordered.edit(*one)

    outcome = ordered.jacquard("preview", ENVIRONMENT, "--format", "json")
    refused = ordered.jacquard("up", ENVIRONMENT)
    put_back(ordered, *edits)

    assert outcome.code == ExitCode.CONFIRMATION_REQUIRED, outcome.text
    objects = json.loads(outcome.stdout)["stacks"][0]["held"]["objects"]
    assert {one["object"]: (one["reason"], one["users"]) for one in objects} == {
        "DataSource virtual-machines/ubuntu-24-04": ("it is in use", [f"VirtualMachine {SPACE}/desk"]),
        "StorageClass spare-nfs": ("it is in use", [f"PersistentVolumeClaim {SPACE}/cloth"]),
    }
    assert refused.code == ExitCode.CONFIRMATION_REQUIRED, refused.text
    assert f"it is in use by 1: VirtualMachine {SPACE}/desk" in refused.stderr
    assert of_the_platform(ordered) == before


@pytest.mark.usefixtures("through_the_api")
def test_a_new_image_version_and_a_changed_size_do_not_affect_existing_vms(
    ordered: LocalRegion, api: ApiServer
) -> None:
    before = [snapshot(api, VM, "desk"), snapshot(api, DISK, "desk-root")]
    [old] = [machine(api, "bastion", "virtual-machines")]
    size, catalog = before[0][-1]["instancetype"]["name"], "catalog/vm_offerings.yaml"
    ordered.edit(catalog, "version: ubuntu-24.04.3-20261015", "version: ubuntu-24.04.4-20261201")
    ordered.edit(catalog, "75490355f9aada1e6777dd2d656824f68a07be5aabf4fbe7c8a8fecf9d3bc600", SUM[::-1])
    ordered.edit(catalog, "name: cpu-4, cpus: 4, memory: 16Gi", "name: cpu-4, cpus: 4, memory: 20Gi")
    api.delete(ObjectRef(DISK[0], "DataSource", "mine", SPACE))

    outcome = ordered.jacquard("up", ENVIRONMENT)

    assert outcome.code == 0, outcome.text
    assert [snapshot(api, VM, "desk"), snapshot(api, DISK, "desk-root")] == before
    new = machine(api, "bastion", "virtual-machines")
    assert new["metadata"]["uid"] == old["metadata"]["uid"]
    assert new["spec"]["instancetype"]["name"] != old["spec"]["instancetype"]["name"] == size
    there = ObjectRef("instancetype.kubevirt.io/v1beta1", "VirtualMachineClusterInstancetype", size)
    assert api.get(there) is not None, "those that ordered the former size start anew with it"
    found = json.loads(ordered.jacquard("gc", ENVIRONMENT, "--dry-run", "--format", "json").stdout)
    [golden] = [item for item in (*found["unused"], *found["kept"]) if item["name"] == GOLDEN]
    assert golden["used_by"] == ["VirtualMachine virtual-machines/bastion"], "it was not restarted"
    source = api.get(ObjectRef(DISK[0], "DataSource", "ubuntu-24-04", "virtual-machines"))
    assert dig(source, "spec", "source", "pvc", "name") == "ubuntu-24-04-4-20261201-80gi"
    runs(api, "desk", SPACE)


@pytest.mark.usefixtures("through_the_api")
def test_a_return_to_an_image_version_adopts_its_golden_volume(ordered: LocalRegion, api: ApiServer) -> None:
    volume, catalog = ObjectRef(*DISK, GOLDEN, "virtual-machines"), "catalog/vm_offerings.yaml"
    before = api.get(volume)
    ordered.edit(catalog, "version: ubuntu-24.04.4-20261201", "version: ubuntu-24.04.3-20261015")
    ordered.edit(catalog, SUM[::-1], "75490355f9aada1e6777dd2d656824f68a07be5aabf4fbe7c8a8fecf9d3bc600")

    outcome = ordered.jacquard("up", ENVIRONMENT)

    assert outcome.code == 0, outcome.text
    assert before is not None
    assert dig(api.get(volume), "metadata", "uid") == before["metadata"]["uid"]
