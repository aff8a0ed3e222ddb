"""A thousand VMs as data: too many objects of one stack as single VMs, but a single object as a fleet."""

from __future__ import annotations

import pytest

from components.rules.vms.vm_orders import MOST_OBJECTS, single_machines
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.vms.vm_offering import VirtualMachineSpec
from tests.support.data.environment_data import ENVIRONMENTS


def ordering(*orders: VirtualMachineSpec) -> Environment:
    laptop = load_environment("laptop", ENVIRONMENTS)
    [acme] = (tenant for tenant in laptop.tenants if tenant.vms)
    assert acme.vms
    changed = acme.model_copy(update={"vms": acme.vms.model_copy(update={"platform": (), "instances": orders})})
    return laptop.model_copy(update={"tenants": (changed,)})


def vms(count: int) -> list[VirtualMachineSpec]:
    return [VirtualMachineSpec(name=f"vm-{number}", size="cpu-4", image="debian-13") for number in range(count)]


def test_a_thousand_single_vms_are_rejected_with_a_fleet_as_remedy() -> None:
    [problem] = single_machines(ordering(*vms(1000)))

    assert problem.text == (
        "1000 single VMs with their volumes and addresses need 1000 objects in one stack, at most 240 are supported;"
        " merge similar VMs into one entry with count: a fleet is one object"
    )
    assert problem.path == "vms.instances"


def test_a_thousand_vms_of_a_fleet_are_one_object() -> None:
    fleet = VirtualMachineSpec(name="desk", size="cpu-4", image="debian-13", count=1000)

    assert list(single_machines(ordering(fleet))) == []


@pytest.mark.parametrize("public", [False, True])
def test_lasting_volumes_and_addresses_count_and_scratch_volumes_do_not(*, public: bool) -> None:
    home = {"name": "home", "size": "1Gi", "storage_class": "shared-nfs"}
    plain = {"name": "desk", "size": "cpu-4", "image": "debian-13", "public_ip": public}
    scratch = VirtualMachineSpec.model_validate({**plain, "volumes": [{**home, "scratch": True}]})
    lasting = VirtualMachineSpec.model_validate({**plain, "volumes": [home]})
    others = vms(MOST_OBJECTS - 1 - public)

    assert list(single_machines(ordering(*others, scratch))) == []
    assert len(list(single_machines(ordering(*others, lasting)))) == 1
