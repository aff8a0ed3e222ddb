"""Host firmware: records, and conditions for updates by the bare-metal operator."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.hosts import bare_metal
from tests.support.objects.bare_metal_operator import IMAGE, LOGIN, host, operator
from tests.support.objects.live_objects import obj


def test_a_host_with_a_responding_bmc_gets_its_firmware_objects_once(objects: Any) -> None:
    going = host("h3", "available")
    going["metadata"]["deletionTimestamp"] = "now"
    view = objects(host("h1", "inspecting"), host("h2"), going)

    bare_metal.reconcile(view)
    view.get("HostFirmwareSettings", "h1", "acme")["spec"] = {"settings": {"Turbo": "On"}}
    bare_metal.reconcile(view)

    assert firmware_of(view) == {"bios": ("0.0.0", "0.0.0"), "bmc": ("0.0.0", "0.0.0")}
    made = {key: one for key, one in view.store.items() if key[0] != "BareMetalHost"}
    assert {key: one["spec"] for key, one in made.items()} == {
        ("HostFirmwareSettings", "acme", "h1"): {"settings": {"Turbo": "On"}},
        ("HostFirmwareComponents", "acme", "h1"): {"updates": []},
    }
    assert {one["metadata"]["ownerReferences"][0]["uid"] for one in made.values()} == {"h1"}


@pytest.mark.parametrize(
    ("state", "spec", "bios"),
    [
        ("available", {"image": IMAGE}, "1.6.2"),
        ("available", {}, "0.0.0"),
        ("provisioning", {"image": IMAGE}, "0.0.0"),
        ("provisioned", {"image": IMAGE}, "0.0.0"),
    ],
)
def test_firmware_is_updated_before_an_image_is_written_and_at_no_other_time(
    objects: Any, state: str, spec: dict[str, Any], bios: str
) -> None:
    view = objects(*operator(), LOGIN, host("h1", state, **spec))
    for kind in ("HostFirmwareSettings", "HostFirmwareComponents"):
        view.create(obj("metal3.io/v1alpha1", kind, "h1", {"updates": []}, "acme"))
    updates = [{"component": "bios", "url": "https://firmware.cloud.example/h100/bios-1.6.2.bin"}]
    view.get("HostFirmwareComponents", "h1", "acme")["spec"]["updates"] = updates

    for _ in range(3):
        bare_metal.reconcile(view)

    assert firmware_of(view) == {"bios": ("0.0.0", bios), "bmc": ("0.0.0", "0.0.0")}


@pytest.mark.parametrize(
    ("wanted", "patched", "turbo"),
    [
        ("Disabled", True, "Disabled"),
        ("Enabled", False, "Enabled"),
        ("Enabled", True, None),
    ],
)
def test_a_host_with_settings_that_change_nothing_is_not_provisioned(
    objects: Any, wanted: str, turbo: str | None, *, patched: bool
) -> None:
    """Metal3 does not record a generation of the settings that requires no change."""
    view = objects(*operator(), LOGIN, host("h1", "available"))
    bare_metal.reconcile(view)
    settings = view.get("HostFirmwareSettings", "h1", "acme")
    settings["metadata"]["generation"] = 1
    settings.pop("status")
    bare_metal.reconcile(view)
    if patched:
        settings["metadata"]["generation"] = 2
        settings["spec"] = {"settings": {"Turbo": wanted}}

    view.get("BareMetalHost", "h1", "acme")["spec"]["image"] = IMAGE
    for _ in range(4):
        bare_metal.reconcile(view)

    state = view.get("BareMetalHost", "h1", "acme")["status"]["provisioning"]["state"]
    assert (state == "provisioning") is (turbo is not None)
    assert settings["status"]["settings"] == {"Turbo": turbo or "Enabled"}
    assert {item["type"]: item["status"] for item in settings["status"]["conditions"]} == {
        "ChangeDetected": "False",
        "Valid": "True",
    }


def test_settings_that_the_bmc_does_not_have_are_not_applied(objects: Any) -> None:
    view = objects(*operator(), LOGIN, host("h1", "available"))
    bare_metal.reconcile(view)
    settings = view.get("HostFirmwareSettings", "h1", "acme")
    settings["spec"] = {"settings": {"Turbo": "Disabled", "Unknown": 1}}

    view.get("BareMetalHost", "h1", "acme")["spec"]["image"] = IMAGE
    for _ in range(4):
        bare_metal.reconcile(view)

    assert settings["status"]["settings"] == {"Turbo": "Enabled"}
    assert view.get("BareMetalHost", "h1", "acme")["status"]["provisioning"]["state"] == "provisioning"


def firmware_of(view: Any) -> dict[str, tuple[str, str]]:
    """Return the first and the current version of each component of host ``h1``."""
    components = view.get("HostFirmwareComponents", "h1", "acme")["status"]["components"]
    return {item["component"]: (item["initialVersion"], item["currentVersion"]) for item in components}
