"""Division of a rollout into waves, the conditions for the next wave, and the end of a rollout."""

from __future__ import annotations

from typing import Any

import pytest

from components.intents.pins import knowing
from components.rollout.promotion import Promotion
from components.rollout.waves import carried
from components.rules.pools.rollouts import in_motion_together, mixed
from components.specs.environment import Environment
from components.specs.locks import ImagesLock, OpenRollout, Wave
from components.specs.reading.problems import SpecError
from components.specs.region.evidence import Evidence, EvidenceError, read_evidence
from tests.support.changes.rollouts import NEW, OLD, evidence, pin, rollable, with_intent, with_pins
from tests.support.data.small_region import changed

ONE, TWO = "one-one/rack", "two-one/rack"
HEAD = "environments/laptop: 1 problem\n  images.lock.yaml  "
GO_ON = (
    f"continue with: jacquard status laptop --format json > evidence.json, then jacquard promote laptop {ONE} --to"
    f" {NEW} --wave 2 --evidence evidence.json"
)


def images(lock: ImagesLock, pool: str = ONE) -> dict[str, str]:
    """Return the image of each rollout group, by failure domain."""
    return {key.rpartition("/")[2]: lock.node(key).image for key in lock.groups if key.startswith(f"{pool}/")}


def wave(environment: Environment, number: int, proof: Evidence | None = None, version: str | None = NEW) -> ImagesLock:
    return Promotion(environment, ONE, version).next_wave(number, proof)


def begun(environment: Environment) -> Environment:
    return with_pins(environment, wave(environment, 1))


@pytest.mark.parametrize(
    ("rollout", "limits", "expected"),
    [
        ({}, {}, [["n1"], ["n2", "n3"]]),
        ({"canary": 5}, {}, [["n1", "n2"], ["n3"]]),
        ({}, {"max_rolling_nvlink_domains": 1}, [["n1"], ["n2"], ["n3"]]),
        ({"max_unavailable": 2}, {"max_unavailable_per_pool": 4}, [["n1"], ["n2", "n3"]]),
        ({"max_unavailable": 2}, {"max_unavailable_per_pool": 3}, [["n1"], ["n2"], ["n3"]]),
        ({"max_unavailable": 2}, {"max_unavailable_per_fabric": "25%"}, [["n1"], ["n2"], ["n3"]]),
        ({"canary": 5}, {"max_rolling_nvlink_domains": 1}, [["n1"], ["n2"], ["n3"]]),
    ],
)
def test_waves_are_the_canary_and_then_limited_groups(
    rollout: dict[str, Any], limits: dict[str, Any], expected: list[list[str]]
) -> None:
    plan = Promotion(rollable({"one": 3}, rollout, limits), ONE, NEW).plan()

    assert [wave.number for wave in plan] == list(range(1, len(expected) + 1))
    assert [[group.key for group in wave.groups] for wave in plan] == [
        [f"{ONE}/{domain}" for domain in wave] for wave in expected
    ]


def test_the_smallest_group_that_contains_the_canary_is_first() -> None:
    region = rollable({"one": 3}, {"canary": 2})
    sizes = dict(region.allocations.groups)
    sizes[f"{ONE}/n1"], sizes[f"{ONE}/n3"] = (changed(sizes[f"{ONE}/n1"], nodes=count) for count in (1, 3))
    uneven = changed(region, allocations=changed(region.allocations, groups=sizes))

    first, rest = Promotion(uneven, ONE, NEW).plan()

    assert [(group.key, group.nodes) for group in first.groups] == [(f"{ONE}/n3", 3)]
    assert [(group.key, group.nodes) for group in rest.groups] == [(f"{ONE}/n1", 1), (f"{ONE}/n2", 4)]


def test_a_rollout_opens_continues_with_evidence_and_ends_with_its_last_wave() -> None:
    region = rollable({"one": 3}, {"soak_minutes": 30}, {"max_rolling_nvlink_domains": 1})
    proofs = [evidence(region, ONE, [domain], minutes=minutes) for domain, minutes in (("n1", 30), ("n2", 31))]
    opened = OpenRollout(to=pin(region, NEW).name, before=pin(region, OLD).name)

    first = wave(region, 1)
    second = wave(with_pins(region, first), 2, proofs[0])
    third = wave(with_pins(region, second), 3, proofs[1])

    assert images(first) == {"n1": NEW, "n2": OLD, "n3": OLD}
    assert (first.rollouts, first.waves) == ({ONE: opened}, {f"{ONE}/1": Wave(groups=("n1",))})
    assert second.waves == {
        f"{ONE}/1": Wave(groups=("n1",), evidence=proofs[0].digest),
        f"{ONE}/2": Wave(groups=("n2",)),
    }
    assert images(third) == dict.fromkeys(("n1", "n2", "n3"), NEW)
    assert (third.rollouts, third.waves, third.previous) == ({}, {}, {ONE: pin(region, OLD).name})


