"""The comment of a preview starts with the verdict, is bounded, escapes values, and shows no content of objects."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from markdown_it import MarkdownIt

from components.lookups.effects.effect import Effect
from components.specs.region.policy import Enforcement
from jacquard.cli.views.changes.markdown import LIMIT_BYTES
from jacquard.cli.views.changes.preview_comment import MARK, comment
from jacquard.previews.impacts.impact import Impact, Totals
from jacquard.previews.impacts.verdict import judged
from jacquard.previews.preview import (
    Field,
    ObjectChange,
    Offence,
    Operation,
    Origin,
    Outcome,
    Preview,
    StackPreview,
    Standing,
    Waiver,
)
from tests.support.changes.impacts import edited, impact_of

HOSTILE = (
    "``` ```` </details> @team <img src=x> [a](javascript:b) <!-- jacquard preview --> \x1b[31m \u202e ` end\nnext"
)


@pytest.fixture(scope="module")
def promoted(tmp_path_factory: pytest.TempPathFactory) -> Impact:
    bench = edited(tmp_path_factory.mktemp("data"), "laptop", (), ("promote acme-train/train gpu-2026.11.1",))
    return impact_of(bench)


@pytest.fixture(scope="module")
def quiet(promoted: Impact) -> Impact:
    return promoted.model_copy(
        update={"rows": (), "totals": Totals(), "tenants": (), "lost": (), "behind": (), "effect": Effect.NONE}
    )


def change(*names: str, **fields: object) -> ObjectChange:
    given = {"operation": Operation.UPDATE, "origin": Origin.CHANGE, "kind": "metal3.io/BareMetalHost"} | fields
    return ObjectChange(names=names, **given)  # type: ignore[arg-type]


def stack(*changes: ObjectChange, name: str = "laptop", **fields: object) -> StackPreview:
    return StackPreview(stack=name, changes=changes, **({"outcome": Outcome.CHANGED} | fields))  # type: ignore[arg-type]


def offence(standing: Standing, waiver: Waiver | None = None) -> Offence:
    level = Enforcement.ADVISORY if waiver else Enforcement.MANDATORY
    return Offence(
        rule="no-x", subject="c/p", standing=standing, level=level, found="x is here", fix="take it away", waiver=waiver
    )


WAIVER = Waiver(reason="for now", owner="me", ticket="T-1", expires=dt.date(2026, 12, 1), days_left=9)


def lines(*previews: Preview) -> list[str]:
    return comment(previews).splitlines()


SMALL = [
    MARK,
    "### Safe: no running workload is disrupted",
    "",
    "**`laptop`** `base` to `head`",
    "",
    "- no running workload is affected",
    "",
    "",
    "Deleted or replaced:",
    "",
    "- 1 object deleted: BareMetalHost `m/n/gone`",
    "",
    "Waived:",
    "",
    "- waived: `no-x`: `c/p`: x is here; 9 days left: for now (me, `T-1`)",
    "",
    "<details><summary>laptop: changed, 1 to delete, 1 to update</summary>",
    "",
    "```diff",
    "# 1 object not checked",
    "  update BareMetalHost same change on 4 objects: m/n/h1, m/n/h2, m/n/h3 and 1 more",
    "- spec.on: true",
    "+ spec.on: false",
    "+ spec.x: 1",
    "  delete BareMetalHost m/n/gone, declared before this change but not applied yet",
    "```",
    "",
    "</details>",
    "",
    "Skipped, base and head render the same objects:",
    "",
    "- `laptop.other`",
    "",
    "<details><summary>laptop: policy violations of the base</summary>",
    "",
    "- fixed: `no-x`: `c/p`: x is here; take it away",
    "",
    "</details>",
    "",
    "<details><summary>laptop: drift (<code>up</code> does not revert it)</summary>",
    "",
    "```diff",
    "  update BareMetalHost m/n/h9",
    '- spec.y: "live"',
    '+ spec.y: "declared"',
    "```",
    "",
    "</details>",
    "",
    (
        "`laptop`: `no recent facts of the region: occupancy of its nodes is unknown`; "
        "`impact DIGEST, stacks DIGEST, policies DIGEST`"
    ),
]
"""The whole comment of a change without disruption."""


def test_the_whole_of_a_small_change(quiet: Impact) -> None:
    found = judged(
        quiet,
        [
            stack(
                change(
                    "m/n/h1", "m/n/h2", "m/n/h3", "m/n/h4",
                    fields=(Field(path="spec.on", old="true", new="false"), Field(path="spec.x", old=None, new="1")),
                ),
                change("m/n/gone", operation=Operation.DELETE, origin=Origin.EARLIER),
                change("m/n/h9", origin=Origin.DRIFT, fields=(Field(path="spec.y", old='"live"', new='"declared"'),)),
                operations={Operation.DELETE: 1, Operation.UPDATE: 1},
                notes=("1 object not checked",),
            ),
            stack(name="laptop.other", outcome=Outcome.SAME_OBJECTS),
        ],
        [offence(Standing.WAIVED, WAIVER), offence(Standing.FIXED)],
    )  # fmt: skip

    text = re.sub(r"(impact|stacks|policies) [0-9a-f]{16}", r"\1 DIGEST", comment([found]))
    assert text.splitlines() == SMALL


def test_violations_are_first_with_the_worst_of_all_environments(promoted: Impact, quiet: Impact) -> None:
    safe = judged(quiet, [], [])
    asks = judged(promoted, [], [])
    unknown = judged(quiet.model_copy(update={"effect": Effect.UNKNOWN}), [], [])
    blocked = judged(quiet, [stack(outcome=Outcome.FAILED, reason="no answer\nat all")], [offence(Standing.NEW)])

    assert lines(safe)[1] == "### Safe: no running workload is disrupted"
    assert lines(safe, unknown)[1] == "### Undecided: some effects are unknown"
    assert lines(unknown, asks)[1] == "### Approval required from `acme`"
    assert lines(asks, blocked)[1] == "### Blocked"
    text = lines(blocked)
    assert text[5:7] == ["- blocked: refused by `no-x`", "- blocked: the preview of laptop failed: no answer"]
    assert "- refused: `no-x`: `c/p`: x is here; take it away" in text
    assert [line for line in text if line.startswith("! ")] == ["! no answer", "! at all"]


def test_a_change_of_6_000_hosts_stays_below_the_limit_with_all_code_and_folds_closed(quiet: Impact) -> None:
    stacks = [
        stack(
            *(
                change(
                    f"m/n/h{hall}-{number}",
                    operation=Operation.REPLACE if number % 2 else Operation.UPDATE,
                    fields=(Field(path="spec.bmc", old=f'"{number}"' * 90, new='"x"' * 90),),
                )
                for number in range(600)
            ),
            name=f"laptop.inventory-{hall}",
        )
        for hall in range(10)
    ]
    text = comment([judged(quiet, stacks, [])])

    assert 0.5 * LIMIT_BYTES < len(text.encode()) <= LIMIT_BYTES
    assert text.count("<details>") == text.count("</details>") > 1
    assert len(re.findall(r"^```", text, re.MULTILINE)) % 2 == 0
    assert "3000 objects replaced: BareMetalHost `m/n/h0-1`, " in text
    assert " sections omitted (size limit of comments); `preview.json` of this run contains all.\n" in text
    assert text.splitlines()[-1].startswith("`laptop`: `no recent facts")


def test_one_environment_does_not_crowd_out_the_verdicts_of_others(quiet: Impact) -> None:
    many = [judged(quiet.model_copy(update={"environment": f"region-{number}"}), [], []) for number in range(400)]

    assert len(comment(many).encode()) <= LIMIT_BYTES


def test_hostile_values_stay_code_everywhere(quiet: Impact) -> None:
    hostile = stack(
        change(HOSTILE, kind=f"x/{HOSTILE}", operation=Operation.REPLACE, forced_by=(HOSTILE,),
               fields=(Field(path=HOSTILE, old=HOSTILE, new=None),)),
        change(HOSTILE, origin=Origin.DRIFT),
        name=HOSTILE, outcome=Outcome.FAILED, reason=HOSTILE, notes=(HOSTILE,), held=(HOSTILE,), accept="w",
    )  # fmt: skip
    wrong = offence(Standing.NEW).model_copy(update={"subject": HOSTILE, "found": HOSTILE, "fix": HOSTILE})
    named = quiet.model_copy(update={"environment": HOSTILE, "base": HOSTILE, "head": HOSTILE})
    text = comment([judged(named, [hostile], [wrong])])

    assert not set("\x1b\u202e") & set(text)
    for token in MarkdownIt("commonmark").parse(text):
        inert = [child.content for child in token.children or () if child.type not in ("code_inline", "softbreak")]
        assert not [line for line in inert if "@team" in line or "javascript" in line], token
        if token.type == "html_block":
            assert "@team" not in token.content
            assert "<img" not in token.content
    assert text.count("\n</details>") == text.count("\n<details>")


def test_equal_input_results_in_equal_bytes(promoted: Impact) -> None:
    found = judged(promoted, [stack(change("m/n/h"))], [offence(Standing.NEW)])

    assert comment([found]) == comment([Preview.model_validate_json(found.model_dump_json())])
