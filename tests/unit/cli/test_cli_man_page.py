"""The manual page: each verb and option of the reference, in roff that no text of it can break."""

from __future__ import annotations

import re

import pytest

from jacquard.cli.panels import PANELS, VERBS
from jacquard.cli.views import commands, man_page
from jacquard.machine import paths

REQUEST = re.compile(r"\.(TH|SH|SS|PP|TP|RS 4|RE|EX|EE)( |$)|\.\\\"")


@pytest.fixture(scope="module")
def page() -> str:
    return man_page.text()


def test_the_page_in_the_repository_is_current(page: str) -> None:
    assert (paths.ROOT / man_page.FILE).read_text(encoding="utf-8") == page, "run 'jacquard schema --write'"


def test_each_verb_has_a_section_in_its_panel(page: str) -> None:
    for panel, verbs in PANELS.items():
        section = page.partition(f".SH {panel.upper()}\n")[2].partition(".SH ")[0]
        assert [verb.name for verb in verbs if f".SS \\fBjacquard {verb.name}\\fR\n" not in section] == []


@pytest.mark.parametrize("verb", VERBS)
def test_each_option_of_a_verb_is_there(page: str, verb: str) -> None:
    markdown = commands.text().partition(f"### `jacquard {verb}`")[2].partition("\n### ")[0]
    section = page.partition(f".SS \\fBjacquard {verb}\\fR")[2]
    for option in re.findall(r"^\* `(.*?)`", markdown, re.MULTILINE):
        escaped = option.replace("-", "\\-")
        assert f".TP\n\\fB{escaped}\\fR\n" in section


def test_no_text_is_taken_for_a_request(page: str) -> None:
    lines = page.splitlines()

    assert [line for line in lines if line.startswith((".", "'")) and not REQUEST.match(line)] == []
    assert "```" not in page
    assert max(page.count(mark) for mark in ("**", "`jacquard")) == 0
