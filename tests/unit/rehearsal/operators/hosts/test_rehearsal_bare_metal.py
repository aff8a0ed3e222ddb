"""Hosts log in to their BMCs and are limited in parallel, as in the bare-metal operator."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.hosts import bare_metal
from tests.support.objects.bare_metal_operator import HTTP, IMAGE, LOGIN, MEDIA, NETWORK, host, operator, status


def states(view: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in view.all(*bare_metal.HOST):
        state = one["status"]["provisioning"]["state"]
        found[state] = found.get(state, 0) + 1
    return found


def test_a_host_is_inspected_when_its_bmc_accepts_the_operator(objects: Any) -> None:
    view = objects(host("h1"), LOGIN, *operator())

    bare_metal.reconcile(view)

    assert status(view)["provisioning"] == {"state": "inspecting", "ID": "h1"}
    assert status(view)["goodCredentials"] == {"credentials": {"name": "bmc-a01", "namespace": "acme"}}
    assert status(view)["hardware"]["hostname"] == "h1"


def test_credentials_that_are_created_later_are_found(objects: Any) -> None:
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


def test_a_running_host_loses_its_credentials_and_gets_them_back(objects: Any) -> None:
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


def test_waiting_hosts_have_their_turns_in_any_order_of_racks(objects: Any) -> None:
    racks = [host(f"a{n:03}-u01", "available", NETWORK, image=IMAGE) for n in range(200)]
    view = objects(*racks, LOGIN, *operator(20))

    for _ in range(2):
        bare_metal.reconcile(view)

    first = {one["metadata"]["name"] for one in view.all(*bare_metal.HOST) if bare_metal.takes_turn(one)}
    assert any(name < "a100" for name in first)
    assert any(name > "a100" for name in first)


def finish(view: Any, state: str, following: str) -> None:
    """Complete the current operation of hosts in a state."""
    for one in view.all(*bare_metal.HOST):
        if one["status"]["provisioning"]["state"] == state:
            view.status(one, {"provisioning": {"state": following}})


@pytest.mark.parametrize("state", ["inspecting", "preparing", "provisioning", "deprovisioning"])
def test_every_ramdisk_operation_counts_against_the_limit(objects: Any, state: str) -> None:
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


def test_a_host_with_a_failed_image_does_not_count_until_its_retry(objects: Any) -> None:
    failed = {"operationalStatus": "error", "errorType": "provisioning error", "errorMessage": "x"}
    view = objects(host("h1", "provisioning", NETWORK, image=IMAGE, status=failed), LOGIN, *operator(1))
    view.create(host("h2", "available", NETWORK, image=IMAGE))
    bare_metal.reconcile(view)
    assert status(view, "h2")["provisioning"]["state"] == "provisioning"
    assert status(view)["errorMessage"] == "x"

    # The stage writes this after the pause that follows a failure.
    view.status(host("h1"), {"operationalStatus": "delayed", "errorType": None, "errorMessage": ""})
    bare_metal.reconcile(view)
    assert status(view)["provisioning"]["state"] == "provisioning"
    finish(view, "provisioning", "provisioned")
    view.status(host("h1"), {"provisioning": {"state": "provisioning"}})
    bare_metal.reconcile(view)

    assert (status(view)["provisioning"]["state"], status(view)["operationalStatus"]) == ("deprovisioning", "OK")


@pytest.mark.parametrize(("driver", "at_work"), [(MEDIA, 5), (HTTP, 5), (NETWORK, 1)])
def test_hosts_with_virtual_media_or_http_boot_have_no_limit(objects: Any, driver: str, at_work: int) -> None:
    view = objects(*(host(f"h{n}", "available", driver, image=IMAGE) for n in range(5)), LOGIN, *operator(1))

    bare_metal.reconcile(view)

    assert states(view)["provisioning"] == at_work


def test_hosts_that_boot_by_http_take_turns_of_others(objects: Any) -> None:
    view = objects(host("h1", "provisioning", HTTP, image=IMAGE), host("h2", driver=NETWORK), LOGIN, *operator(1))

    bare_metal.reconcile(view)

    assert status(view, "h2")["operationalStatus"] == "delayed"


@pytest.mark.parametrize("state", ["provisioning", "provisioned"])
def test_a_deleted_host_is_wiped_even_without_its_credentials(objects: Any, state: str) -> None:
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
