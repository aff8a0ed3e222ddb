"""Changed node checks: the number of affected nodes now, and in the history of facts."""

from __future__ import annotations

import datetime as dt
from functools import cache
from typing import Any

import pytest

from components.specs.environment import Environment
from components.specs.health.node_checks import HealthAction, HealthCatalog, HealthOverride
from jacquard.cli.views.changes.impact_checks import details, sentences
from jacquard.observe.facts import Coverage, Facts, FaultHistory, PastFault, assemble
from jacquard.observe.observation import Observation
from jacquard.previews.impacts.changed_checks import with_changed_checks
from jacquard.previews.impacts.impact import Impact
from jacquard.previews.impacts.occupancy import CollectedFacts
from tests.support.data.environment_data import reference
from tests.support.objects.working_nodes import MOMENT, working

CLUSTERS = ("acme-train", "globex-lab")
NO_IMPACT: dict[str, Any] = {"environment": "laptop", "base": "a", "head": "b", "effect": "in place"}


@cache
def laptop() -> Environment:
    return reference("laptop")


def with_overrides(*overrides: HealthOverride) -> Environment:
    every = (*laptop().health.health_overrides, *overrides)
    return laptop().model_copy(update={"health": HealthCatalog(schema_version=1, health_overrides=every)})


def override(check: str, *kinds: str, **changes: Any) -> HealthOverride:
    return HealthOverride(check=check, instance_types=kinds, reason="trial", **changes)


def seen(minutes: dict[str, int], condition: str = "GpuLost") -> Observation:
    """Return the busy nodes, some of which have had a fault for some minutes."""
    observed = working()
    for body in observed.of("Node", "acme-train"):
        if (name := body["metadata"]["name"]) in minutes:
            since = MOMENT - dt.timedelta(minutes=minutes[name])
            body["status"] = {
                "conditions": [{"type": condition, "status": "True", "lastTransitionTime": since.isoformat()}]
            }
    return observed


def history(*faults: tuple[str, str, str, int], hours: int = 168) -> FaultHistory:
    return FaultHistory(
        coverage=tuple(Coverage(cluster=name, condition="GpuLost", hours=hours) for name in CLUSTERS),
        faults=tuple(
            PastFault(cluster=cluster, node=node, condition=condition, longest_seconds=seconds)
            for cluster, node, condition, seconds in faults
        ),
    )


def facts(minutes: dict[str, int] | None = None, past: FaultHistory | None = None, **changes: Any) -> Facts:
    found = assemble(laptop(), seen(minutes or {}))
    return found.model_copy(update={"history": past, **changes})


def changed(
    head: Environment, given: Facts | None, base: Environment | None = None, unfit: str | None = None
) -> Impact:
    impact = Impact.model_validate(
        {**NO_IMPACT, "edits": 1, "code": False, "rows": (), "lost": (), "behind": (), "tenants": ()}
    )
    collected = CollectedFacts(facts=given, unfit=unfit) if given else None
    return with_changed_checks(impact, base or laptop(), head, collected)


SHORTER = override("gpu-lost", hold_seconds=120)
PAST = history(
    ("acme-train", "x1", "GpuLost", 480),
    ("acme-train", "x2", "GpuLost", 240),
    ("acme-train", "x3", "GpuLost", 60),
    ("acme-train", "x3", "NicFailed", 6000),
    ("acme-train", "x9", "GpuLost", 300),
    ("globex-lab", "y1", "GpuLost", 180),
)


def numbers(faulty: int, due: int) -> str:
    return f"now {faulty} node{'' if faulty == 1 else 's'} with the fault, {due} due"


def acted(past: int, before: int) -> str:
    return f"in the 7 days until 2026-11-22 16:00 UTC {acted_by_pool(past, before)}"


def acted_by_pool(past: int, before: int) -> str:
    return f"it would have acted on {past} node{'' if past == 1 else 's'} instead of {before}"


def test_a_shorter_hold_time_acts_on_more_nodes_now_and_in_the_history() -> None:
    impact = changed(with_overrides(SHORTER), facts({"x1": 60, "x2": 3, "x3": 1}, PAST))

    assert list(sentences(impact)) == [
        f"check gpu-lost of h100-ib-8: repair after 5 min -> repair after 2 min; {numbers(3, 2)}; {acted(4, 2)}"
    ]
    assert list(details(impact)) == [
        f"gpu-lost: acme-train/train (acme, h100-ib-8): {numbers(3, 2)}; {acted_by_pool(2, 1)}",
        f"gpu-lost: globex-lab/lab (globex, h100-ib-8): {numbers(0, 0)}; {acted_by_pool(1, 0)}",
        f"gpu-lost: acme-train (acme, nodes without a known pool): {acted_by_pool(1, 1)}",
        "gpu-lost: 1 other pool: none",
    ]


def sentence(head: Environment, given: Facts | None, **others: Any) -> str:
    """Return the only sentence about the changed check."""
    [found] = [text for text in sentences(changed(head, given, **others)) if text.startswith("check ")]
    return found.partition(": ")[2]


QUARANTINE = override("gpu-lost", action=HealthAction.QUARANTINE)
NOTIFY = override("gpu-lost", action=HealthAction.NOTIFY)