def test_the_same_wave_again_changes_nothing() -> None:
    region = begun(rollable({"one": 3}))

    assert wave(region, 1) == region.image_pins


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (
            2,
            f"{HEAD}rollouts.{ONE}: there is no evidence that wave 1 is settled; {GO_ON}",
        ),
        (
            3,
            f"--wave 3: the next wave is 2; {GO_ON}",
        ),
    ],
)
def test_a_wave_out_of_turn_is_refused(number: int, text: str) -> None:
    with pytest.raises(SpecError) as caught:
        wave(begun(rollable({"one": 3})), number)
    assert str(caught.value) == text


@pytest.mark.parametrize(("groups", "waves"), [(1, "1 wave"), (3, "2 waves")])
def test_the_first_wave_is_promoted_first(groups: int, waves: str) -> None:
    with pytest.raises(SpecError) as caught:
        wave(rollable({"one": groups}), 2)
    assert str(caught.value) == (
        f"--wave 2: the next wave is 1; promote it in {waves} (--plan lists them):"
        f" jacquard promote laptop {ONE} --to {NEW} --wave 1"
    )


LACKING = {
    "another environment": ({}, ["n1"], "is from environment lab, not from laptop"),
    "another group": ({}, ["n2"], f"has no entry for {ONE}/n1"),
    "the old image": ({"images": {OLD: 1, NEW: 3}}, ["n1"], f"{ONE}/n1 runs {OLD} (1), not only {NEW}"),
    "not settled": (
        {"settled": False, "settled_since": None, "why": ["3 of 4 nodes ready"]},
        ["n1"],
        f"{ONE}/n1 is not settled: 3 of 4 nodes ready",
    ),
    "not settled, nobody knows why": ({"settled": False}, ["n1"], f"{ONE}/n1 is not settled"),
    "too few nodes": ({"images": {NEW: 3}}, ["n1"], f"{ONE}/n1 has 3 of 4 nodes on {NEW}"),
    "no moment": ({"settled_since": None}, ["n1"], f"{ONE}/n1 has no settled_since time"),
    "too short": (
        {"minutes": 20},
        ["n1"],
        f"{ONE}/n1 was settled for 20 of 30 minutes; check again at 2026-11-21T09:10:00+00:00 or later",
    ),
}


@pytest.mark.parametrize(("changes", "domains", "text"), LACKING.values(), ids=LACKING)
def test_evidence_that_shows_too_little_is_refused(changes: dict[str, Any], domains: list[str], text: str) -> None:
    region = begun(rollable({"one": 3}, {"soak_minutes": 30}))
    about = changed(region, name="lab") if "lab" in text else region

    with pytest.raises(SpecError) as caught:
        wave(region, 2, evidence(about, ONE, domains, **changes))

    assert str(caught.value) == f"environments/laptop: 1 problem\n  evidence.json  {text}"


def test_a_file_that_is_no_status_is_no_evidence() -> None:
    with pytest.raises(EvidenceError) as caught:
        read_evidence("x.json", b'{"environment": "laptop", "observed_at": "yesterday", "pools": []}')
    assert str(caught.value).startswith(
        "x.json is not an output of 'jacquard status ENV --format json' at observed_at: input should be a valid"
        " datetime"
    )


@pytest.mark.parametrize(
    ("rollout", "limits", "why"),
    [
        ({"canary": 3}, {}, "rollout.canary of the pool requires a first wave of 3 nodes; promote it in 2 waves"),
        ({"canary": 1}, {}, "rollout.canary of the pool requires a first wave of 1 node; promote it in 2 waves"),
        (
            {},
            {"max_rolling_nvlink_domains": 2},
            (
                f"3 NVLink domains would roll simultaneously in {ONE}, max_rolling_nvlink_domains allows 2;"
                " promote it in 2 waves"
            ),
        ),
    ],
)
def test_a_promotion_without_waves_is_rejected_if_waves_are_required(
    rollout: dict[str, Any], limits: dict[str, Any], why: str
) -> None:
    with pytest.raises(SpecError) as caught:
        Promotion(rollable({"one": 3}, rollout, limits), ONE, NEW).all_at_once()
    assert str(caught.value) == (
        f"{HEAD}groups.{ONE}/n1: {why} (--plan lists them): jacquard promote laptop {ONE} --to {NEW} --wave 1"
    )


def test_an_open_rollout_only_continues_by_waves_to_the_same_target() -> None:
    region = begun(rollable({"one": 3}))
    other = changed(region.region, image_channel="candidate")
    with pytest.raises(SpecError) as again:
        Promotion(region, ONE, NEW).all_at_once()
    with pytest.raises(SpecError) as elsewhere:
        Promotion(changed(region, region=other), ONE, "gpu-2026.12.0").next_wave(1)

    assert str(again.value) == (f"{HEAD}rollouts.{ONE}: a rollout to {NEW} is open at wave 1; {GO_ON}")
    assert str(elsewhere.value) == (
        f"{HEAD}rollouts.{ONE}: a rollout to {NEW} is open; finish it, or roll back with: jacquard promote laptop {ONE}"
        " --rollback"
    )


