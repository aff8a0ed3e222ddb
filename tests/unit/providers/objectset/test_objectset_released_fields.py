"""Removal of patched fields: by a later change, by a resumed change, and with the set."""

from __future__ import annotations

import json
from typing import Any

import grpc
import pytest

from jacquard.providers.objectset.applyset import PATCHES
from tests.support.engine.patched_rack import BIOS, COMPONENTS, SETTINGS, UPDATES, patch, rack, spec


def test_removed_patches_release_our_fields_and_keep_the_object(provider: Any, kube: Any) -> None:
    for name in ("u01", "u02"):
        kube.firmware(SETTINGS, name, settings={})
        kube.firmware(COMPONENTS, name, updates=[])
    theirs = kube.fields[SETTINGS, "inventory", "u02"].merged({"settings": {"Fan": "Low"}}, "kubectl-edit (update)")
    kube.fields[SETTINGS, "inventory", "u02"] = theirs
    components = patch("u01", "u02", kind="HostFirmwareComponents", **UPDATES)
    old = rack(bios=patch("u01", "u02", **BIOS), firmware=components)
    outputs = provider.create(old)
    new = rack(bios=patch("u01", **BIOS))

    after = provider.update(old, new, outputs)

    assert spec(kube, "u01") == BIOS
    assert spec(kube, "u02") == {"settings": {"Fan": "Low"}}
    assert [spec(kube, name, COMPONENTS) for name in ("u01", "u02")] == [{"updates": []}] * 2
    assert "waiting" not in after

    provider.delete(new, outputs=after)

    assert spec(kube, "u01") == {"settings": {}}
    assert not any(line.startswith("DELETE") and "firmware" in line for line in kube.log)
    assert ("configmaps", "inventory", "rack-a01") not in kube.objects
    provider.update(new, old, provider.create(new))
    assert spec(kube, "u02", COMPONENTS) == UPDATES  # A list that we have emptied can be filled again.


def test_a_field_that_another_manager_has_applied_too_is_kept(provider: Any, kube: Any) -> None:
    kube.firmware(SETTINGS, "u01", settings={})
    old = rack(bios=patch("u01", **BIOS))
    outputs = provider.create(old)
    live = kube.objects[SETTINGS, "inventory", "u01"]
    live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:settings"]["."] = {}
    theirs = {"f:spec": {"f:settings": {"f:Turbo": {}, "f:Fan": {}}}}
    live["metadata"]["managedFields"].append({"manager": "kubectl", "operation": "Apply", "fieldsV1": theirs})

    provider.update(old, rack(), outputs)

    assert spec(kube, "u01") == {"settings": {"Turbo": "On"}}


def test_an_object_changed_during_its_release_is_named_and_the_next_run_continues(
    provider: Any, kube: Any, monkeypatch: Any
) -> None:
    kube.firmware(SETTINGS, "u01", settings={})
    old = rack(bios=patch("u01", **BIOS))
    outputs, merge = provider.create(old), kube._merged

    def late(key: Any, query: Any, body: Any) -> Any:
        kube._kept(key)
        return merge(key, query, body)

    monkeypatch.setattr(kube, "_merged", late)
    with pytest.raises(grpc.RpcError) as error:
        provider.update(old, rack(), outputs)
    with pytest.raises(grpc.RpcError) as deleting:
        provider.delete(old)

    why = "HostFirmwareSettings inventory/u01: changed after it was read, so it was not reset; run again"
    failure = provider.failure(error.value)
    assert failure.reasons == [why]
    assert failure.outputs.plain["waiting"] == ["HostFirmwareSettings inventory/u01"]
    assert provider.failure(deleting.value).text == (
        f"ObjectSet inventory/rack-a01: 1 problem(s); another removal continues from here:\n  {why}"
    )
    monkeypatch.undo()
    assert "waiting" not in provider.update(old, rack(), failure.outputs.plain)
    assert spec(kube, "u01") == {"settings": {}}


