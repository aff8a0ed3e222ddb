"""Complete texts of advice about the life cycle of hosts in a change."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.rules.checks import check_change, errors, warnings
from components.rules.hosts.host_states import PERIOD
from components.specs.environment import Environment
from components.specs.hosts.host_tests import HostTestSpec
from components.specs.hosts.out_of_service import HostState, OutOfServiceSpec
from components.specs.region.policy import PolicySpec
from tests.support.checks.waived import waived
from tests.support.data.small_region import changed, small_region

HOST, OTHER = "a1-u1", "a1-u2"
COMMAND = "jacquard host laptop HOST --to production --evidence FILE"
SERIAL = "R4321"
BEFORE = PERIOD.binding - dt.timedelta(days=1)


def side(*, state: str | None = None, tested: int | None = None, without: bool = False, **row: Any) -> Environment:
    """Return the region with ``HOST`` in ``state`` since 10 January, its test of that month, and its row."""
    region = small_region()
    hosts = [changed(host, **row) if host.host == HOST else host for host in region.hosts]
    entry = state and OutOfServiceSpec(state=HostState(state), since=dt.date(2026, 1, 10), reason="fan")
    passed = tested and dt.datetime(2026, 1, tested, 12, tzinfo=dt.UTC)
    test = passed and HostTestSpec(passed=passed, digest=f"sha256:{tested:064}")
    return changed(
        region,
        hosts=tuple(host for host in hosts if not without or host.host != HOST),
        out_of_service={HOST: entry} if entry else {},
        host_tests={HOST: test} if test else {},
    )


RETURNS = (
    f"host: {HOST} returns from test to production without a passed test since 2026-01-10; record its test: {COMMAND}"
)
NEW = (
    f"{HOST} would enter production without a test; list new hosts in out_of_service.yaml with state onboard, or record"
    f" their tests: {COMMAND}"
)
CASES: dict[str, tuple[Environment, Environment, list[str]]] = {
    "nothing changes": (side(state="test"), side(state="test"), []),
    "the next state": (side(state="zap"), side(state="test"), []),
    "a fault": (side(), side(state="triage"), []),
    "a step that is left out": (
        side(),
        side(state="rma"),
        [
            (
                f"hosts.transition hosts.{HOST}.state: rma does not follow production: triage or debug first finds the"
                " component to return; write triage, zap, test, reserved or onboard, with a separate change for each"
                " step"
            )
        ],
    ),
    "back from repair without a test": (
        side(state="rma"),
        side(),
        [
            (
                "hosts.transition host: production does not follow rma: only burn-in and the end of a reservation lead"
                " to it; write onboard or triage, with a separate change for each step"
            )
        ],
    ),
    "back without a test": (side(state="test"), side(), [f"hosts.tested {RETURNS}"]),
    "back with a test of before": (side(state="test", tested=9), side(tested=9), [f"hosts.tested {RETURNS}"]),
    "back with a test": (side(state="test"), side(tested=11), []),
    "a new host": (side(without=True), side(), [f"hosts.tested host: {NEW}"]),
    "a new host with a state": (side(without=True), side(state="onboard"), []),
    "a new host with a test": (side(without=True), side(tested=11), []),
    "another machine with an old test": (
        side(tested=9),
        side(tested=9, serial=SERIAL),
        [f"hosts.tested host: {NEW}"],
    ),
    "another machine with its test": (side(tested=9), side(tested=11, serial=SERIAL), []),
    "a removed host": (side(state="rma"), side(without=True), []),
}


@pytest.mark.parametrize("case", CASES)
def test_a_change_gets_this_advice(case: str) -> None:
    base, head, texts = CASES[case]

    found = warnings(check_change(base, head, BEFORE), BEFORE)

    assert [f"{problem.rule} {problem.path}: {problem.text}" for problem in found] == texts


def test_new_hosts_of_a_hall_share_a_line() -> None:
    base = changed(small_region(), hosts=small_region().hosts[:2])

    found = warnings(check_change(base, small_region(), BEFORE), BEFORE)

    assert [(problem.file, problem.path, problem.text.partition(" would")[0]) for problem in found] == [
        ("inventory/hall-a.csv", "host", "a1-u3, a1-u4, a2-u1 and 19 more"),
        ("inventory/hall-b.csv", "host", "b1-u1, b1-u2, b1-u3 and 1 more"),
    ]


LIMITED = PolicySpec.model_validate(
    {"schema_version": 1, "host_movers": {"rma": ["site-ewr2"], "production": ["burn-in"]}}
)
ONE_OF_THEM = "one of them moves it: jacquard host laptop a1-u1 --to {} --by NAME; if the change is right, add a waiver"


@pytest.mark.parametrize(
    ("old", "new", "by", "expected"),
    [
        ("triage", "rma", "site-ewr2", None),
        ("triage", "rma", "ann", "only site-ewr2 may move hosts to rma (host_movers), not ann"),
        ("triage", "rma", None, "only site-ewr2 may move hosts to rma (host_movers), and no mover is given"),
        ("rma", "rma", "ann", None),
        ("triage", "debug", None, None),
        ("test", None, "burn-in", None),
        ("test", None, "ann", "only burn-in may move hosts to production (host_movers), not ann"),
    ],
)
def test_only_those_that_the_base_lists_move_hosts_to_a_limited_state(
    old: str, new: str | None, by: str | None, expected: str | None
) -> None:
    base, head = changed(side(state=old), policy=LIMITED), side(state=new, tested=11)
    away = {name: changed(entry, by=by) for name, entry in head.out_of_service.items()}
    tests = {name: changed(test, by=by) for name, test in head.host_tests.items()}

    moved = changed(head, out_of_service=away, host_tests=tests)
    found = check_change(base, moved, dt.date(2026, 1, 20))

    permitted = waived(moved, "hosts.movers", HOST, dt.date(2026, 2, 1))
    assert check_change(base, permitted, dt.date(2026, 1, 20)) == []
    rest = f"{ONE_OF_THEM.format(new or 'production')} of hosts.movers for a1-u1"
    assert [item.text for item in found] == ([f"{expected}; {rest}"] if expected else [])


def test_the_rules_are_errors_after_their_advisory_period() -> None:
    base, head, [text] = CASES["a step that is left out"]

    before, after = (check_change(base, head, day) for day in (BEFORE, PERIOD.binding))
    assert (errors(before, BEFORE), warnings(after, PERIOD.binding)) == ([], [])
    [problem] = errors(after, PERIOD.binding)
    waiver = f"; if the change is right, add a waiver of hosts.transition for {HOST}"
    assert f"{problem.rule} {problem.path}: {problem.text}" == f"{text}{waiver}"


@pytest.mark.parametrize(
    ("case", "rule", "subject"),
    [
        ("a step that is left out", "hosts.transition", HOST),
        ("back without a test", "hosts.tested", HOST),
    ],
)
def test_a_waiver_covers_warnings_and_errors(case: str, rule: str, subject: str) -> None:
    base, head, texts = CASES[case]
    permitted = waived(head, rule, subject)
    others = [text for text in texts if not text.startswith(rule)]

    for day in (BEFORE, PERIOD.binding):
        found = check_change(base, permitted, day)
        assert len(found) == len(others)
        assert rule not in {problem.rule for problem in found}
