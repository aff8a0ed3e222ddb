"""Effects of VM edits on running VMs, by the table and the rendered objects before and after."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs.vm_offering import of_cluster
from components.lookups.effects.changes import changes
from components.lookups.effects.effect import Effect, When
from components.lookups.pools import clusters
from components.render.manifest import objects
from components.render.vms.vm_offering import VmOfferingInput
from components.specs.environment import Environment
from components.specs.struct import replace
from components.specs.vms.vm_offering import RootSpec


@pytest.fixture
def offering(region: Environment) -> VmOfferingInput:
    """Return the VM offering of environment laptop, whose machine has a persistent root disk."""
    [found] = (offered for placed in clusters(region) for offered in of_cluster(region, placed))
    return edited(found, root=RootSpec(size="600Gi", storage_class="shared-vast"))


def edited(offering: VmOfferingInput, **fields: Any) -> VmOfferingInput:
    """Return ``offering`` with other fields of its machine."""
    [machine] = offering.machines
    return replace(offering, machines=(replace(machine, spec=machine.spec.model_copy(update=fields)),))


def effects(before: VmOfferingInput, after: VmOfferingInput) -> dict[tuple[str, str], tuple[Effect, When | None]]:
    """Return effect and time of each change, by the kind and the last two steps of its path."""
    return {
        (change.manifest.kind, ".".join(change.path.split(".")[-2:])): (change.effect, change.row and change.row.when)
        for change in changes(objects(before.render()), objects(after.render()))
    }


def test_a_further_vm_pool_does_not_affect_machines(offering: VmOfferingInput) -> None:
    found = effects(offering, replace(offering, pools=(*offering.pools, "more")))

    assert {kind for kind, _ in found} == {"CDI", "KubeVirt"}
    assert {effect for effect, _ in found.values()} == {Effect.IN_PLACE}


def test_a_smaller_root_is_for_another_machine(offering: VmOfferingInput) -> None:
    found = effects(offering, edited(offering, root=RootSpec(size="500Gi", storage_class="shared-vast")))

    assert found == {("VirtualMachine", "requests.storage"): (Effect.IN_PLACE, When.NEW_ONLY)}


def test_another_class_or_size_of_a_lasting_volume_is_refused(offering: VmOfferingInput) -> None:
    [machine] = offering.machines
    home, *others = machine.spec.volumes
    moved = home.model_copy(update={"storage_class": "shared-nfs", "size": "50Gi"})

    found = effects(offering, edited(offering, volumes=(moved, *others)))

    assert found == {
        ("DataVolume", "storage.storageClassName"): (Effect.REFUSED, When.AT_ONCE),
        ("DataVolume", "requests.storage"): (Effect.REFUSED, When.AT_ONCE),
    }


def test_a_machine_that_becomes_a_fleet_is_lost(offering: VmOfferingInput) -> None:
    found = effects(edited(offering, volumes=()), edited(offering, volumes=(), count=1))

    assert found == {
        ("VirtualMachinePool", "created"): (Effect.SCALES, When.AT_ONCE),
        ("VirtualMachine", "deleted"): (Effect.DELETED, When.AT_ONCE),
    }


def test_a_fleet_scales_by_its_count(offering: VmOfferingInput) -> None:
    before, after = (edited(offering, volumes=(), count=count) for count in (3, 2))

    assert effects(before, after) == {("VirtualMachinePool", "spec.replicas"): (Effect.SCALES, When.AT_ONCE)}
