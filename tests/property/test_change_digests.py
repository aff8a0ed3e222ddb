"""The digest of a tenant's part of a change depends on its content only, not on its representation."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.lookups.effects.effect import Effect, Subject, When
from jacquard.previews.attestations.digests import changes_digest, impact_digest, part_digest
from jacquard.previews.impacts.impact import Cause, Impact, Lost
from jacquard.previews.impacts.tenant_impact import Contracted, TenantImpact, TenantWindow
from tests.support.changes.impacts import edited, impact_of

EFFECTS = {"effect": Effect.UNKNOWN, "falls_on": Subject.DPUS, "when": When.BY_HAND}
COUNTED = {"part": "acme-train/other/a", "count": 99, "change": 3, "gpus": 7, "digest": "0" * 64, "forced_by": ()}
ROLLED = {"out_at_once": 9, "surge": 9, "paused": True}
BESIDE = {"spares_left": 9, "spares_floor": 9, "minutes": 9, "minutes_most": 9, "gpu_hours": 9.0}


@pytest.fixture(scope="module")
def promoted(tmp_path_factory: pytest.TempPathFactory) -> Impact:
    bench = edited(tmp_path_factory.mktemp("data"), "laptop", (), ("promote acme-train/train gpu-2026.11.1",))
    return impact_of(bench)


def acme(impact: Impact, **changes: Any) -> str:
    [tenant] = [one for one in impact.tenants if one.tenant == "acme"]
    return part_digest(tenant.model_copy(update=changes), impact.rows, impact.lost)


def first_row(impact: Impact, **changes: Any) -> Impact:
    first, *others = impact.rows
    return impact.model_copy(update={"rows": (first.model_copy(update=changes), *others)})


def first_roll(impact: Impact, **changes: Any) -> Impact:
    roll = impact.rows[0].roll
    assert roll
    return first_row(impact, roll=roll.model_copy(update=changes))


@given(seed=st.integers(0, 2**32), line=st.integers(1, 10_000), name=st.text(min_size=1, max_size=40))
def test_the_digest_does_not_depend_on_the_representation(promoted: Impact, seed: int, line: int, name: str) -> None:
    """Order, lines, files, names of commits and effects on others are not part of it."""
    shuffle = random.Random(seed)  # noqa: S311 - no secret
    cause = Cause(file=name, line=line, path=name, old=name, new=None)
    rows = [
        row.model_copy(
            update={"causes": (cause,), "forced_by": tuple(shuffle.sample(row.forced_by, len(row.forced_by)))}
        )
        for row in promoted.rows
    ]
    stranger = rows[0].model_copy(update={"tenant": "globex", "part": name, "count": line})
    promotion = promoted.model_copy(
        update={
            "rows": tuple(shuffle.sample([*rows, stranger], len(rows) + 1)),
            "lost": tuple(shuffle.sample(promoted.lost, len(promoted.lost))),
            "base": name,
            "head": name,
            "edits": line,
        }
    )

    assert acme(promotion, nodes=line, freezes=(), asks=name) == acme(promoted)


@pytest.mark.parametrize("field", [*EFFECTS, *COUNTED])
def test_any_other_effect_is_another_change(promoted: Impact, field: str) -> None:
    other = first_row(promoted, **{field: {**EFFECTS, **COUNTED}[field]})

    assert acme(other) != acme(promoted)
    assert impact_digest(other) != impact_digest(promoted)


@pytest.mark.parametrize("field", ROLLED)
def test_a_roll_that_is_another_is_another_change(promoted: Impact, field: str) -> None:
    assert acme(first_roll(promoted, **{field: ROLLED[field]})) != acme(promoted)


@pytest.mark.parametrize("field", BESIDE)
def test_estimates_and_decisions_of_others_are_excluded(promoted: Impact, field: str) -> None:
    assert acme(first_roll(promoted, **{field: BESIDE[field]})) == acme(promoted)


@pytest.mark.parametrize(
    "changes",
    [
        {"tenant": "globex"},
        {"window": TenantWindow(text="sat 02:00", held=True, openings=None)},
        {"capacity": (Contracted(instance_type="h100-ib-8", contracted=14, lowest=11),)},
    ],
    ids=["tenant", "window", "contract"],
)
def test_effects_on_the_tenant_are_included(promoted: Impact, changes: dict[str, Any]) -> None:
    assert acme(promoted, **changes) != acme(promoted)


def test_a_further_deleted_object_is_another_change(promoted: Impact) -> None:
    gone = Lost(kind="v1/Secret", name="management/acme/a", outcome="deleted", tenant="acme")
    others = gone.model_copy(update={"tenant": "globex"})

    assert acme(promoted.model_copy(update={"lost": (*promoted.lost, gone)})) != acme(promoted)
    assert acme(promoted.model_copy(update={"lost": (*promoted.lost, others)})) == acme(promoted)


def test_another_image_for_as_many_nodes_is_another_change(tmp_path: Any) -> None:
    """Reports of both are equal; the values of fields differ."""
    found = []
    for index, version in enumerate(("1.35.3", "1.35.4")):
        bench = edited(tmp_path / str(index), "laptop", (), ())
        name = next(iter(bench.load().image_pins.intents))
        bench.intend(name, "kubelet", f"v{version}")
        found.append(impact_of(bench))
    one, other = found
    rows = [[(row.part, row.effect, row.count, row.gpus) for row in side.rows] for side in found]

    assert rows[0] == rows[1] != []
    assert {row.digest for row in one.rows}.isdisjoint({row.digest for row in other.rows})
    assert impact_digest(one) != impact_digest(other)


def test_a_tenant_without_a_part_has_the_digest_of_nothing() -> None:
    assert changes_digest(()) == changes_digest(iter(()))
    nobody = TenantImpact(tenant="acme", effect=Effect.NONE, nodes=0, asks=None, window=None, freezes=(), capacity=())
    assert part_digest(nobody, (), ()) != part_digest(nobody.model_copy(update={"tenant": "globex"}), (), ())
