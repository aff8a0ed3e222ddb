"""The comment of an impact is bounded for any change, escapes all values, and is equal for equal input."""

from __future__ import annotations

import pytest

from components.lookups.effects.effect import Effect, Subject, When
from jacquard.cli.views.changes.impact_comment import MARK, comment
from jacquard.cli.views.changes.markdown import LIMIT_BYTES, code, prose
from jacquard.previews.impacts.impact import Cause, Forced, Impact, Row, Totals
from tests.support.changes.impacts import edited, impact_of

HOSTILE = "``` </details> @team <img src=x> [a](javascript:b) \x1b[31m \u202e ` end\nnext"


@pytest.fixture(scope="module")
def promoted(tmp_path_factory: pytest.TempPathFactory) -> Impact:
    bench = edited(tmp_path_factory.mktemp("data"), "laptop", (), ("promote acme-train/train gpu-2026.11.1",))
    return impact_of(bench)


def row(part: str, cause: Cause) -> Row:
    return Row(
        falls_on=Subject.NODES, part=part, tenant=None, effect=Effect.UNKNOWN, when=When.AT_ONCE, count=None, gpus=None,
        forced_by=(), causes=(cause,),
    )  # fmt: skip


def forced(why: str) -> Forced:
    return Forced(
        kind="example.com/Thing", path="spec", effect=Effect.UNKNOWN, objects=1, first="m/n/x", why=why, source=None
    )


def test_the_comment_starts_with_required_approvals_and_effects(promoted: Impact) -> None:
    lines = comment([promoted]).splitlines()

    assert lines[:7] == [
        MARK,
        "### Approval required from `acme`",
        "",
        "**`laptop`**",
        "",
        (
            "- disrupts 10 nodes, 80 GPUs, 1 tenant; at most 2 unavailable at a time; duration unknown without "
            "`nodes.durations`; needs approval of acme"
        ),
        "- replaced: 10 nodes (80 GPUs) of `acme-train/train`",
    ]
    part = (promoted.tenants[0].digest or "")[:12]
    asked = f"- acme: `platform@acme.example` must approve part `{part}`; at least 12 of 14 contracted"
    assert f"{asked} `h100-ib-8` available" in lines
    promotion = "`jacquard promote laptop acme-train/infer --to data`"
    assert f"- `acme-train/infer` (image), before this change: {promotion}" in lines


def test_equal_input_results_in_equal_bytes(promoted: Impact) -> None:
    assert comment([promoted]) == comment([promoted.model_copy()])


def test_nothing_that_happens_has_a_headline_too(promoted: Impact) -> None:
    nothing = promoted.model_copy(
        update={"rows": (), "totals": Totals(), "tenants": (), "lost": (), "behind": (), "effect": Effect.NONE}
    )

    assert comment([nothing]).splitlines()[1] == "### No running workload is disrupted"


def test_however_much_changes_whole_sections_are_left_out_and_counted(promoted: Impact) -> None:
    cause = Cause(file="images.lock.yaml", line=1, path="groups", old="a" * 200, new="b" * 200)
    rows = [row(f"c/p{number}/a", cause) for number in range(500)]
    reasons = [forced(f"reason {number}") for number in range(500)]
    many = [one.model_copy(update={"forced_by": (reason,)}) for one, reason in zip(rows, reasons, strict=True)]

    text = comment([promoted.model_copy(update={"rows": tuple(many)})])

    assert 0.9 * LIMIT_BYTES < len(text.encode()) <= LIMIT_BYTES
    assert text.count("<details>") == text.count("</details>") > 10
    assert text.endswith("sections omitted (size limit of comments); `jacquard impact --format json` contains all.\n")


def test_many_parts_with_equal_effects_and_reasons_are_one(promoted: Impact) -> None:
    rows = [
        row(f"c{number}/p/a", Cause(file=f"tenants/t{number}.yaml", line=number, path="x", old="1", new="2"))
        for number in range(1, 41)
    ]
    replaced = row("c9/p/b", Cause(file="images.lock.yaml", line=7, path="groups.c9/p/b", old="1", new="2"))
    others = [one.model_copy(update={"count": 2, "tenant": one.part.partition("/")[0]}) for one in rows]
    impact = promoted.model_copy(update={"rows": (replaced.model_copy(update={"effect": Effect.REPLACED}), *others)})

    lines = comment([impact]).splitlines()

    assert [line for line in lines if line.startswith("| ")] == [
        "| effect | on | part | tenant | when | count |",
        "| replaced | nodes | `c9/p/b` | - | at once | - |",
        "| unknown | nodes | `c1/p`, `c2/p`, `c3/p` and 37 more | `c1`, `c2`, `c3` and 37 more | at once | 80 |",
    ]
    at = next(index for index, line in enumerate(lines) if line.startswith("<details><summary><code>c1/p"))
    assert lines[at : at + 8] == [
        "<details><summary><code>c1/p</code>, <code>c2/p</code>, <code>c3/p</code> and 37 more: nodes</summary>",
        "",
        "- caused by `tenants/t1.yaml:1` `x`: `1` -> `2`",
        "- and by `tenants/t2.yaml:2` `x`: `1` -> `2`",
        "- and by `tenants/t3.yaml:3` `x`: `1` -> `2`",
        "- and 37 more edits",
        "",
        "</details>",
    ]


def test_values_stay_within_their_code_spans(promoted: Impact) -> None:
    cause = Cause(file="tenants/ant.yaml", line=3, path="x", old=HOSTILE, new=None)

    [line] = [
        line for line in comment([promoted.model_copy(update={"rows": (row("c/p/a", cause),)})]).splitlines()
        if "ant.yaml:3" in line
    ]  # fmt: skip

    assert line.startswith("- caused by `tenants/ant.yaml:3` `x`: ```` ``` </details> @team")
    assert line.endswith("end\\nnext ```` -> none")
    assert "\\x1b" in line
    assert "\\u202e" in line


@pytest.mark.parametrize(
    ("text", "expected"), [("a", "`a`"), ("`a`", "`` `a` ``"), ("a``b", "```a``b```"), ("a\nb", "`a\\nb`")]
)
def test_a_code_span_is_closed_by_its_own_end_only(text: str, expected: str) -> None:
    assert code(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("replaced: 10 nodes (80 GPUs) of acme-train/train", "replaced: 10 nodes (80 GPUs) of `acme-train/train`"),
        (
            "collect them with 'jacquard facts laptop --out FILE'",
            "collect them with `jacquard facts laptop --out FILE`",
        ),
        ("re-flashed: dpus of hall a, at most 2", "re-flashed: dpus of hall a, at most 2"),
        ("see www.a.example, @team and #12", "see `www.a.example`, `@team` and `#12`"),
        ("a *b* _c_ [d](e) <f> & g|h", "a `*b*` `_c_` `[d](e)` `<f>` `&` `g|h`"),
        ("a\nb `c`", "`a\\nb` `` `c` ``"),
    ],
)
def test_only_plain_words_and_numbers_are_written_without_code(text: str, expected: str) -> None:
    assert prose(text) == expected


def test_all_verdicts_stand_before_any_detail(promoted: Impact) -> None:
    both = comment([promoted, promoted.model_copy(update={"environment": "lab"})])
    assert both.index("**`laptop`**") < both.index("**`lab`**") < both.index("| effect |")
