"""Advisory periods of new rules: permitted rules, maximum duration, and their list on the page."""

from __future__ import annotations

import datetime as dt
import re
import subprocess
from collections.abc import Iterator

import pytest

from components.lookups.admission import admission_rules
from components.rules import checks
from components.rules.consequences import without_consequences
from components.rules.pools.reserved_keys import kubernetes
from components.rules.region import locks
from components.rules.rule import AdvisoryPeriod, advisory, advisory_period, rule_name
from components.rules.tables import ALL, CHANGES
from components.specs.reading.loader import ALLOCATIONS
from components.specs.reading.problems import Problem
from components.specs.region.policy import Enforcement
from jacquard.machine import paths
from policies.rules import RULES
from policies.verdict import Severity

LONGEST = dt.timedelta(days=180)
"""Maximum time from a commit to the end of a period, in which one release is made."""
KEPT = dt.timedelta(days=30)
"""Maximum time that a declaration may stay after the end of its period."""
PERIOD = AdvisoryPeriod(since="0.2.0", binding=dt.date(2027, 3, 1))
LAST_WARNING, FIRST_ERROR = dt.date(2027, 2, 28), dt.date(2027, 3, 1)


def declared() -> dict[str, AdvisoryPeriod]:
    of_policies = {str(rule.name): rule.advisory_period for rule in RULES if rule.advisory_period}
    return checks.advisory_periods() | of_policies


def faults(period: AdvisoryPeriod, today: dt.date, releases: list[str]) -> Iterator[str]:
    """Yield the errors of a declaration on ``today``, with ``releases`` from the newest to the oldest."""
    if today > period.binding + KEPT:
        yield f"its period ended on {period.binding}; remove the declaration"
    if period.binding > today + LONGEST:
        yield f"its period ends on {period.binding}, more than {LONGEST.days} days from now"
    if _numbers(period.since) <= _numbers(releases[0]) and period.since not in releases:
        yield f"its release {period.since} is none of {', '.join(releases)}"
    if period.since in releases[1:]:
        yield f"its rule was advisory for a whole release after {period.since}; remove the declaration"


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


@pytest.mark.parametrize(
    ("today", "releases", "fault"),
    [
        (dt.date(2027, 3, 31), ["0.1.0"], None),
        (dt.date(2027, 4, 1), ["0.1.0"], "its period ended on 2027-03-01; remove the declaration"),
        (dt.date(2026, 9, 2), ["0.1.0"], None),
        (dt.date(2026, 9, 1), ["0.1.0"], "its period ends on 2027-03-01, more than 180 days from now"),
        (dt.date(2027, 1, 1), ["0.2.0", "0.1.0"], None),
        (dt.date(2027, 1, 1), ["0.3.0", "0.1.0"], "its release 0.2.0 is none of 0.3.0, 0.1.0"),
        (
            dt.date(2027, 1, 1),
            ["0.3.0", "0.2.0"],
            "its rule was advisory for a whole release after 0.2.0; remove the declaration",
        ),
    ],
)
def test_a_declaration_is_refused_when_it_is_overdue_or_too_long(
    today: dt.date, releases: list[str], fault: str | None
) -> None:
    assert list(faults(PERIOD, today, releases)) == ([fault] if fault else [])


def test_each_declared_period_is_valid_at_this_commit() -> None:
    command = ["git", "-C", str(paths.ROOT), "log", "-1", "--format=%cs"]
    today = dt.date.fromisoformat(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())
    changelog = (paths.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## \[([0-9.]+)\]", changelog, re.MULTILINE)

    assert {name: found for name, one in declared().items() if (found := list(faults(one, today, releases)))} == {}


def test_the_page_lists_each_period() -> None:
    page = (paths.ROOT / "docs/reference/rules.md").read_text(encoding="utf-8")

    listed = re.findall(r"^- \[?`([a-z.-]+)`.*: new in ([0-9.]+), errors from ([0-9-]+)", page, re.MULTILINE)

    assert {name: (since, day) for name, since, day in listed} == {
        name: (one.since, str(one.binding)) for name, one in declared().items()
    }


def test_only_rules_on_which_no_other_code_relies_have_a_period() -> None:
    allowed = {*ALL.data, *ALL.locks, *CHANGES} - {*ALL.references, *ALL.blocking, *ALL.promoted}

    assert checks.advisory_periods().keys() <= set(map(rule_name, allowed))


def test_no_policy_that_guards_safety_and_none_that_api_servers_enforce_has_a_period() -> None:
    new = [rule for rule in RULES if rule.advisory_period]

    assert [rule.name for rule in new if rule.severity is Severity.CRITICAL] == []
    assert {str(rule.name) for rule in new} & {rule.policy for rule in admission_rules()} == set()
    assert [rule.name for rule in new if Enforcement.MANDATORY not in rule.levels.values()] == []


def test_a_declaration_keeps_the_rule() -> None:
    def rule() -> str:
        """Report nothing."""
        return "called"

    assert advisory_period(rule) is None
    same = advisory(PERIOD)(rule)

    assert (same(), same is rule, advisory_period(rule)) == ("called", True, PERIOD)


def test_problems_of_a_new_rule_are_errors_from_the_declared_day() -> None:
    new = Problem("tenants/a.yaml", 1, "x", "is new", rule=rule_name(kubernetes))
    old = Problem("tenants/a.yaml", 2, "y", "is old", rule="names.region-name")

    assert (checks.errors([new, old], LAST_WARNING), checks.warnings([new, old], LAST_WARNING)) == ([old], [new])
    assert (checks.errors([new, old], FIRST_ERROR), checks.warnings([new, old], FIRST_ERROR)) == ([new, old], [])
    assert checks.warning_lines([new, old], LAST_WARNING) == (
        "tenants/a.yaml:1 x: is new (reserved-keys.kubernetes, an error from 2027-03-01)",
    )


def test_a_warning_hides_no_error() -> None:
    warned = Problem("tenants/a.yaml", 1, "x", "is reserved")
    outdated = Problem(ALLOCATIONS, 1, "", "is out of date")

    assert without_consequences({kubernetes: [warned], locks.allocations: [outdated]}) == [warned, outdated]
