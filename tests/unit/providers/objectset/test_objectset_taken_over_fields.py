"""Fields of other managers in patched objects: empty lists are filled, others are taken over only if a user says so."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from tests.support.engine.patched_rack import BIOS, COMPONENTS, SETTINGS, UPDATES, patch, rack, spec


def test_an_empty_list_of_the_creator_is_filled_and_a_full_one_is_kept(provider: Any, kube: Any) -> None:
    kube.firmware(COMPONENTS, "u01", updates=[])
    kube.firmware(COMPONENTS, "u02", updates=[{"component": "bmc", "url": "https://theirs"}])

    with pytest.raises(grpc.RpcError) as error:
        provider.create(rack(firmware=patch("u01", "u02", kind="HostFirmwareComponents", **UPDATES)))

    [reason] = provider.failure(error.value).reasons
    assert reason == (
        "HostFirmwareComponents inventory/u02: fields belong to other managers: .spec.updates ('baremetal-operator');"
        " remove them from the program or from that manager,"
        " or take them over in one run with JACQUARD_TAKE_FIELDS_FROM=baremetal-operator"
    )
    assert spec(kube, "u01", COMPONENTS) == UPDATES
    assert spec(kube, "u02", COMPONENTS) == {"updates": [{"component": "bmc", "url": "https://theirs"}]}


def test_a_field_is_taken_over_from_a_manager_that_the_user_named(provider: Any, kube: Any) -> None:
    kube.firmware(SETTINGS, "u01", settings={"Turbo": "Off"})
    kube.fields[SETTINGS, "inventory", "u01"].managers["settings", "Turbo"] = "kubectl-edit"

    provider.create(rack(bios=patch("u01", **BIOS)))

    assert spec(kube, "u01") == BIOS
    [line] = provider.engine.lines
    assert line == (
        "fields taken over with JACQUARD_TAKE_FIELDS_FROM: HostFirmwareSettings inventory/u01"
        " .spec.settings.Turbo ('kubectl-edit')"
    )


@pytest.mark.parametrize("call", [1, 2, 3])
def test_an_empty_list_filled_by_another_manager_meanwhile_is_kept(
    provider: Any, kube: Any, monkeypatch: Any, call: int
) -> None:
    kube.firmware(COMPONENTS, "u01", updates=[])
    theirs, fill, calls = {"updates": [{"component": "bmc", "url": "https://theirs"}]}, kube._filled, []

    def late(key: Any, query: Any, body: Any) -> Any:
        calls.append(query)
        if len(calls) == call:
            kube.firmware(COMPONENTS, "u01", **theirs)
        return fill(key, query, body)

    monkeypatch.setattr(kube, "_filled", late)
    inputs = rack(firmware=patch("u01", kind="HostFirmwareComponents", **UPDATES))
    if call == 1:
        with pytest.raises(grpc.RpcError) as error:
            provider.create(inputs)
        outputs = provider.failure(error.value).outputs.plain
    else:
        outputs = provider.create(inputs)

    assert outputs["waiting"] == ["HostFirmwareComponents inventory/u01"]
    assert spec(kube, "u01", COMPONENTS) == theirs
