"""Violations in base and head: new, existing, fixed, waived with remaining days, or reported by the engine."""

from __future__ import annotations

import datetime as dt

import pytest

from components.specs.region.policy import Enforcement, WaiverSpec
from components.specs.struct import replace
from jacquard.cli.views.changes.change import offences as listed
from jacquard.engine import events
from jacquard.engine.urns import Urn
from jacquard.previews.preview import Offence, Preview, Standing
from jacquard.previews.violations import offences
from policies import Judgement, Violation
from policies.facts import object_fact
from policies.verdict import Rule, Severity, violation

TODAY = dt.date(2026, 11, 22)
WAIVER = WaiverSpec(
    rule="no-x", subject="c/pool", reason="for now", owner="me", ticket="T-1", expires=dt.date(2026, 12, 1)
)
RULE = Rule(name="no-x", description="", why="", severity=Severity.HIGH, kinds=frozenset(), find=lambda *_: None)  # type: ignore[arg-type,return-value]


def offence(name: str, *, waived: bool = False, found: str = "x is here") -> Violation:
    metadata = {"name": name, "namespace": "c", "labels": {"jacquard.dev/pool": "pool"}}
    return Violation(
        rule=RULE,
        fact=object_fact({"kind": "Template", "metadata": metadata}, "management"),
        finding=violation(found=found, allowed="no x", fix="take it away"),
        level=Enforcement.ADVISORY if waived else Enforcement.MANDATORY,
        environment="laptop",
        waiver=WAIVER if waived else None,
        is_waived=waived,
    )


def judged(*found: Violation) -> Judgement:
    return Judgement(
        refused=tuple(one for one in found if not one.is_waived), waived=tuple(one for one in found if one.is_waived)
    )


def compared(base: Judgement, head: Judgement, *engine: events.Violation) -> list[Offence]:
    return list(offences(base, head, engine, TODAY))


@pytest.mark.parametrize(
    ("base", "head", "standing", "refuses"),
    [
        ((), (offence("t-1"),), Standing.NEW, True),
        ((offence("t-1"),), (offence("t-1"),), Standing.EXISTING, True),
        ((offence("t-1"),), (offence("t-2"),), Standing.EXISTING, True),
        ((offence("t-1"),), (), Standing.FIXED, False),
        ((offence("t-1"),), (offence("t-1", waived=True),), Standing.WAIVED, False),
    ],
)
def test_an_offence_is_the_same_as_long_as_it_is_that_of_the_same_pool(
    base: tuple[Violation, ...], head: tuple[Violation, ...], standing: Standing, *, refuses: bool
) -> None:
    [found] = compared(judged(*base), judged(*head))

    assert (found.standing, found.refuses, found.subject, found.fix) == (standing, refuses, "c/pool", "take it away")


def test_a_waiver_that_is_not_needed_any_more_fixes_nothing() -> None:
    assert compared(judged(offence("t", waived=True)), judged()) == []


def test_a_waiver_is_shown_with_its_remaining_days() -> None:
    [found] = compared(judged(), judged(offence("t", waived=True)))

    assert found.waiver is not None
    assert (found.waiver.days_left, found.waiver.owner, found.waiver.ticket) == (9, "me", "T-1")


def test_the_same_offence_of_many_objects_is_one() -> None:
    [found] = compared(judged(), judged(offence("t-1"), offence("t-2")))

    assert found.objects == ("Template c/t-1 in cluster management", "Template c/t-2 in cluster management")


def test_violations_repeated_by_the_engine_are_shown_once_and_its_own_in_addition() -> None:
    known = offence("t-1")
    reports = [
        events.Violation(policy="no-x", mandatory=True, urn=Urn("u"), message=f"No x.\n{known}"),
        events.Violation(policy="other", mandatory=False, urn=Urn("u"), message="whatever"),
    ]
    found = compared(judged(), judged(known), *reports)

    assert [(one.rule, one.standing, one.refuses, one.found) for one in found] == [
        ("no-x", Standing.NEW, True, "x is here"),
        ("other", Standing.TOLD, False, "whatever"),
    ]


def test_blocking_violations_are_first_and_credentials_are_not_shown() -> None:
    fixed, new = offence("t", found="a"), offence("t", found="got https://me:hunter22@x.example/y")
    found = compared(judged(fixed), judged(new))

    assert [one.standing for one in found] == [Standing.NEW, Standing.FIXED]
    assert found[0].found == "got https://[secret]@x.example/y"


def test_a_violation_of_a_new_policy_is_labelled_with_its_day() -> None:
    binding = dt.date(2027, 3, 1)
    new = replace(offence("t"), level=Enforcement.ADVISORY, binding=binding)

    [found] = compared(judged(), Judgement(advised=(new,)))

    assert (found.refuses, found.binding) == (False, binding)
    preview = Preview.model_construct(offences=(found,))
    assert list(listed(preview, Standing.NEW)) == [
        "warning (an error from 2027-03-01): no-x: c/pool: x is here; take it away"
    ]