@pytest.mark.parametrize(
    ("base", "head", "text"),
    [
        ((), override("gpu-lost", hold_seconds=90), f"repair after 90 s; {numbers(3, 2)}; {acted(4, 2)}"),
        ((), override("gpu-lost", hold_seconds=86_400), f"repair after 1 d 0 h; {numbers(3, 0)}; {acted(0, 2)}"),
        # Cluster globex-lab has no add-on that taints nodes, so its node is not quarantined.
        ((), QUARANTINE, f"quarantine; {numbers(3, 3)}; {acted(4, 2)}"),
        ((), NOTIFY, f"notify; {numbers(3, 0)}; {acted(0, 2)}"),
        ((NOTIFY,), QUARANTINE, f"quarantine; {numbers(3, 3)}; {acted(4, 0)}"),
    ],
)
def test_each_action_counts_the_faults_on_which_it_acts(
    base: tuple[HealthOverride, ...], head: HealthOverride, text: str
) -> None:
    before = "notify" if base else "repair after 5 min"
    found = sentence(with_overrides(head), facts({"x1": 60, "x2": 3, "x3": 1}, PAST), base=with_overrides(*base))

    assert found == f"{before} -> {text}"


def test_a_check_that_only_exists_after_the_change_has_no_action_before() -> None:
    nodes = laptop().region.nodes
    assert nodes.tests is not None
    untested = laptop().region.model_copy(update={"nodes": nodes.model_copy(update={"tests": None})})
    base = laptop().model_copy(update={"region": untested})

    checks = {check.check: check for check in changed(laptop(), facts(), base).checks}

    assert checks["node-test-failed"].before is None
    assert checks["node-test-failed"].after is not None
    assert "check node-test-failed of h100-ib-8: none -> quarantine; " in " ".join(
        sentences(changed(laptop(), facts(), base))
    )


@pytest.mark.parametrize(
    "same",
    [override("nic-failed", hold_seconds=120), override("link-flaps", hold_seconds=120)],
)
def test_a_hold_time_without_a_repair_changes_no_node(same: HealthOverride) -> None:
    assert changed(with_overrides(same), facts(past=PAST)).checks == ()


def test_a_quarantine_needs_an_add_on_that_taints_nodes() -> None:
    tenants = tuple(
        tenant.model_copy(
            update={"clusters": tuple(cluster.model_copy(update={"add_ons": ()}) for cluster in tenant.clusters)}
        )
        for tenant in laptop().tenants
    )
    head = with_overrides(QUARANTINE).model_copy(update={"tenants": tenants})

    assert (
        sentence(head, facts({"x1": 60}, PAST)) == f"repair after 5 min -> quarantine; {numbers(1, 0)}; {acted(0, 2)}"
    )


def missing(head: Environment, given: Facts | None, **others: Any) -> str:
    """Return the sentence about missing numbers."""
    texts = list(sentences(changed(head, given, **others)))
    start = "nodes of changed checks: not all are known; "
    assert texts[-1].startswith(start)
    return texts[-1].removeprefix(start)


def test_missing_facts_and_history_are_reported_with_the_command() -> None:
    head = with_overrides(SHORTER)

    assert missing(head, None) == (
        "no facts; collect them with 'jacquard facts laptop --out FILE' and pass --facts FILE"
    )
    assert sentence(head, None) == "repair after 5 min -> repair after 2 min"
    assert missing(head, facts({"x1": 60})) == "no history; collect facts with 'jacquard facts laptop --metrics URL'"
    assert sentence(head, facts({"x1": 60})) == f"repair after 5 min -> repair after 2 min; {numbers(1, 1)}"
    assert missing(head, facts(past=PAST, faults=None)) == (
        "facts of an earlier version of Jacquard contain no faults; collect new ones"
    )


def test_old_facts_have_a_history_with_its_date_and_no_faults_of_now() -> None:
    head, given = with_overrides(SHORTER), facts({"x1": 60}, PAST)

    assert missing(head, given, unfit="facts are too old") == "facts are too old"
    assert sentence(head, given, unfit="facts are too old") == (
        f"repair after 5 min -> repair after 2 min; {acted(4, 2)}"
    )


def test_a_history_that_is_too_short_or_empty_is_reported_by_cluster() -> None:
    head = with_overrides(SHORTER)
    short = history(("acme-train", "x1", "GpuLost", 480), hours=49)
    one = short.model_copy(update={"coverage": short.coverage[:1]})

    assert missing(head, facts(past=short)) == (
        "the metrics store does not have all 168 hours of acme-train (49), globex-lab (49)"
    )
    assert missing(head, facts(past=one)) == (
        "the metrics store has no samples of GpuLost of globex-lab; the metrics store does not have all 168 hours of "
        "acme-train (49)"
    )
    assert missing(head, facts(past=one.model_copy(update={"coverage": ()}))) == (
        "the metrics store has no samples of GpuLost of acme-train, globex-lab"
    )


def test_devices_have_numbers_of_now_only() -> None:
    head = with_overrides(override("devices-missing", action=HealthAction.NOTIFY))

    assert missing(head, facts(past=PAST)) == "the metrics store has no history of the devices of nodes"
    assert sentence(head, facts(past=PAST)) == f"quarantine -> notify; {numbers(0, 0)}"


def test_an_unread_cluster_has_numbers_of_the_history_without_pools() -> None:
    unread = assemble(laptop(), working(unreachable={"acme-train": "no \x1b[31m route"}))
    given = unread.model_copy(update={"history": PAST})

    head = with_overrides(SHORTER)
    assert missing(head, given) == "cluster acme-train could not be read: no \\x1b[31m route"
    assert sentence(head, given) == f"repair after 5 min -> repair after 2 min; {numbers(0, 0)}; {acted(4, 2)}"
