"""Patches of firmware, which apply only while a host reports other versions."""

from __future__ import annotations

from typing import Any

from tests.support.engine.patched_rack import COMPONENTS, UPDATES, patch, rack, spec


def versions(**of: str) -> dict[str, Any]:
    return {"status": {"components": [{"component": key, "currentVersion": value} for key, value in of.items()]}}


def report(kube: Any, name: str, **of: str) -> None:
    """Report the firmware of a host as Metal3 does."""
    kube.objects[COMPONENTS, "inventory", name].update(versions(**of))


def test_only_hosts_with_other_firmware_are_updated(provider: Any, kube: Any) -> None:
    for name in ("u01", "u02", "u03"):
        kube.firmware(COMPONENTS, name, updates=[])
    report(kube, "u01", bmc="1", bios="2")
    report(kube, "u02", bmc="1", bios="1")
    updates = {**patch("u01", "u02", "u03", kind="HostFirmwareComponents", **UPDATES), "unless": versions(bios="2")}
    inputs = rack(firmware=updates)

    outputs = provider.create(inputs)

    assert [spec(kube, name, COMPONENTS)["updates"] for name in ("u01", "u02", "u03")] == [[], UPDATES["updates"], []]
    assert outputs["waiting"] == ["HostFirmwareComponents inventory/u03"], "no version is known yet"

    report(kube, "u03", bios="2")
    outputs = provider.update(inputs, inputs, outputs)

    assert ("waiting" in outputs, spec(kube, "u03", COMPONENTS)) == (False, {"updates": []})
    assert provider.read(inputs, outputs=outputs)[1].plain == inputs, "hosts that need no update are no drift"


def test_a_previous_update_is_replaced_even_if_the_version_is_correct(provider: Any, kube: Any) -> None:
    kube.firmware(COMPONENTS, "u01", updates=[])
    report(kube, "u01", bios="1")
    newer = {**patch("u01", kind="HostFirmwareComponents", **UPDATES), "unless": versions(bios="2")}
    outputs = provider.create(rack(firmware=newer))
    older_updates = [{"component": "bios", "url": "https://firmware.example/bios-1.bin"}]
    older = {
        **patch("u01", kind="HostFirmwareComponents", updates=older_updates),
        "unless": versions(bios="1"),
    }

    provider.update(rack(firmware=newer), rack(firmware=older), outputs)

    assert spec(kube, "u01", COMPONENTS) == {"updates": older_updates}
