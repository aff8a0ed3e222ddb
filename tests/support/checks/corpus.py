"""The corpus of mistakes: invalid edits, the expected report and its remedy, as YAML files in the rooms of the tests.

A case of ``<module>_rules.yaml`` contains the report of one rule, and a case of ``bad_*.yaml`` that of the whole check.
After the remedy, nothing is reported.

Reports name lines of the data by markers (``places.py``), so that new lines in the examples do not change them. Edits
and reports name an intent by one of its groups, such as ``{acme-train/train/a01}`` or ``{dpus/acme}``, because each new
field changes the digest in its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from components.specs.reading.fixes import FixedFile
from components.specs.reading.loader import IMAGE_PINS
from components.specs.reading.problems import SpecError
from jacquard.machine import paths
from tests.support.data.workbench import Workbench

_UNIT = paths.ROOT / "tests" / "unit"
FOLDERS = (_UNIT / "specs", _UNIT / "rules")

_GROUP = re.compile(r"\{((?:dpus|[\w-]+/[\w-]+)/[\w-]+)\}")

Case = dict[str, Any]


def cases(folder: Path, pattern: str) -> list[Case]:
    """Return the cases of the files in ``folder`` and its rooms that match ``pattern``, by name of the file."""
    return [
        {**case, "corpus": path}
        for path in sorted(folder.rglob(pattern), key=lambda path: path.name)
        for case in yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    ]


def title(case: Case) -> str:
    """Return the test ID of ``case``."""
    return f"{case['rule']}: {case['name']}" if "rule" in case else case["name"]


def expected(bench: Workbench, case: Case) -> str:
    """Return the report of ``case`` with the lines in the files of ``bench``."""
    return bench.resolved(_with_intents(bench, case["report"])).removesuffix("\n")


def expected_fixes(bench: Workbench, case: Case) -> list[str]:
    """Return the expected remaining fixes of ``case``, with the lines in the files of ``bench``."""
    return [bench.resolved(fix) for fix in case.get("fixes", ())]


def fixes(found: Iterable[FixedFile]) -> list[str]:
    """Return the result of ``check --fix`` in the format of the corpus."""
    return [f"{fix.file}:{fix.line}  {fix.before} -> {fix.after}" for item in found for fix in item.fixes]


def apply_mistakes(bench: Workbench, case: Case) -> None:
    """Apply the invalid edits of ``case``."""
    add_column(bench, "dpu_bmc", case.get("dpu_bmcs", {}))
    add_column(bench, "port_guids", case.get("port_guids", {}))
    for file, text in case.get("files", {}).items():
        (bench.folder / file).write_text(text, encoding="utf-8")
    apply(bench, case["edits"])


def apply(bench: Workbench, steps: Iterable[list[str] | str]) -> None:
    """Run ``steps``: ``[file, text]`` writes a file, ``[file, old, new]`` edits one, and a string is a command."""
    edited = []
    for step in steps:
        match step if isinstance(step, list) else step.split():
            case ["allocate"]:
                bench.allocate()
            case ["promote", pool, version]:
                bench.promote(pool, version)
            case ["intent", group, field, value]:
                bench.intend(bench.load().image_pins.groups[group], field, yaml.safe_load(value))
            case [file, text]:
                (bench.folder / file).write_text(text, encoding="utf-8")
            case [file, old, new]:
                edited.append(file)
                bench.edit(file, _with_intents(bench, old), _with_intents(bench, new))
    if any(file.endswith(".lock.yaml") for file in edited):
        with suppress(SpecError):
            bench.sign()  # The test is about problems other than the digest.


def _with_intents(bench: Workbench, text: str) -> str:
    """Return ``text`` with group names replaced by the names of their intents."""
    if not _GROUP.search(text):
        return text
    lock = yaml.load((bench.folder / IMAGE_PINS).read_bytes(), Loader=yaml.CSafeLoader)
    return _GROUP.sub(lambda match: (lock["groups"] | lock["dpus"])[match[1]], text)


def add_column(bench: Workbench, column: str, values: dict[str, str]) -> None:
    """Add an optional column to the inventory, empty except for ``values`` by host."""
    if not values:
        return
    path = bench.folder / "inventory" / "hall-a.csv"
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    lines = [f"{header},{column}", *(f"{row},{values.get(row.split(',')[2], '')}" for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
