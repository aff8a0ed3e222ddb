"""Effect of each pool field on nodes: the table, compared with the objects after a change of the field."""

from __future__ import annotations

import datetime as dt

import pytest

from components.lookups.effects.effect import Effect
from components.specs.pools.node_pool import NodePoolSpec
from jacquard.machine import paths
from tests.support.changes.pool_changes import (
    CHANGES,
    before_and_after,
    other_image,
    other_pods,
    pool,
    region_with_pool,
    rendered,
    spelt,
)
from tests.support.changes.pool_effects import FIELDS, PROMOTED, REVERTED, WITH_PROMOTION, effect_on_nodes


def test_every_field_of_a_pool_is_in_the_table_and_changed_here() -> None:
    assert list(FIELDS) == list(spelt(NodePoolSpec)) == list(CHANGES)


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_has_the_effect_of_the_table_on_nodes(field: str) -> None:
    before, after = before_and_after(field)

    assert effect_on_nodes(rendered(before), rendered(after)) is WITH_PROMOTION[field]
    assert effect_on_nodes(rendered(after), rendered(before)) is REVERTED[field]


@pytest.mark.parametrize("field", PROMOTED)
def test_fields_of_the_node_intent_change_no_object_before_a_promotion(field: str) -> None:
    before, after = before_and_after(field, promote=False)

    assert effect_on_nodes(rendered(before), rendered(after)) is FIELDS[field] is Effect.NONE
    assert rendered(before) == rendered(after)


def test_a_changed_rollout_time_replaces_nodes_only_if_it_is_later() -> None:
    first, second = (dt.datetime(2026, 12, day, 2, tzinfo=dt.UTC) for day in (1, 2))
    [(_, early), (_, late)] = (before_and_after("rollout.after", value=moment) for moment in (first, second))

    assert effect_on_nodes(rendered(early), rendered(late)) is Effect.REPLACED
    assert effect_on_nodes(rendered(late), rendered(early)) is Effect.IN_PLACE


def test_pods_per_node_of_a_cluster_replace_its_nodes() -> None:
    before = region_with_pool(pool())

    assert effect_on_nodes(rendered(before), rendered(other_pods(before))) is Effect.REPLACED


def test_another_image_replaces_the_nodes_when_its_pin_changes() -> None:
    before = region_with_pool(pool())

    assert effect_on_nodes(rendered(before), rendered(other_image(before))) is Effect.REPLACED


def test_the_page_shows_the_table() -> None:
    page = (paths.ROOT / "docs/pools/node-pool.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `")]
    shown = {name.strip().strip("`"): text.strip() for name, text in rows if name.strip().strip("`") in FIELDS}

    assert list(shown.items()) == [(name, found.value) for name, found in FIELDS.items()]
