"""unverified-bmc."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from components.specs.struct import replace
from policies.facts import UNKNOWN, Context, Fact, object_fact
from policies.rules.hosts.unverified_bmc import RULE
from policies.verdict import Verdict


def host(**bmc: Any) -> Fact:
    metadata = {"name": "a01-u01", "namespace": "acme-train"}
    return object_fact({"kind": "BareMetalHost", "metadata": metadata, "spec": {"bmc": bmc}}, "management")


@pytest.mark.parametrize("bmc", [{}, {"disableCertificateVerification": False}])
def test_passes_a_bmc_that_is_verified(bmc: dict[str, Any], context: Context) -> None:
    assert RULE.judge(host(**bmc), context).verdict is Verdict.PASS


def test_passes_every_host_of_laptop(rendered: Callable[[str], list[Fact]], context: Context) -> None:
    assert {RULE.judge(fact, context).verdict for fact in rendered("BareMetalHost")} == {Verdict.PASS}


def test_unknown_values_are_undecided(context: Context) -> None:
    assert RULE.judge(host(disableCertificateVerification=UNKNOWN), context).verdict is Verdict.UNDECIDED


def test_reports_an_exception_with_its_reason(context: Context, text: Callable[..., str]) -> None:
    known = replace(context, unverified={"a01-u01": "its BMC signs for itself until firmware 7.10 is out"})

    assert text(RULE, host(disableCertificateVerification=True), known) == (
        "unverified-bmc: BareMetalHost acme-train/a01-u01 in cluster management\n"
        "  found:   the certificate of its BMC is not verified: its BMC signs for itself until firmware 7.10 is out\n"
        "  allowed: BMCs with a certificate signed by the authority of bare_metal.bmc_certificates\n"
        "  why:     an on-path attacker can obtain the BMC credentials and take control of the host\n"
        "  fix:     install a certificate of the platform on the BMC, and remove the host from "
        "bare_metal.bmc_certificates.unverified in region.yaml\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject a01-u01"
    )


def test_reports_an_exception_that_the_data_do_not_contain(context: Context) -> None:
    assert RULE.judge(host(disableCertificateVerification=True), context).found == (
        "the certificate of its BMC is not verified; reason missing"
    )
