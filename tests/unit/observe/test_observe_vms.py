"""Status of declared VMs in ``jacquard status``."""

from __future__ import annotations

import pytest

from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.vms.vm_offering import RunStrategy
from jacquard.observe.region_status import assemble
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.objects.settled_region import settled_region


@pytest.fixture
def ordering() -> Environment:
    """Return laptop, whose tenant acme declares a fleet of three VMs and a VM that users start."""
    laptop = load_environment("laptop", ENVIRONMENTS)
    [acme] = (tenant for tenant in laptop.tenants if tenant.vms)
    assert acme.vms
    plain = acme.vms.platform[0].model_copy(update={"volumes": (), "public_ip": False})
    ordered = (
        plain.model_copy(update={"name": "desk", "count": 3}),
        plain.model_copy(update={"name": "spare", "run_strategy": RunStrategy.MANUAL}),
    )
    changed = acme.model_copy(update={"vms": acme.vms.model_copy(update={"instances": ordered})})
    tenants = tuple(changed if tenant is acme else tenant for tenant in laptop.tenants)
    return laptop.model_copy(update={"tenants": tenants})


def test_a_fleet_is_one_row_with_the_number_of_running_machines(ordering: Environment) -> None:
    seen = settled_region(ordering)
    assert assemble(ordering, seen).why == []

    machines = seen.objects["acme-train", "VirtualMachine"]
    [second] = (item for item in machines if item["metadata"]["name"] == "desk-1")
    second["status"] = {"printableStatus": "Starting"}
    status = assemble(ordering, seen)

    assert {vm.name: vm.state for vm in status.vms} == {
        "bastion": "Running",
        "desk": "2 of 3 Running",
        "spare": "Running",
    }
    assert status.why == ["vm acme-train/desk is 2 of 3 Running"]


def test_a_manually_started_machine_may_be_off(ordering: Environment) -> None:
    seen = settled_region(ordering)
    [spare] = (item for item in seen.objects["acme-train", "VirtualMachine"] if item["metadata"]["name"] == "spare")
    spare["status"] = {"printableStatus": "Stopped"}

    status = assemble(ordering, seen)

    assert [vm.state for vm in status.vms if vm.name == "spare"] == ["Stopped"]
    assert status.why == []
