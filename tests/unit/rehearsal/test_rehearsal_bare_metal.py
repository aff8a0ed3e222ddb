"""Hosts log in to their BMCs and take turns, as the bare-metal operator has it."""

from __future__ import annotations

from typing import Any

import pytest
from live_objects import obj

from jacquard.lab.rehearsal.operators.hosts import bare_metal
from jacquard.lab.rehearsal.operators.releases import installed

READY = {"conditions": [{"type": "Ready", "status": "True"}]}
LOGIN = obj("v1", "Secret", "bmc-a01", namespace="acme", data={"username": "eA==", "password": "eA=="})
MEDIA, NETWORK, HTTP = "redfish-virtualmedia", "redfish", "redfish-uefihttp"
IMAGE = {"url": "https://x/gpu-1.raw"}


def operator(limit: int | None = None, watched: str = "", name: str = "bmo", **more: str) -> list[Any]:
    """Return the source of an operator's chart, its release and its Ironic."""
    told = {"WATCH_NAMESPACE": watched, "IRONIC_NAME": "ironic", **more}
    told |= {} if limit is None else {"PROVISIONING_LIMIT": f"{limit}"}
    source = {"kind": "OCIRepository", "name": "chart", "namespace": "ops"}
    envs = [{"name": key, "value": value} for key, value in told.items()]
    spec = {"chartRef": source, "targetNamespace": name, "values": {"envs": envs}}
    return [
        obj(installed.SOURCE, "OCIRepository", "chart", {"url": "oci://registry.example/baremetal-operator"}, "ops"),
        obj(installed.HELM, "HelmRelease", name, spec, "ops", status=READY),
        obj(*bare_metal.IRONIC, "ironic", {"tls": {"bmcCA": {"kind": "Secret", "name": "ca"}}}, name, status=READY),
    ]


def host(name: str, state: str = "registering", driver: str = MEDIA, *, transport: str = "+https", **spec: Any) -> Any:
    address = f"{driver}{transport}://10.1.0.1/redfish/v1/Systems/1"
    bmc = {"address": address, "credentialsName": "bmc-a01", **spec.pop("bmc", {})}
    status = {"operationalStatus": "OK", "provisioning": {"state": state}, **spec.pop("status", {})}
    return obj(
        *bare_metal.HOST,
        name,
        {"bmc": bmc, **spec},
        spec.pop("namespace", "acme"),
        metadata={"uid": name},
        status=status,
    )


