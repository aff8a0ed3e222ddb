"""Causes in the text of an impact, columns of its table, and lines on a narrow terminal."""

from __future__ import annotations

import pytest

from components.lookups.effects.effect import Effect, Subject, When
from jacquard.cli.views.changes import impact as view
from jacquard.cli.views.changes.impact_causes import causes
from jacquard.previews.impacts.impact import Cause, Row

NODES = Cause(file="tenants/other.yaml", line=29, path="clusters.a.pools.b.nodes", old="10", new="8")
HOSTS = tuple(
    Cause(file="inventory/hall-z.csv", line=30 + slot, path=f"a05-u{slot:02d}", old=None, new="{slot: 1}")
    for slot in range(1, 7)
)


def row(*edits: Cause, **values: object) -> Row:
    return Row.model_validate(
        {
            "falls_on": Subject.NODES, "part": "c/p/a", "tenant": None, "effect": Effect.REPLACED, "when": When.AT_ONCE,
            "count": None, "gpus": None, "forced_by": (), "causes": edits,
        } | values
    )  # fmt: skip


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([NODES], ["caused by tenants/other.yaml:29 clusters.a.pools.b.nodes: 10 -> 8"]),
        ([], ["caused by changed code: no edit of data files has this effect"]),
        ([Cause(file="tenants/b.yaml", line=1, path="", new="{}")], ["caused by tenants/b.yaml: file added"]),
        ([Cause(file="tenants/b.yaml", line=1, path="", old="{}")], ["caused by tenants/b.yaml: file removed"]),
        (
            [NODES, *HOSTS],
            [
                "caused by tenants/other.yaml:29 clusters.a.pools.b.nodes: 10 -> 8",
                "and by inventory/hall-z.csv:31-36: 6 entries added, a05-u01 to a05-u06",
            ],
        ),
        (
            [NODES.model_copy(update={"alone": False}), HOSTS[0].model_copy(update={"alone": False})],
            [
                "caused by tenants/other.yaml:29 clusters.a.pools.b.nodes: 10 -> 8",
                "together with inventory/hall-z.csv:31 a05-u01: none -> {slot: 1}",
            ],
        ),
        (
            [NODES.model_copy(update={"line": line}) for line in range(1, 6)],
            [
                "caused by tenants/other.yaml:1 clusters.a.pools.b.nodes: 10 -> 8",
                "and by tenants/other.yaml:2 clusters.a.pools.b.nodes: 10 -> 8",
                "and by tenants/other.yaml:3 clusters.a.pools.b.nodes: 10 -> 8",
                "and 2 more edits",
            ],
        ),
    ],
)
def test_causes_name_the_edits_of_a_part(edits: list[Cause], expected: list[str]) -> None:
    assert [line.plain for line in causes([row(*edits)])] == expected


def test_columns_without_information_are_omitted() -> None:
    assert view.table_of([[row(NODES)]]) == (
        ("effect", "on", "part", "when"),
        [("replaced", "nodes", "c/p/a", "at once")],
    )
    assert view.table_of([[row(NODES)], [row(NODES, tenant="acme", count=2)]])[0] == (
        "effect", "on", "part", "tenant", "when", "count",
    )  # fmt: skip
