"""Format of a report."""

from __future__ import annotations

from components.specs.reading.problems import Problem, SpecError, dotted, shown

_PROBLEMS = [
    Problem("tenants/ant.yaml", 27, "clusters[0].name", "is wrong; correct it"),
    Problem("region.yaml", 1, "vni", "is wrong; correct it"),
    Problem("region.yaml", 1, "vni", "is wrong; correct it"),
    Problem("inventory/hall-x.csv", 0, "", "is empty; remove it"),
]


def test_a_report_counts_sorts_and_aligns() -> None:
    assert str(SpecError("laptop", _PROBLEMS)) == (
        "environments/laptop: 3 problems\n"
        "  inventory/hall-x.csv  is empty; remove it\n"
        "  region.yaml:1         vni: is wrong; correct it\n"
        "  tenants/ant.yaml:27   clusters[0].name: is wrong; correct it"
    )


def test_a_file_with_several_problems_among_others_is_counted() -> None:
    more = [*_PROBLEMS, Problem("region.yaml", 9, "asn", "is wrong; correct it")]
    assert str(SpecError("laptop", more)).splitlines()[0] == (
        "environments/laptop: 4 problems (1 in inventory/hall-x.csv, 2 in region.yaml, 1 in tenants/ant.yaml)"
    )


def _of_tenants(count: int) -> str:
    found = [
        Problem(f"tenants/t{number}.yaml", line, "vms", "is wrong; correct it")
        for number in range(count)
        for line in (1, 2)
    ]
    return str(SpecError("laptop", found)).splitlines()[0]


def test_of_many_files_the_first_five_are_counted() -> None:
    five = ", ".join(f"2 in tenants/t{number}.yaml" for number in range(5))
    assert _of_tenants(7) == f"environments/laptop: 14 problems ({five}, 4 in 2 more files)"
    assert _of_tenants(6) == f"environments/laptop: 12 problems ({five}, 2 in tenants/t5.yaml)"


def _rows(count: int) -> list[Problem]:
    return [
        Problem("inventory/hall-x.csv", line, "slot", f"must be a whole number (got 'u{line}')")
        for line in range(2, 2 + count)
    ]


def test_of_many_alike_the_first_five_are_spelt_out() -> None:
    other = Problem("inventory/hall-x.csv", 4, "rack", "must not be empty")
    assert str(SpecError("laptop", [*_rows(300), other])) == (
        "environments/laptop: 301 problems\n"
        "  inventory/hall-x.csv:2  slot: must be a whole number (got 'u2')\n"
        "  inventory/hall-x.csv:3  slot: must be a whole number (got 'u3')\n"
        "  inventory/hall-x.csv:4  rack: must not be empty\n"
        "  inventory/hall-x.csv:4  slot: must be a whole number (got 'u4')\n"
        "  inventory/hall-x.csv:5  slot: must be a whole number (got 'u5')\n"
        "  inventory/hall-x.csv:6  slot: must be a whole number (got 'u6')\n"
        "  inventory/hall-x.csv:7  slot: and 295 more like it (lines 7-301)"
    )


def test_a_single_further_problem_is_shown_instead_of_counted() -> None:
    assert str(SpecError("laptop", _rows(6))).splitlines()[-1] == (
        "  inventory/hall-x.csv:7  slot: must be a whole number (got 'u7')"
    )


def test_data_keeps_problems_that_a_report_only_counts() -> None:
    assert len(SpecError("laptop", _rows(300)).to_json()["problems"]) == 300


def test_nothing_in_a_problem_steers_a_terminal() -> None:
    problem = Problem("tenants/\x1b[2J.yaml", 1, "labels.\u202ea", "is wrong (got \x9b31m)\nenvironments/laptop: ok")

    assert str(SpecError("laptop", [problem])) == (
        "environments/laptop: 1 problem\n"
        "  tenants/\\x1b[2J.yaml:1  labels.\\u202ea: is wrong (got \\x9b31m)\\nenvironments/laptop: ok"
    )


def test_the_path_of_a_problem_precedes_its_text_unless_it_is_of_the_whole_file() -> None:
    assert [problem.where for problem in _PROBLEMS] == ["clusters[0].name: ", "vni: ", "vni: ", ""]


def test_a_report_is_data_too() -> None:
    assert SpecError("laptop", _PROBLEMS[:1]).to_json() == {
        "environment": "laptop",
        "problems": [
            {
                "file": "tenants/ant.yaml",
                "line": 27,
                "path": "clusters[0].name",
                "text": "is wrong; correct it",
                "rule": "data.form",
                "subject": "",
                "fix": False,
            }
        ],
    }


def test_paths_have_the_notation_of_users() -> None:
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