def states(view: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in view.all(*bare_metal.HOST):
        state = one["status"]["provisioning"]["state"]
        found[state] = found.get(state, 0) + 1
    return found


def status(view: Any, name: str = "h1") -> Any:
    return view.get("BareMetalHost", name, "acme")["status"]


def test_a_host_is_inspected_once_its_bmc_lets_the_operator_in(objects: Any) -> None:
    view = objects(host("h1"), LOGIN, *operator())

    bare_metal.reconcile(view)

    assert status(view)["provisioning"] == {"state": "inspecting", "ID": "h1"}
    assert status(view)["goodCredentials"] == {"credentials": {"name": "bmc-a01", "namespace": "acme"}}
    assert status(view)["hardware"]["hostname"] == "h1"


def test_a_login_that_comes_late_is_found(objects: Any) -> None:
    view = objects(host("h1"), *operator())
    bare_metal.reconcile(view)
    failed = dict(status(view))
    bare_metal.reconcile(view)
    assert status(view) == failed
    assert (failed["operationalStatus"], failed["errorType"]) == ("error", "registration error")
    assert (failed["errorMessage"], failed["errorCount"]) == ("The BMC secret acme/bmc-a01 does not exist", 1)

    view.create(LOGIN)
    bare_metal.reconcile(view)

    assert status(view)["provisioning"]["state"] == "inspecting"
    assert (status(view)["operationalStatus"], status(view)["errorMessage"]) == ("OK", "")
    assert "errorType" not in status(view)


def test_a_host_that_runs_loses_its_login_and_gets_it_back(objects: Any) -> None:
    view = objects(host("h1", "provisioned", image=IMAGE), *operator())
    bare_metal.reconcile(view)
    assert status(view)["errorMessage"] == "The BMC secret acme/bmc-a01 does not exist"

    view.create(LOGIN)
    bare_metal.reconcile(view)

    assert (status(view)["operationalStatus"], status(view)["provisioning"]) == ("OK", {"state": "provisioned"})


@pytest.mark.parametrize(
    ("driver", "transport", "bmc", "believed"),
    [
        (MEDIA, "+https", {}, False),
        (NETWORK, "", {}, False),
        (NETWORK, "+http", {}, True),
        ("ipmi", "", {}, True),
        (MEDIA, "+https", {"disableCertificateVerification": True}, True),
    ],
)
def test_without_an_authority_only_bmcs_are_believed_that_have_no_certificate_or_are_excepted(
    objects: Any, driver: str, transport: str, bmc: Any, *, believed: bool
) -> None:
    source, release, ironic = operator()
    ironic["spec"] = {"tls": {}}
    view = objects(host("h1", driver=driver, transport=transport, bmc=bmc), LOGIN, source, release, ironic)

    bare_metal.reconcile(view)

    assert status(view)["provisioning"]["state"] == ("inspecting" if believed else "registering")
    assert status(view).get("errorMessage") == ("" if believed else bare_metal.UNVERIFIED)


@pytest.mark.parametrize(("driver", "registered"), [(NETWORK, False), ("ipmi", False), (MEDIA, True), (HTTP, True)])
def test_without_a_network_to_boot_in_only_hosts_are_registered_that_need_none(
    objects: Any, driver: str, *, registered: bool
) -> None:
    view = objects(host("h1", driver=driver), LOGIN, *operator(PROVISIONING_NETWORK_DISABLED="true"))

    bare_metal.reconcile(view)

    why = "" if registered else f"BMC driver {driver}+https requires a provisioning network"
    assert (status(view)["provisioning"]["state"], status(view)["errorMessage"]) == (
        "inspecting" if registered else "registering",
        why,
    )


def test_each_operator_has_the_hosts_of_its_namespaces_and_its_own_turns(objects: Any) -> None:
    there = [host(f"h{number}", "available", NETWORK, image=IMAGE) for number in range(3)]
    others = [{**one, "metadata": {**one["metadata"], "namespace": "globex"}} for one in there]
    login = {**LOGIN, "metadata": {"name": "bmc-a01", "namespace": "globex"}}
    first, second = operator(1, "one,acme", "one"), operator(2, "two,globex", "two")
    view = objects(*there, *others, LOGIN, login, *first, *second)

    for _ in range(2):
        bare_metal.reconcile(view)

    at_work = [one["metadata"]["namespace"] for one in view.all(*bare_metal.HOST) if bare_metal.takes_turn(one)]
    assert sorted(at_work) == ["acme", "globex", "globex"]


def test_of_two_hundred_hosts_that_boot_from_the_network_twenty_are_provisioned_at_a_time(objects: Any) -> None:
    view = objects(*(host(f"h{n}", "available", NETWORK, image=IMAGE) for n in range(200)), LOGIN, *operator(20))
    turns = 0

    while states(view) != {"provisioned": 200}:
        bare_metal.reconcile(view)
        bare_metal.reconcile(view)
        assert states(view)["provisioning"] == 20
        waiting = [one for one in view.all(*bare_metal.HOST) if one["status"]["provisioning"]["state"] == "available"]
        assert {one["status"]["operationalStatus"] for one in waiting} <= {"delayed"}
        finish(view, "provisioning", "provisioned")
        turns += 1

    assert turns == 10
    assert {one["status"]["operationalStatus"] for one in view.all(*bare_metal.HOST)} == {"OK"}


def finish(view: Any, state: str, following: str) -> None:
    """Let what hosts do in a state be over."""
    for one in view.all(*bare_metal.HOST):
        if one["status"]["provisioning"]["state"] == state:
            view.status(one, {"provisioning": {"state": following}})


@pytest.mark.parametrize("state", ["inspecting", "preparing", "provisioning", "deprovisioning"])
def test_whatever_a_ramdisk_runs_for_takes_a_turn(objects: Any, state: str) -> None:
    wants = [
        host("h2", driver=NETWORK),
        host("h3", "available", NETWORK, image=IMAGE),
        host("h4", "provisioned", NETWORK),
    ]
    view = objects(host("h1", state, NETWORK, image=IMAGE), *wants, LOGIN, *operator(1))

    bare_metal.reconcile(view)

    assert [status(view, name)["operationalStatus"] for name in ("h1", "h2", "h3", "h4")] == ["OK", *["delayed"] * 3]
    assert [status(view, name)["provisioning"]["state"] for name in ("h2", "h3", "h4")] == [
        "registering",
        "available",
        "provisioned",
    ]


def test_a_host_whose_image_was_not_written_takes_no_turn_until_it_begins_anew(objects: Any) -> None:
    failed = {"operationalStatus": "error", "errorType": "provisioning error", "errorMessage": "x"}
    view = objects(host("h1", "provisioning", NETWORK, image=IMAGE, status=failed), LOGIN, *operator(1))
    view.create(host("h2", "available", NETWORK, image=IMAGE))
    bare_metal.reconcile(view)
    assert status(view, "h2")["provisioning"]["state"] == "provisioning"
    assert status(view)["errorMessage"] == "x"

    # What the stage writes when the pause after a failure is over.
    view.status(host("h1"), {"operationalStatus": "delayed", "errorType": None, "errorMessage": ""})
    bare_metal.reconcile(view)
    assert status(view)["provisioning"]["state"] == "provisioning"
    finish(view, "provisioning", "provisioned")
    view.status(host("h1"), {"provisioning": {"state": "provisioning"}})
    bare_metal.reconcile(view)

    assert (status(view)["provisioning"]["state"], status(view)["operationalStatus"]) == ("deprovisioning", "OK")


@pytest.mark.parametrize(("driver", "at_work"), [(MEDIA, 5), (HTTP, 5), (NETWORK, 1)])
def test_hosts_with_virtual_media_or_that_boot_by_http_wait_for_nobody(objects: Any, driver: str, at_work: int) -> None:
    view = objects(*(host(f"h{n}", "available", driver, image=IMAGE) for n in range(5)), LOGIN, *operator(1))

    bare_metal.reconcile(view)

    assert states(view)["provisioning"] == at_work


def test_hosts_that_boot_by_http_take_turns_of_others(objects: Any) -> None:
    view = objects(host("h1", "provisioning", HTTP, image=IMAGE), host("h2", driver=NETWORK), LOGIN, *operator(1))

    bare_metal.reconcile(view)

    assert status(view, "h2")["operationalStatus"] == "delayed"


@pytest.mark.parametrize("state", ["provisioning", "provisioned"])
def test_a_host_that_goes_is_wiped_even_when_its_login_is_gone(objects: Any, state: str) -> None:
    going = host("h1", state, image=IMAGE)
    going["metadata"]["deletionTimestamp"] = "now"
    view = objects(going, *operator())

    bare_metal.reconcile(view)

    assert status(view)["provisioning"]["state"] == "deprovisioning"


@pytest.mark.parametrize(
    ("images", "architecture", "registers"),
    [
        (None, None, True),
        (None, "aarch64", False),
        (["x86_64"], "aarch64", False),
        (["x86_64", "aarch64"], "aarch64", True),
    ],
)
def test_a_host_boots_only_a_ramdisk_of_its_architecture(
    objects: Any, images: Any, architecture: str | None, *, registers: bool
) -> None:
    source, release, ironic = operator()
    if images is not None:
        ironic["spec"]["overrides"] = {"agentImages": [{"architecture": name} for name in images]}
    one = host("h1")
    one["spec"] |= {} if architecture is None else {"architecture": architecture}
    view = objects(one, LOGIN, source, release, ironic)

    bare_metal.reconcile(view)

    assert status(view)["provisioning"]["state"] == ("inspecting" if registers else "registering")


def test_a_host_whose_bmc_has_answered_gets_what_holds_its_firmware_once(objects: Any) -> None:
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


def firmware_of(view: Any) -> dict[str, tuple[str, str]]:
    """Return the first and the current version of each component of host ``h1``."""
    components = view.get("HostFirmwareComponents", "h1", "acme")["status"]["components"]
    return {item["component"]: (item["initialVersion"], item["currentVersion"]) for item in components}
