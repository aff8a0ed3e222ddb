"""change-in-freeze."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from components.specs.environment import Environment
from components.specs.region.policy import Enforcement, PolicySpec, WaiversSpec
from components.specs.region.state import StackLayout
from components.specs.struct import replace
from policies.check import frozen
from policies.facts import Context, Fact, stack_facts
from policies.rules.deployments.change_in_freeze import RULE
from policies.verdict import Verdict

RUN = {"name": "run-7", "from": "2026-11-20T00:00:00Z", "to": "2026-12-01T00:00:00Z", "reason": "a training run"}
BEGIN, END = (dt.datetime.fromisoformat(RUN[key]) for key in ("from", "to"))


def with_freeze(environment: Environment, tenants: list[str]) -> Environment:
    policy = PolicySpec.model_validate({"schema_version": 1, "freezes": [RUN | {"tenants": tenants}]})
    region = environment.region.model_copy(update={"stacks": StackLayout.SLICED})
    return environment.model_copy(update={"policy": policy, "region": region})


@pytest.fixture
def acme(laptop: Environment) -> Environment:
    """Laptop in slices, with a freeze of acme."""
    return with_freeze(laptop, ["acme"])


def blocked(environment: Environment, now: dt.datetime, *stacks: str) -> dict[str, list[str]]:
    return {stack: [item.fact.title for item in frozen(environment, stack, now)] for stack in stacks}


STACKS = (
    "laptop",
    "laptop.foundation",
    "laptop.inventory-a",
    "laptop.tenant-acme",
    "laptop.tenant-globex",
    "laptop.cluster-acme-train",
    "laptop.cluster-globex-lab",
    "laptop.bootstrap",
)


def test_a_freeze_of_one_tenant_blocks_the_stacks_with_its_slices(acme: Environment, now: dt.datetime) -> None:
    assert blocked(acme, now, *STACKS) == {stack: [] for stack in STACKS} | {
        "laptop": ["tenant acme in stack laptop"],
        "laptop.tenant-acme": ["tenant acme in stack laptop.tenant-acme"],
        "laptop.cluster-acme-train": ["tenant acme in stack laptop.cluster-acme-train"],
    }


def test_a_freeze_of_all_tenants_also_blocks_shared_objects(laptop: Environment, now: dt.datetime) -> None:
    found = blocked(with_freeze(laptop, []), now, *STACKS)

    assert {stack for stack, titles in found.items() if not titles} == {"laptop.bootstrap"}
    assert found["laptop"] == [
        "resources shared by tenants in stack laptop",
        "tenant acme in stack laptop",
        "tenant globex in stack laptop",
    ]


@pytest.mark.parametrize(
    ("now", "holds"),
    [(BEGIN, True), (BEGIN - dt.timedelta(seconds=1), False), (END - dt.timedelta(seconds=1), True), (END, False)],
)
def test_a_freeze_applies_from_its_start_to_its_end(now: dt.datetime, holds: bool, acme: Environment) -> None:  # noqa: FBT001 - a column of the table
    assert bool(frozen(acme, "laptop.tenant-acme", now)) is holds


def test_the_rejection_states_end_and_reason(acme: Environment, now: dt.datetime, text: Callable[..., str]) -> None:
    context = Context.of(acme, now, "laptop.tenant-acme")
    [fact] = stack_facts(context)

    assert text(RULE, fact, context) == (
        "change-in-freeze: tenant acme in stack laptop.tenant-acme\n"
        "  found:   freeze run-7 until 2026-12-01T00:00:00+00:00: a training run\n"
        "  allowed: previews; jacquard up if nothing in the stack changes\n"
        "  why:     a freeze guarantees to the tenant that its nodes do not change\n"
        "  fix:     apply after 2026-12-01T00:00:00+00:00, or edit the freeze in environments/laptop/policy.yaml\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject acme"
    )


def test_a_freeze_only_warns_in_a_preview(acme: Environment, now: dt.datetime) -> None:
    context = Context.of(acme, now, "laptop.tenant-acme", dry_run=True)
    [fact] = stack_facts(context)

    assert RULE.judge(fact, context).level is Enforcement.ADVISORY


def test_a_waiver_of_the_tenant_lifts_the_freeze_for_it(laptop: Environment, now: dt.datetime) -> None:
    entry: dict[str, Any] = {"rule": "change-in-freeze", "subject": "acme", "reason": "a CVE", "owner": "ops"}
    entry |= {"ticket": "OPS-8", "expires": dt.date(2026, 11, 23)}
    waivers = WaiversSpec.model_validate({"schema_version": 1, "waivers": [entry]})
    environment = with_freeze(laptop, []).model_copy(update={"waivers": waivers})

    assert frozen(environment, "laptop.tenant-acme", now) == []
    assert len(frozen(environment, "laptop.tenant-globex", now)) == 1


def test_freezes_that_cannot_be_read_hold_everything(context: Context) -> None:
    unreadable = Context(stack="nowhere", now=context.now, dry_run=True)
    [fact] = stack_facts(unreadable)

    finding = RULE.judge(fact, unreadable)

    assert (finding.verdict, finding.level) == (Verdict.UNDECIDED, Enforcement.MANDATORY)
    assert finding.found == "stack nowhere belongs to no readable environment, so its freezes are unknown"


def test_is_not_applicable_to_objects(rendered: Callable[[str], list[Fact]], context: Context) -> None:
    facts = rendered("Cluster")

    assert facts
    assert {RULE.judge(fact, replace(context, freezes=None)).verdict for fact in facts} == {Verdict.NOT_APPLICABLE}
