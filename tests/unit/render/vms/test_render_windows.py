"""Windows VMs: setup by an answer file, with a separate preference."""

from __future__ import annotations

from components.render.vms.vm_offering import VmOfferingInput
from components.specs.struct import replace
from components.specs.vms.guests import GuestSystem
from tests.support.vms.vm_offerings import machine_spec, of


def test_windows_is_set_up_by_an_answer_file_and_keeps_its_tpm(offering: VmOfferingInput) -> None:
    [machine] = offering.machines
    windows = offering.images[0].model_copy(update={"os": GuestSystem.WINDOWS})
    spec = machine.spec.model_copy(update={"users": (), "sysprep_secret": "answers"})
    changed = replace(
        offering,
        images=(windows, *offering.images[1:]),
        machines=(replace(machine, image=windows, spec=spec),),
    )
    [kubevirt], template = of(changed, "KubeVirt"), machine_spec(changed)["template"]["spec"]
    linux, other = of(changed, "VirtualMachineClusterPreference")

    assert machine_spec(changed)["preference"]["name"] == other.name != linux.name
    assert template["volumes"][1] == {"name": "sysprep", "sysprep": {"secret": {"name": "answers"}}}
    assert template["domain"]["devices"]["disks"][1] == {"name": "sysprep", "cdrom": {"bus": "sata"}}
    assert "terminationGracePeriodSeconds" not in template
    assert other.body["spec"]["firmware"] == {"preferredEfi": {"secureBoot": True, "persistent": True}}
    assert kubevirt.body["spec"]["configuration"]["vmStateStorageClass"] == offering.image_storage_class
    sources = {item.name: item.body["metadata"]["labels"] for item in of(changed, "DataSource")}
    named = {name: labels["instancetype.kubevirt.io/default-preference"] for name, labels in sources.items()}
    assert named == {windows.name: other.name, offering.images[1].name: linux.name}


def test_windows_without_an_answer_file_has_no_first_boot_disk(offering: VmOfferingInput) -> None:
    [machine] = offering.machines
    windows = machine.image.model_copy(update={"os": GuestSystem.WINDOWS})
    bare = replace(machine, image=windows, spec=machine.spec.model_copy(update={"volumes": ()}))
    spec = machine_spec(replace(offering, images=(windows,), machines=(bare,)))["template"]["spec"]

    assert [volume["name"] for volume in spec["volumes"]] == ["root"]
    assert [disk["name"] for disk in spec["domain"]["devices"]["disks"]] == ["root"]
