"""Edits of hand-written files: one entry changes, and all other bytes are preserved in any layout."""

from __future__ import annotations

from difflib import ndiff

import pytest

from components.allocate.faults import with_faults, without_faults
from components.specs.reading.edits import edited

TEXT = """\
# hosts that are broken
schema_version: 1
hosts:
  a01-u01: {state: rma, since: 2026-11-01,   # at the vendor's
            reason: fans}
  a01-u02: {state: rma, since: 2026-11-01, reason: "two
    lines of text"}

  # about the next
  a01-u04:
    state: rma
    since: 2026-11-01
    reason: >-
      a long
      reason
  a02-u01: {state: rma, since: 2026-11-02, reason: fan}   # the last
"""
NEW = {"state": "debug", "since": "2026-11-03", "reason": "x"}
LINE = "{state: debug, since: 2026-11-03, reason: x}\n"


def changes(after: str) -> list[str]:
    return [line for line in ndiff(TEXT.splitlines(keepends=True), after.splitlines(keepends=True)) if line[0] in "+-"]


@pytest.mark.parametrize("host", ["a00-u01", "a01-u03", "a01-u05", "a09-u01"])
def test_an_added_entry_changes_no_neighbour(host: str) -> None:
    assert changes(with_faults(TEXT, {host: NEW})) == [f"+   {host}: {LINE}"]


def test_an_entry_is_added_in_order_of_names() -> None:
    after = with_faults(TEXT, {"a01-u03": NEW})

    assert f'    lines of text"}}\n  a01-u03: {LINE}\n  # about the next\n  a01-u04:\n' in after


@pytest.mark.parametrize(
    ("host", "gone"),
    [
        ("a01-u01", TEXT.splitlines(keepends=True)[3:5]),
        ("a01-u02", TEXT.splitlines(keepends=True)[5:7]),
        ("a02-u01", TEXT.splitlines(keepends=True)[-1:]),
    ],
)
def test_an_entry_is_removed_with_exactly_its_lines(host: str, gone: list[str]) -> None:
    assert changes(without_faults(TEXT, [host])) == [f"- {line}" for line in gone]


def test_an_entry_that_is_replaced_becomes_one_line() -> None:
    after = with_faults(TEXT, {"a01-u02": NEW})

    assert after == TEXT.replace('{state: rma, since: 2026-11-01, reason: "two\n    lines of text"}\n', LINE)


def test_an_edit_within_lists_keeps_neighbouring_entries() -> None:
    text = (
        "items:\n  - {name: a,\n     size: 1}\n  - {name: b,   # the second\n     size: 2}\n"
        "  - name: c\n    size: [1,\n      2]\n"
    )

    def resize(document: dict[str, list[dict[str, int]]]) -> object:
        document["items"][2]["size"] = 3
        return document

    assert edited(text, resize) == text.replace("[1,\n      2]", "3")


@pytest.mark.parametrize("text", [TEXT, "# nothing\n", "a: 1\n", "a:\n- 1\n-  2\n"])
def test_an_edit_that_changes_nothing_leaves_every_byte(text: str) -> None:
    assert edited(text, lambda document: document) == text


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("hosts:\n  a: {b: 1}   # the last", "hosts:\n  a: {b: 1}   # the last\n  c: 2\n"),
        ("hosts:\n    a: {b: 1}   # wide\n", "hosts:\n  a: {b: 1}     # wide\n  c: 2\n"),
        ("hosts:\n a: {b: 1}\n", "hosts:\n  a: {b: 1}\n  c: 2\n"),
    ],
)
def test_an_entry_is_added_to_files_with_any_line_end_and_indentation(text: str, after: str) -> None:
    def add(document: dict[str, dict[str, int]]) -> object:
        document["hosts"]["c"] = 2
        return document

    assert edited(text, add) == after


def test_an_edit_that_changes_nothing_adds_no_line_break() -> None:
    assert edited("a:\n    b: 1", lambda document: document) == "a:\n    b: 1"
