"""The form of a report."""

from __future__ import annotations

from components.specs.problems import Problem, SpecError, dotted, shown

_PROBLEMS = [
    Problem("tenants/acme.yaml", 27, "clusters[0].name", "is wrong; correct it"),
    Problem("region.yaml", 1, "vni", "is wrong; correct it"),
    Problem("region.yaml", 1, "vni", "is wrong; correct it"),
    Problem("inventory/hall-a.csv", 0, "", "is empty; remove it"),
]


def test_a_report_counts_sorts_and_aligns() -> None:
    assert str(SpecError("laptop", _PROBLEMS)) == (
        "environments/laptop: 3 problems\n"
        "  inventory/hall-a.csv  is empty; remove it\n"
        "  region.yaml:1         vni: is wrong; correct it\n"
        "  tenants/acme.yaml:27  clusters[0].name: is wrong; correct it"
    )


def test_a_report_is_data_too() -> None:
    assert SpecError("laptop", _PROBLEMS[:1]).to_json() == {
        "environment": "laptop",
        "problems": [
            {
                "file": "tenants/acme.yaml",
                "line": 27,
                "path": "clusters[0].name",
                "text": "is wrong; correct it",
            }
        ],
    }


def test_paths_read_as_people_write_them() -> None:
    assert dotted(("clusters", 0, "pools", 1, "nodes")) == "clusters[0].pools[1].nodes"
    assert dotted(()) == ""


def test_values_are_shown_short() -> None:
    assert [shown(value) for value in (None, True, 5, "a", [], [1], {})] == [
        "nothing",
        "true",
        "5",
        "'a'",
        "an empty list",
        "a list",
        "a mapping",
    ]
    assert shown("x" * 100) == f"'{'x' * 60}'... of 100 characters"
