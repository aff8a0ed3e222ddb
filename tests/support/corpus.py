"""The corpus of mistakes: what a person may write, what is said to it, and the remedy, as data beside the tests.

A line more in the data moves the lines that many reports name. ``JACQUARD_UPDATE_GOLDEN=1`` on one process (``-n 0``)
writes these down anew, and nothing else: another word of a report is written by hand.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from golden import UPDATE
from workbench import Workbench

from components.specs.reading.fixes import Mended
from components.specs.reading.problems import SpecError
from jacquard.machine import paths

_UNIT = paths.ROOT / "tests" / "unit"
FOLDERS = (_UNIT / "specs", _UNIT / "rules")

Case = dict[str, Any]
_PLACE = re.compile(r"(?<=:)\d+|(?<=line )\d+|(?<=lines )\d+-\d+| +")
"""What moves with the data: numbers of lines, and blanks that line up what stands behind them."""


def cases(folder: Path, pattern: str) -> list[Case]:
    """Return the cases of the files in ``folder`` that are called like ``pattern``."""
    return [
        {**case, "corpus": path}
        for path in sorted(folder.glob(pattern))
        for case in yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    ]


def title(case: Case) -> str:
    """Return what a test of ``case`` is called."""
    return f"{case['rule']}: {case['name']}" if "rule" in case else case["name"]


def assert_told(case: Case, report: str) -> None:
    """Fail when ``report`` is not that of ``case``; an update moves the lines that it names."""
    told, reviewed = report + "\n", case["report"]
    if is_moved(told, reviewed):
        move(case["corpus"], case["name"], _indented(reviewed), _indented(told))
        reviewed = told
    assert told == reviewed


def is_moved(told: str, reviewed: str) -> bool:
    """Tell whether an update is asked for, and two reports differ in nothing but lines that they name."""
    return bool(os.environ.get(UPDATE)) and told != reviewed and _PLACE.sub("", told) == _PLACE.sub("", reviewed)


def move(path: Path, name: str, old: str, new: str) -> None:
    """Write ``new`` for the first ``old`` behind the title of the case called ``name``."""
    text = path.read_text(encoding="utf-8")
    at = text.index(old, text.index(name))
    path.write_text(text[:at] + text[at:].replace(old, new, 1), encoding="utf-8")


def _indented(report: str) -> str:
    return "".join(f"    {line}" if line.strip() else line for line in report.splitlines(keepends=True))


def fixes(found: Iterable[Mended]) -> list[str]:
    """Return what ``check --fix`` does, as the corpus has it."""
    return [f"{fix.file}:{fix.line}  {fix.before} -> {fix.after}" for item in found for fix in item.fixes]


def spoil(bench: Workbench, case: Case) -> None:
    """Make the mistakes of ``case``."""
    add_column(bench, "dpu_bmc", case.get("dpu_bmcs", {}))
    add_column(bench, "port_guids", case.get("port_guids", {}))
    for file, text in case.get("files", {}).items():
        (bench.folder / file).write_text(text, encoding="utf-8")
    apply(bench, case["edits"])


def apply(bench: Workbench, steps: Iterable[list[str] | str]) -> None:
    """Do ``steps``: ``[file, text]`` writes a file, ``[file, old, new]`` edits one, a line of words is a command."""
    edited = []
    for step in steps:
        match step if isinstance(step, list) else step.split():
            case ["allocate"]:
                bench.allocate()
            case ["promote", pool, version]:
                bench.promote(pool, version)
            case ["intent", name, field, value]:
                bench.intend(name, field, yaml.safe_load(value))
            case [file, text]:
                (bench.folder / file).write_text(text, encoding="utf-8")
            case [file, old, new]:
                edited.append(file)
                bench.edit(file, old, new)
    if any(file.endswith(".lock.yaml") for file in edited):
        with suppress(SpecError):
            bench.sign()  # what is wrong beside the digest is the matter here


def add_column(bench: Workbench, column: str, values: dict[str, str]) -> None:
    """Add an optional column to the inventory, empty but for ``values`` by host."""
    if not values:
        return
    path = bench.folder / "inventory" / "hall-a.csv"
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    lines = [f"{header},{column}", *(f"{row},{values.get(row.split(',')[2], '')}" for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
