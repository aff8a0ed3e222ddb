"""host-beyond-identity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from components.specs.struct import replace
from policies.facts import UNKNOWN, Context, Fact, object_fact
from policies.rules.hosts.host_beyond_identity import RULE
from policies.verdict import Verdict

SPEC: dict[str, Any] = {
    "online": True,
    "bmc": {"address": "redfish://10.1.1.1/redfish/v1/Systems/1", "credentialsName": "bmc-a01"},
    "bootMACAddress": "02:00:00:01:01:01",
    "bootMode": "UEFI",
    "automatedCleaningMode": "metadata",
}


def host(spec: Any) -> Fact:
    metadata = {"name": "a01-u01", "namespace": "acme-train"}
    return object_fact({"kind": "BareMetalHost", "metadata": metadata, "spec": spec}, "management")


def test_passes_identity(context: Context) -> None:
    assert RULE.judge(host(SPEC), context).verdict is Verdict.PASS


def test_passes_every_host_of_laptop(rendered: Callable[[str], list[Fact]], context: Context) -> None:
    facts = rendered("BareMetalHost")

    assert len(facts) == 30
    assert {RULE.judge(fact, context).verdict for fact in facts} == {Verdict.PASS}


def test_passes_only_the_disk_of_the_instance_type(context: Context) -> None:
    hints = {"model": "MZ1L2960", "minSizeGigabytes": 800}
    declared = replace(context, declared={"a01-u01": {"spec.rootDeviceHints": hints}})

    assert RULE.judge(host(SPEC | {"rootDeviceHints": hints}), declared).verdict is Verdict.PASS
    assert RULE.judge(host(SPEC | {"rootDeviceHints": hints | {"model": "x"}}), declared).verdict is Verdict.VIOLATION


def test_refuses_a_host_with_its_own_image_and_disk(context: Context, text: Callable[..., str]) -> None:
    fact = host(SPEC | {"image": {"url": "x"}, "rootDeviceHints": {"deviceName": "/dev/sda"}})

    assert text(RULE, fact, context) == (
        "host-beyond-identity: BareMetalHost acme-train/a01-u01 in cluster management\n"
        "  found:   spec.image, spec.rootDeviceHints\n"
        "  allowed: spec.bmc.address, spec.bmc.credentialsName, spec.bootMACAddress, spec.online from "
        "inventory/<hall>.csv, and spec.automatedCleaningMode metadata, spec.bootMode UEFI on every host, "
        "and spec.architecture, spec.bmc.disableCertificateVerification, spec.rootDeviceHints with the values from the "
        "data\n"
        "  why:     a host that differs from its pool is only noticed when a job fails on it\n"
        "  fix:     remove the field; if the machine really differs, add an instance type for it to "
        "environments/catalog/instance_types.yaml and create a pool of that type\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject a01-u01"
    )


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        (SPEC | {"bootMode": "legacy"}, "spec.bootMode"),
        (SPEC | {"automatedCleaningMode": "disabled"}, "spec.automatedCleaningMode"),
        (
            SPEC | {"bmc": SPEC["bmc"] | {"disableCertificateVerification": True}},
            "spec.bmc.disableCertificateVerification",
        ),
        (SPEC | {"bmc": "redfish://10.1.1.1"}, "spec.bmc"),
        (SPEC | {"image": UNKNOWN}, "spec.image"),
    ],
)
def test_refuses_settings_of_a_single_host(spec: dict[str, Any], found: str, context: Context) -> None:
    finding = RULE.judge(host(spec), context)

    assert (finding.verdict, finding.found) == (Verdict.VIOLATION, found)


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        (UNKNOWN, "spec"),
        (SPEC | {"bmc": UNKNOWN}, "spec.bmc"),
        (SPEC | {"bootMode": UNKNOWN}, "spec.bootMode"),
    ],
)
def test_an_unknown_part_is_refused_as_undecided(spec: Any, what: str, context: Context) -> None:
    finding = RULE.judge(host(spec), context)

    assert (finding.verdict, finding.found) == (
        Verdict.UNDECIDED,
        f"{what} is unknown until apply, so the rule cannot decide",
    )


BMC: dict[str, Any] = {
    "access": {"ip": "10.1.1.1"},
    "bmcSecretRef": {"name": "bmc-a01"},
    "protocol": {"name": "Redfish", "scheme": "https", "port": 443},
}


def bmc(spec: Any) -> Fact:
    return object_fact({"kind": "BMC", "metadata": {"name": "a01-u01"}, "spec": spec}, "management")


def test_passes_every_bmc_that_a_region_of_ironcore_renders(
    rendered_by_ironcore: Callable[[str], list[Fact]], context: Context
) -> None:
    facts = rendered_by_ironcore("BMC")

    assert facts
    assert {RULE.judge(fact, context).verdict for fact in facts} == {Verdict.PASS}


@pytest.mark.parametrize(
    ("spec", "verdict", "found"),
    [
        (BMC | {"bmcSettingsRef": {"name": "x"}}, Verdict.VIOLATION, "spec.bmcSettingsRef"),
        (BMC | {"protocol": BMC["protocol"] | {"name": "IPMI"}}, Verdict.VIOLATION, "spec.protocol.name"),
        (BMC | {"access": {"ip": "10.1.1.1", "macAddress": "x"}}, Verdict.VIOLATION, "spec.access.macAddress"),
        (
            BMC | {"protocol": UNKNOWN},
            Verdict.UNDECIDED,
            "spec.protocol is unknown until apply, so the rule cannot decide",
        ),
    ],
)
def test_refuses_a_bmc_of_ironcore_beyond_identity(spec: Any, verdict: Verdict, found: str, context: Context) -> None:
    finding = RULE.judge(bmc(spec), context)

    assert (finding.verdict, finding.found) == (verdict, found)