def test_a_partial_change_is_repaired_even_if_the_program_is_reverted(provider: Any, kube: Any) -> None:
    for name in ("u01", "u02", "u03"):
        kube.firmware(SETTINGS, name, settings={})
    old = rack(bios=patch("u01", "u02", "u03", **BIOS))
    outputs = provider.create(old)
    kube.refused["u02"] = (422, {"reason": "Invalid", "message": "no"})
    new = rack(bios=patch("u01", "u02", settings={"Turbo": "Off"}))

    with pytest.raises(grpc.RpcError) as error:
        provider.update(old, new, outputs)

    failure = provider.failure(error.value)
    assert failure.text == "ObjectSet inventory/rack-a01: 1 problem(s); the next run continues from here"
    assert failure.reasons == ["HostFirmwareSettings inventory/u02: no (422 Invalid)"]
    assert (spec(kube, "u01"), spec(kube, "u03")) == ({"settings": {"Turbo": "Off"}}, {"settings": {}})

    kube.refused.clear()
    provider.update(old, old, failure.outputs.plain)  # After a failed update the engine keeps the old inputs.
    assert [spec(kube, name) for name in ("u01", "u02", "u03")] == [BIOS] * 3


def test_patches_of_a_failed_change_are_released_if_the_program_is_reverted(provider: Any, kube: Any) -> None:
    for name in ("u01", "u02", "u03"):
        kube.firmware(SETTINGS, name, settings={})
    old = rack(bios=patch("u01", **BIOS), other=patch("u03", **BIOS))
    outputs = provider.create(old)
    kube.refused["u01"] = (422, {"reason": "Invalid", "message": "no"})
    with pytest.raises(grpc.RpcError) as error:
        provider.update(old, rack(bios=patch("u01", "u02", settings={"Turbo": "Off"})), outputs)
    assert (spec(kube, "u02"), spec(kube, "u03")) == ({"settings": {"Turbo": "Off"}}, {"settings": {}})

    kube.refused.clear()
    after = provider.update(old, old, provider.failure(error.value).outputs.plain)

    assert [spec(kube, name) for name in ("u01", "u02", "u03")] == [BIOS, {"settings": {}}, BIOS]
    assert "waiting" not in after
    assert json.loads(kube.objects["configmaps", "inventory", "rack-a01"]["data"][PATCHES]) == old["patches"]


def test_members_that_fail_leave_patches_to_the_next_run(provider: Any, kube: Any) -> None:
    kube.firmware(SETTINGS, "u01", settings={})
    inputs = rack(bios=patch("u01", **BIOS))
    host = {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {"name": "u01"}}
    inputs["members"] = {"u01": {**host, "spec": {"onlin": True}}}

    with pytest.raises(grpc.RpcError) as error:
        provider.create(inputs)

    outputs = provider.failure(error.value).outputs.plain
    assert outputs["waiting"] == ["HostFirmwareSettings inventory/u01"]
    fixed = {**inputs, "members": {"u01": {**host, "spec": {"online": True}}}}
    provider.update(inputs, fixed, outputs)
    assert spec(kube, "u01") == BIOS


def test_a_set_with_lost_state_reads_its_patches_from_its_parent(provider: Any, kube: Any) -> None:
    for name in ("u01", "u02"):
        kube.firmware(SETTINGS, name, settings={})
    inputs = rack(bios=patch("u01", "u02", **BIOS))
    outputs = provider.create(inputs)
    assert json.loads(kube.objects["configmaps", "inventory", "rack-a01"]["data"][PATCHES]) == inputs["patches"]

    id_, found, read_outputs = provider.read({})
    assert (id_, found.plain, read_outputs) == ("inventory/rack-a01", inputs, outputs)

    provider.create(rack(bios=patch("u01", **BIOS)))
    assert (spec(kube, "u01"), spec(kube, "u02")) == (BIOS, {"settings": {}})


def test_an_object_that_another_set_patches_is_left_to_it(provider: Any, kube: Any) -> None:
    kube.firmware(SETTINGS, "u01", settings={})
    old = rack(bios=patch("u01", **BIOS))
    outputs = provider.create(old)
    other = {**rack(bios=patch("u01", settings={"Turbo": "Off"})), "setName": "rack-a02"}
    provider.check(other)

    provider.create(other)
    provider.update(old, rack(), outputs)

    assert spec(kube, "u01") == {"settings": {"Turbo": "Off"}}
