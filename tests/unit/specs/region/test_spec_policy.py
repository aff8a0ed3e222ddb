"""Freezes: protected tenants, and times."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.specs.region.policy import FreezeSpec


@pytest.fixture
def freeze() -> dict[str, Any]:
    begin = dt.datetime(2026, 12, 20, tzinfo=dt.UTC)
    return {"name": "year-end", "from": begin, "to": begin + dt.timedelta(days=15), "reason": "year end"}


def test_a_freeze_protects_all_tenants_from_its_first_to_before_its_last_moment(freeze: dict[str, Any]) -> None:
    spec, second = FreezeSpec.model_validate(freeze), dt.timedelta(seconds=1)

    assert [spec.covers(moment, "acme") for moment in (freeze["from"], freeze["to"] - second)] == [True, True]
    assert [spec.covers(moment, "acme") for moment in (freeze["from"] - second, freeze["to"])] == [False, False]


def test_a_freeze_of_some_tenants_does_not_affect_others(freeze: dict[str, Any]) -> None:
    spec = FreezeSpec.model_validate({**freeze, "tenants": ["acme"]})

    assert {name: spec.covers(freeze["from"], name) for name in ("acme", "globex")} == {"acme": True, "globex": False}


def test_moments_in_other_zones_are_the_same_moments(freeze: dict[str, Any]) -> None:
    tokyo = freeze["from"].astimezone(dt.timezone(dt.timedelta(hours=9)))

    assert FreezeSpec.model_validate(freeze).covers(tokyo, "acme")
