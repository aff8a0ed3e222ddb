"""The example VM order for tenants: it references rendered objects only, and may clone its sources."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.manifest import objects
from components.render.vms.vm_offering import VmOfferingInput
from components.render.vms.vm_order import ordered, vm_order


@pytest.fixture
def offering(inputs_of: Any) -> VmOfferingInput:
    """Return the VM offering of environment laptop."""
    [found] = inputs_of(VmOfferingInput)
    assert isinstance(found, VmOfferingInput)
    return found


def test_an_order_names_objects_of_its_cluster(offering: VmOfferingInput) -> None:
    there = {(item.kind, item.name) for item in objects(offering.render())}

    for size in offering.sizes:
        spec = vm_order(offering, ordered(offering, size, offering.images[0], "work"))["spec"]
        [root] = spec["dataVolumeTemplates"]

        for part in (spec["instancetype"], spec["preference"], root["spec"]["sourceRef"]):
            assert (part["kind"], part["name"]) in there


def test_every_account_may_only_clone_golden_volumes(offering: VmOfferingInput) -> None:
    rendered = [*objects(offering.render())]
    [role] = [item for item in rendered if item.kind == "Role"]
    [binding] = [item for item in rendered if item.kind == "RoleBinding"]
    imported = [item.name for item in rendered if item.kind == "DataVolume" and "http" in item.body["spec"]["source"]]

    [rule] = role.body["rules"]

    assert rule == {
        "apiGroups": ["cdi.kubevirt.io"],
        "resources": ["datavolumes/source"],
        "resourceNames": imported,
        "verbs": ["create"],
    }
    assert (role.namespace, binding.namespace) == ("virtual-machines", "virtual-machines")
    assert [subject["name"] for subject in binding.body["subjects"]] == ["system:serviceaccounts"]
    assert len({item.name for item in rendered if item.kind == "DataVolume"}) > len(imported)
