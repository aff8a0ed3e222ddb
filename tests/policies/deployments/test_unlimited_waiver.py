"""unlimited-waiver."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.region.policy import Enforcement, WaiverSpec, WaiversSpec
from components.specs.struct import replace
from policies.check import judge
from policies.facts import WAIVER, Context, Fact
from policies.judging import Judge
from policies.rules.deployments.unlimited_waiver import RULE
from policies.verdict import Severity, Verdict

LAST = dt.date(2027, 2, 19)
"""Last permitted expiry on the day of these tests."""


def waiver(**given: Any) -> Fact:
    body = {"expires": LAST, "owner": "platform@cloud.example", "second_owner": None, "severity": Severity.HIGH}
    return Fact(kind=WAIVER, title="waiver of unpinned-image for acme-train/infer", body={**body, **given})


@pytest.mark.parametrize(
    "given", [{}, {"severity": None}, {"severity": Severity.CRITICAL, "second_owner": "security@cloud.example"}]
)
def test_passes_a_short_waiver_with_its_owners(given: dict[str, Any], context: Context) -> None:
    assert RULE.judge(waiver(**given), context).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"expires": LAST + dt.timedelta(days=1)}, "valid until 2027-02-20, 91 days"),
        ({"severity": Severity.CRITICAL}, "no second owner"),
        ({"severity": Severity.CRITICAL, "second_owner": "platform@cloud.example"}, "no second owner"),
    ],
)
def test_reports_a_long_waiver_and_one_with_one_owner(given: dict[str, Any], found: str, context: Context) -> None:
    assert RULE.judge(waiver(**given), context).found == found


def test_is_evaluated_where_tenants_depend_on_the_region(context: Context) -> None:
    long = waiver(expires=dt.date(2029, 1, 1), severity=Severity.CRITICAL)
    levels = {
        stage: [item.level for item in Judge([RULE], replace(context, stage=stage)).violations(long)] for stage in Stage
    }
    assert levels == {
        Stage.REHEARSAL: [],
        Stage.DEVELOPMENT: [],
        Stage.STAGING: [Enforcement.ADVISORY],
        Stage.PRODUCTION: [Enforcement.ADVISORY],
    }


def test_the_report_names_both_limits_and_the_waiver(context: Context) -> None:
    long = waiver(expires=dt.date(2029, 1, 1), severity=Severity.CRITICAL)

    [violation] = Judge([RULE], replace(context, stage=Stage.PRODUCTION)).violations(long)

    assert str(violation) == (
        "unlimited-waiver: waiver of unpinned-image for acme-train/infer\n"
        "  found:   valid until 2029-01-01, 772 days, no second owner\n"
        "  allowed: at most 90 days, and a second owner for critical policies\n"
        "  why:     an accepted risk would stay without a review, or with one person's review\n"
        "  fix:     write an expiry until 2027-02-19 and second_owner in waivers.yaml, and renew the waiver after a"
        " review\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject waiver of unpinned-image for"
        " acme-train/infer"
    )


def test_check_judges_the_waivers_of_the_data(laptop: Environment, now: dt.datetime) -> None:
    entry = WaiverSpec(
        rule="unpinned-image",
        subject="acme-train/infer",
        reason="a trial",
        owner="platform@cloud.example",
        ticket="CHG-1",
        expires=LAST,
    )
    region = laptop.region.model_copy(update={"stage": Stage.STAGING})
    environment = laptop.model_copy(
        update={"region": region, "waivers": WaiversSpec(schema_version=1, waivers=(entry,))}
    )

    advised = judge(environment, now).advised

    assert [item.finding.found for item in advised if item.rule is RULE] == ["no second owner"]
