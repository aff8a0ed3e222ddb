"""VMs that can be ordered, and the platform's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from components.render.manifest import Manifest
from components.render.vm_offering import VmOfferingInput
from components.specs.vm_offering import VolumeSpec


@pytest.fixture
def offering(inputs_of: Any) -> VmOfferingInput:
    """Return the offering of environment laptop."""
    [found] = inputs_of(VmOfferingInput)
    assert isinstance(found, VmOfferingInput)
    return found


def of(offering: VmOfferingInput, kind: str) -> list[Manifest]:
    return [item for item in offering.render() if item.kind == kind]


def machine_spec(offering: VmOfferingInput) -> dict[str, Any]:
    [machine] = of(offering, "VirtualMachine")
    return dict(machine.body["spec"])


def test_operators_come_before_their_objects_and_those_before_the_catalogue(offering: VmOfferingInput) -> None:
    kinds = list(dict.fromkeys(item.kind for item in offering.render()))
    order = ["Namespace", "HelmRelease", "KubeVirt", "CDI", "VirtualMachineClusterInstancetype", "VirtualMachine"]

    assert [kind for kind in kinds if kind in order] == order
    assert {item.kind for item in offering.render() if item.readiness} == {"HelmRelease", "KubeVirt", "CDI"}


def test_every_gpu_on_offer_is_permitted(offering: VmOfferingInput) -> None:
    [kubevirt] = of(offering, "KubeVirt")
    permitted = kubevirt.body["spec"]["configuration"]["permittedHostDevices"]["pciHostDevices"]

    wanted = {
        gpu["deviceName"]
        for item in of(offering, "VirtualMachineClusterInstancetype")
        for gpu in item.body["spec"].get("gpus", ())
    }

    assert wanted == {device["resourceName"] for device in permitted} != set()


def test_an_offering_without_gpus_permits_no_device(offering: VmOfferingInput) -> None:
    plain = replace(offering, sizes=tuple(size for size in offering.sizes if size.gpu is None))
    [kubevirt] = of(plain, "KubeVirt")

    assert "permittedHostDevices" not in kubevirt.body["spec"]["configuration"]


def test_a_changed_size_is_a_new_object(offering: VmOfferingInput) -> None:
    first, *others = offering.sizes
    edited = replace(offering, sizes=(first.model_copy(update={"cpus": first.cpus + 1}), *others))

    old, new = (of(item, "VirtualMachineClusterInstancetype") for item in (offering, edited))

    assert old[0].name != new[0].name
    assert old[0].retain
    assert [item.name for item in old[1:]] == [item.name for item in new[1:]]


def test_an_image_is_pinned_by_checksum_and_holds_a_root_of_the_size_on_offer(offering: VmOfferingInput) -> None:
    imports = {
        item.body["spec"]["source"]["http"]["checksum"]: item.body["spec"]["storage"]["resources"]["requests"][
            "storage"
        ]
        for item in of(offering, "DataVolume")
        if "http" in item.body["spec"]["source"]
    }
    [root] = {size.root_disk for size in offering.sizes}

    assert imports == {f"sha256:{image.sha256}": root for image in offering.images}


def test_each_source_points_at_a_golden_volume(offering: VmOfferingInput) -> None:
    volumes = {item.name for item in of(offering, "DataVolume")}

    for source in of(offering, "DataSource"):
        assert source.body["spec"]["source"]["pvc"]["name"] in volumes


def test_a_vm_has_an_ephemeral_root_and_asks_the_node_for_its_size(offering: VmOfferingInput) -> None:
    spec = machine_spec(offering)["template"]["spec"]
    [machine] = offering.machines
    root = spec["volumes"][0]

    assert spec["domain"]["resources"]["requests"] == {"ephemeral-storage": machine.size.root_disk}
    assert root["ephemeral"]["persistentVolumeClaim"]["readOnly"] is True
    assert root["ephemeral"]["persistentVolumeClaim"]["claimName"] in {item.name for item in of(offering, "DataVolume")}


def test_a_vms_size_and_preference_are_objects_of_the_offering(offering: VmOfferingInput) -> None:
    spec = machine_spec(offering)

    for field in ("instancetype", "preference"):
        assert spec[field]["name"] in {item.name for item in of(offering, spec[field]["kind"])}
    assert spec["runStrategy"] == "Always"


def test_each_disk_has_one_volume_and_extra_ones_their_serial(offering: VmOfferingInput) -> None:
    spec = machine_spec(offering)["template"]["spec"]
    disks = spec["domain"]["devices"]["disks"]

    assert [disk["name"] for disk in disks] == [volume["name"] for volume in spec["volumes"]]
    assert [disk["serial"] for disk in disks if "serial" in disk] == [
        volume.name for volume in offering.machines[0].spec.volumes
    ]


def test_first_boot_configuration_fits_inline_with_all_volumes_one_may_have(offering: VmOfferingInput) -> None:
    volumes = tuple(VolumeSpec(name=f"{'v' * 13}{i:02}", size="1Ti", storage_class="a") for i in range(16))
    [machine] = offering.machines
    full = replace(machine, spec=machine.spec.model_copy(update={"volumes": volumes, "name": "n" * 15}))
    spec = machine_spec(replace(offering, machines=(full,)))["template"]["spec"]

    text = spec["volumes"][1]["cloudInitNoCloud"]["userData"]

    assert len(text.encode()) <= 2048
    assert text.startswith("#cloud-config\n")
    assert [mount[0] for mount in yaml.safe_load(text)["mounts"]] == [
        f"/dev/disk/by-id/virtio-{volume.name}" for volume in volumes
    ]


def test_volumes_outlive_their_vm(offering: VmOfferingInput) -> None:
    blank = [item for item in of(offering, "DataVolume") if "blank" in item.body["spec"]["source"]]

    assert len(blank) == len(offering.machines[0].spec.volumes)
    assert all(item.protect for item in blank)
    assert "dataVolumeTemplates" not in machine_spec(offering)


def test_a_public_address_is_announced_by_its_cluster_and_nothing_waits_for_the_machine(
    offering: VmOfferingInput,
) -> None:
    [machine] = offering.machines
    [pool], [service] = of(offering, "IPAddressPool"), of(offering, "Service")

    assert pool.body["spec"]["addresses"] == [f"{machine.public_address}/32"]
    assert pool.body["spec"]["autoAssign"] is False
    assert service.body["metadata"]["annotations"] == {
        "metallb.io/address-pool": pool.name,
        "metallb.io/loadBalancerIPs": str(machine.public_address),
        "pulumi.com/skipAwait": "true",
    }
    assert service.body["spec"]["selector"].items() <= machine_spec(offering)["template"]["metadata"]["labels"].items()


def test_a_cluster_without_public_addresses_has_no_load_balancer(offering: VmOfferingInput) -> None:
    public = replace(offering.public, addresses=())
    [machine] = offering.machines
    private = replace(offering, public=public, machines=(replace(machine, public_address=None),))

    kinds = {item.kind for item in private.render()}

    assert kinds.isdisjoint({"IPAddressPool", "BGPPeer", "BGPAdvertisement", "Service"})
    assert "metallb" not in [item.name for item in of(private, "HelmRelease")]
