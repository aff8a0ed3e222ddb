"""Subjects that a waiver can name for a violation."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.specs.region.policy import WaiverSpec
from policies.facts import PROVIDER, STACK, UNKNOWN, Fact, object_fact
from policies.waivers import subjects, waiver_of

POOL = {"jacquard.dev/pool": "infer"}


def fact(kind: str, metadata: Any) -> Fact:
    return object_fact({"kind": kind, "metadata": metadata}, "management")


def waiver(rule: str, subject: str, day: int = 1) -> WaiverSpec:
    return WaiverSpec(
        rule=rule, subject=subject, reason="a test", owner="ops", ticket="OPS-1", expires=dt.date(2026, 12, day)
    )


HOST = fact("BareMetalHost", {"name": "a01-u01", "namespace": "acme-train", "labels": POOL})


@pytest.mark.parametrize(
    ("about", "called"),
    [
        (HOST, ["a01-u01", "BareMetalHost acme-train/a01-u01"]),
        (fact("BMC", {"name": "a01-u01"}), ["a01-u01", "BMC a01-u01"]),
        (
            fact("Metal3MachineTemplate", {"name": "t-1", "namespace": "acme-train", "labels": POOL}),
            ["acme-train/infer", "Metal3MachineTemplate acme-train/t-1"],
        ),
        (fact("ConfigMap", {"name": "infer", "namespace": "acme-train"}), ["ConfigMap acme-train/infer"]),
        (fact("ConfigMap", {"name": UNKNOWN, "namespace": "acme-train"}), []),
        (fact("ConfigMap", {"name": "x", "namespace": UNKNOWN}), []),
        (fact("ConfigMap", UNKNOWN), []),
        (object_fact({}, "management"), []),
        (Fact(kind=PROVIDER, title="provider kubernetes x", body={}), ["provider kubernetes x"]),
        (Fact(kind=STACK, title="", body={"tenant": "acme"}), ["acme"]),
        (Fact(kind=STACK, title="", body={"tenant": None}), ["shared"]),
    ],
)
def test_a_subject_is_a_host_a_pool_a_tenant_or_an_object(about: Fact, called: list[str]) -> None:
    assert subjects(about) == called


def test_a_waiver_covers_its_own_rule_and_subject_only() -> None:
    own = waiver("host-beyond-identity", "a01-u01")

    assert waiver_of("host-beyond-identity", HOST, [own]) is own
    assert waiver_of("unpinned-image", HOST, [own]) is None
    assert waiver_of("host-beyond-identity", HOST, [waiver("host-beyond-identity", "a01-u0")]) is None


def test_of_two_waivers_the_longer_one_counts() -> None:
    short, long = waiver("host-beyond-identity", "a01-u01"), waiver("host-beyond-identity", HOST.title[:32], 31)

    assert waiver_of("host-beyond-identity", HOST, [short, long]) is long
