"""Machines of tenants: volumes, first boot, users, ports, persistent root disks and fleets."""

from __future__ import annotations

from typing import Any

import yaml

from components.render.vms.vm_offering import VmOfferingInput
from components.specs.storage.topolvm import TopolvmClassSpec
from components.specs.struct import replace
from components.specs.vms.vm_offering import RootSpec, VirtualMachineSpec, VolumeSpec
from tests.support.vms.vm_offerings import machine_spec, of

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICNPZccfq2Qc8plKIZmAmY48pZ1x8O9oQs7K52SutrN7 ops@cloud.example"


def test_first_boot_configuration_fits_inline_with_all_volumes_one_may_have(offering: VmOfferingInput) -> None:
    volumes = tuple(VolumeSpec(name=f"{'v' * 13}{i:02}", size="1Ti", storage_class="shared-nfs") for i in range(16))
    [machine] = offering.machines
    full = replace(machine, spec=machine.spec.model_copy(update={"volumes": volumes, "name": "n" * 15}))
    spec = machine_spec(replace(offering, machines=(full,)))["template"]["spec"]

    text = spec["volumes"][1]["cloudInitNoCloud"]["userData"]

    assert len(text.encode()) <= 2048
    assert text.startswith("#cloud-config\n")
    assert [mount[0] for mount in yaml.safe_load(text)["mounts"]] == [
        f"/dev/disk/by-id/virtio-{volume.name}" for volume in volumes
    ]


def with_volumes(offering: VmOfferingInput, *volumes: VolumeSpec) -> VmOfferingInput:
    """Return ``offering`` with other volumes of its machine, optionally of a class ``local`` on disks of nodes."""
    [machine] = offering.machines
    local = TopolvmClassSpec(name="local", driver="topolvm", device_class="nvme")
    spec = machine.spec.model_copy(update={"volumes": volumes})
    return replace(offering, machines=(replace(machine, spec=spec, classes={**machine.classes, "local": local}),))


def test_volumes_request_the_capabilities_of_their_class(offering: VmOfferingInput) -> None:
    volumes = (
        VolumeSpec(name="home", size="1Ti", storage_class="shared-nfs"),
        VolumeSpec(name="fast", size="2Ti", storage_class="local", scratch=True),
    )
    spec = machine_spec(changed := with_volumes(offering, *volumes))
    [home] = [item for item in of(changed, "DataVolume") if item.protect]
    [fast] = spec["dataVolumeTemplates"]

    assert (home.name, fast["metadata"]["name"]) == ("bastion-home", "bastion-fast")
    assert home.body["spec"]["storage"] == {
        "storageClassName": "shared-nfs",
        "accessModes": ["ReadWriteMany"],
        "volumeMode": "Filesystem",
        "resources": {"requests": {"storage": "1Ti"}},
    }
    assert fast["spec"]["storage"] == {
        "storageClassName": "local",
        "accessModes": ["ReadWriteOnce"],
        "volumeMode": "Block",
        "resources": {"requests": {"storage": "2Ti"}},
    }
    assert [volume["dataVolume"]["name"] for volume in spec["template"]["spec"]["volumes"][2:]] == [
        "bastion-home",
        "bastion-fast",
    ]


def first_boot(offering: VmOfferingInput, **fields: Any) -> dict[str, Any]:
    """Return the first-boot volume of the machine of ``offering`` with other ``fields``."""
    [machine] = offering.machines
    spec = VirtualMachineSpec.model_validate({**machine.spec.model_dump(), **fields})
    found = machine_spec(replace(offering, machines=(replace(machine, spec=spec),)))["template"]["spec"]["volumes"][1]
    return dict(found["cloudInitNoCloud"])


def test_users_log_in_by_key_and_only_some_may_do_all(offering: VmOfferingInput) -> None:
    users = [{"name": "ops", "ssh_keys": [KEY], "sudo": True}, {"name": "guest", "ssh_keys": [KEY]}]
    text = yaml.safe_load(first_boot(offering, users=users)["userData"])

    everybody = {"shell": "/bin/bash", "ssh_authorized_keys": [KEY]}
    assert text["users"] == [
        {"name": "ops", "sudo": "ALL=(ALL) NOPASSWD:ALL", **everybody},
        {"name": "guest", **everybody},
    ]
    assert "users" not in first_boot(offering, users=[])["userData"]