def test_open_rollouts_of_other_pools_count() -> None:
    limits = {"max_unavailable_per_fabric": 1}
    region = begun(rollable({"one": 2, "two": 1}, {}, limits))
    with pytest.raises(SpecError) as caught:
        Promotion(region, TWO, NEW).all_at_once()
    assert str(caught.value) == (
        f"{HEAD}groups.{TWO}/n3: 2 nodes would be unavailable simultaneously in fabric ib, max_unavailable_per_fabric"
        f" allows 1; wait until the last waves of {ONE} are settled"
    )
    proven = wave(region, 2, evidence(region, ONE, ["n1"]))
    assert images(Promotion(with_pins(region, proven), TWO, NEW).all_at_once(), TWO) == {"n3": NEW}


def test_waves_that_were_merged_side_by_side_are_reported_when_they_break_a_limit_together() -> None:
    region = rollable({"one": 2, "two": 1}, {}, {"max_unavailable_per_fabric": 1})
    one = wave(region, 1)
    entry = {f"{TWO}/1": Wave(groups=("n3",))}
    both = with_pins(region, changed(one, waves=one.waves | entry))

    [problem] = in_motion_together(both)
    assert problem.text == (
        "2 nodes would be unavailable simultaneously in fabric ib, max_unavailable_per_fabric allows 1 (region.yaml);"
        " revert the latest wave with git revert, or raise the limit"
    )


def test_a_rollback_of_an_open_rollout_restores_the_lock_file_exactly() -> None:
    region = rollable({"one": 3})

    assert Promotion(begun(region), ONE, None).all_at_once() == region.image_pins


def test_a_finished_rollout_is_rolled_back_in_limited_waves_without_soaking() -> None:
    region = rollable({"one": 3}, {"soak_minutes": 600, "canary": 1}, {"max_rolling_nvlink_domains": 2})
    new, old = pin(region, NEW), pin(region, OLD)
    pins = with_intent(region, new).image_pins
    done = with_pins(region, changed(knowing(pins, [old]), previous={ONE: old.name}))

    first = wave(done, 1, version=None)
    second = wave(with_pins(done, first), 2, evidence(done, ONE, ["n1", "n2"], OLD, minutes=0), version=None)

    assert images(first) == {"n1": OLD, "n2": OLD, "n3": NEW}
    assert first.rollouts == {ONE: OpenRollout(to=pin(region, OLD).name, before=pin(region, NEW).name, rollback=True)}
    assert second == region.image_pins


def test_the_last_wave_is_rolled_back_first() -> None:
    region = rollable({"one": 3}, {}, {"max_rolling_nvlink_domains": 1})
    two = with_pins(region, wave(begun(region), 2, evidence(region, ONE, ["n1"])))

    first = wave(two, 1, version=None)

    assert images(first) == {"n1": NEW, "n2": OLD, "n3": OLD}
    assert first.waves == {f"{ONE}/1": Wave(groups=("n2",))}


def test_a_pool_without_history_cannot_be_rolled_back() -> None:
    with pytest.raises(SpecError) as caught:
        Promotion(rollable({"one": 1}), ONE, None)
    assert str(caught.value) == (
        "--rollback: no previous version of one-one/rack is recorded; select the target with --to"
    )


def test_a_rollout_ends_when_the_groups_that_were_left_go() -> None:
    pins = begun(rollable({"one": 2})).image_pins
    [moved, left] = (f"{ONE}/{domain}" for domain in ("n1", "n2"))

    assert carried(pins, pins) == pins
    arrived = carried(pins, changed(pins, groups={moved: pins.groups[moved]}))
    assert (arrived.rollouts, arrived.waves, arrived.previous) == ({}, {}, {ONE: pins.groups[left]})
    stayed = carried(pins, changed(pins, groups={left: pins.groups[left]}))
    assert (stayed.rollouts, stayed.waves, stayed.previous) == ({}, {}, {})


def test_a_pool_is_mixed_only_while_a_rollout_is_open() -> None:
    region = begun(rollable({"one": 2}))
    closed = with_pins(region, changed(region.image_pins, rollouts={}, waves={}))

    assert list(mixed(region)) == []
    [problem] = mixed(closed)
    assert problem.text == (
        f"{pin(region, OLD).name} (revision 2) differs from {pin(region, NEW).name} (revision 2) of"
        f" {ONE}/n1, and no rollout of {ONE} is open; make it uniform: jacquard promote laptop {ONE} --to {NEW}"
    )
    assert list(mixed(with_pins(closed, Promotion(closed, ONE, NEW).all_at_once()))) == []
