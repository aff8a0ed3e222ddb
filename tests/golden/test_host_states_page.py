"""The page about host states shows the diagram and the table that the library's table defines."""

from __future__ import annotations

import os
import re

from components.lookups.host_states.table import host_states
from components.specs.hosts.host_report import read_report
from jacquard.machine import paths

PAGE = paths.ROOT / "docs/hosts/host-states.md"
BEGIN, END = "<!-- states: begin -->\n", "<!-- states: end -->"
HEAD = "| state | meaning | next | deadline | NetBox |\n|---|---|---|---|---|\n"


def drawn() -> str:
    """Return the state diagram of Mermaid and the table of states, as Markdown."""
    states = host_states()
    arrows = [
        f"    {old} --> {new}{': passed test' if new == 'production' else ''}\n"
        for old, row in states.items()
        for new in row.next
    ]
    rows = [
        f"| `{state}` | {row.meaning} | {', '.join(f'`{new}`' for new in row.next)} |"
        f" {f'{row.deadline_hours} hours' if row.deadline_hours else '-'} | `{row.netbox}` |\n"
        for state, row in states.items()
    ]
    first = next(iter(states))
    return f"```mermaid\nstateDiagram-v2\n    [*] --> {first}\n{''.join(arrows)}```\n\n{HEAD}{''.join(rows)}"


def reasons() -> str:
    """Return the reasons of the deadlines, as a list in Markdown."""
    rows = host_states().items()
    return "".join(f"- `{state}`: {row.deadline_reason}\n" for state, row in rows if row.deadline_reason)


def test_the_report_on_the_page_is_valid() -> None:
    [example] = re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)

    assert read_report("laptop", "report.json", example.encode()).report.failed == ()


def test_the_page_has_the_maximum_age_of_a_report() -> None:
    [hours] = {row.evidence_hours for row in host_states().values() if row.evidence_hours}

    assert f"| the run ended more than {hours} hours ago |" in PAGE.read_text()


def test_the_page_shows_the_states_of_the_table() -> None:
    before, rest = PAGE.read_text().split(BEGIN)
    shown, after = rest.split(END)
    wanted = f"{drawn()}\nReasons of the deadlines:\n\n{reasons()}"
    if os.environ.get("JACQUARD_UPDATE_GOLDEN"):
        PAGE.write_text(before + BEGIN + wanted + END + after)
        return

    assert shown == wanted, "the table has other states; run with JACQUARD_UPDATE_GOLDEN=1 to paste them"