def test_a_secret_is_all_user_data(offering: VmOfferingInput) -> None:
    assert first_boot(offering, users=[], user_data_secret="bastion") == {"secretRef": {"name": "bastion"}}


def test_the_bastion_can_be_reached_and_logged_in_to(offering: VmOfferingInput) -> None:
    [machine], [service] = of(offering, "VirtualMachine"), of(offering, "Service")
    template = machine.body["spec"]["template"]
    [user] = yaml.safe_load(template["spec"]["volumes"][1]["cloudInitNoCloud"]["userData"])["users"]

    assert service.body["spec"]["selector"] == template["metadata"]["labels"]
    assert [port["targetPort"] for port in service.body["spec"]["ports"]] == [22]
    assert user["ssh_authorized_keys"]


def test_ports_of_both_protocols_are_one_service(offering: VmOfferingInput) -> None:
    [machine] = offering.machines
    spec = machine.spec.model_copy(update={"ports": (53,), "udp_ports": (53, 51820)})
    [service] = of(replace(offering, machines=(replace(machine, spec=spec),)), "Service")

    assert [(port["name"], port["protocol"], port["targetPort"]) for port in service.body["spec"]["ports"]] == [
        ("tcp-53", "TCP", 53),
        ("udp-53", "UDP", 53),
        ("udp-51820", "UDP", 51820),
    ]


def test_a_machine_without_a_public_address_has_no_service(offering: VmOfferingInput) -> None:
    [machine] = offering.machines
    private = replace(offering, machines=(replace(machine, public_address=None),))

    assert of(private, "Service") == []


def test_a_persistent_root_is_a_clone_and_does_not_use_the_nodes_disk(offering: VmOfferingInput) -> None:
    root = RootSpec(size="600Gi", storage_class="shared-nfs")
    [machine] = offering.machines
    kept = replace(machine, spec=machine.spec.model_copy(update={"root": root, "pool": "system"}))
    spec = machine_spec(replace(offering, machines=(kept,)))
    [template] = spec["dataVolumeTemplates"]
    golden = {item.name for item in of(offering, "DataVolume") if "http" in item.body["spec"]["source"]}

    assert spec["template"]["spec"]["volumes"][0] == {"name": "root", "dataVolume": {"name": "bastion-root"}}
    assert template["metadata"]["name"] == "bastion-root"
    assert template["spec"]["source"]["pvc"]["name"] in golden
    assert template["spec"]["storage"]["resources"]["requests"]["storage"] == "600Gi"
    assert "resources" not in spec["template"]["spec"]["domain"]
    assert spec["template"]["spec"]["nodeSelector"] == {"node-restriction.kubernetes.io/pool": "system"}


def test_a_fleet_is_one_object_whose_machines_name_themselves(offering: VmOfferingInput) -> None:
    [machine] = offering.machines
    scratch = machine.spec.volumes[0].model_copy(update={"scratch": True})
    fleet = replace(machine, spec=machine.spec.model_copy(update={"count": 3, "volumes": (scratch,)}))
    changed = replace(offering, machines=(fleet,))
    [pool], [service] = of(changed, "VirtualMachinePool"), of(changed, "Service")
    template = pool.body["spec"]["virtualMachineTemplate"]

    assert of(changed, "VirtualMachine") == []
    assert pool.body["spec"]["replicas"] == 3
    assert pool.body["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    assert service.body["spec"]["selector"].items() <= template["spec"]["template"]["metadata"]["labels"].items()
    assert "hostname" not in template["spec"]["template"]["spec"]
    assert "hostname" not in template["spec"]["template"]["spec"]["volumes"][1]["cloudInitNoCloud"]["userData"]
    assert pool.body["spec"]["updateStrategy"] == {"opportunistic": {}}
