"""What stands beside an environment in the same folder: machines of other regions, read without loading these whole."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from components.specs.reading.loader import REGION, environments

_REHEARSAL = re.compile(r"^stage: *[\"']?rehearsal\b", re.MULTILINE)


def marks(folder: Path, besides: str, columns: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return where machines of all environments of ``folder`` stand, but of ``besides`` and of rehearsals.

    A machine is found by each of ``columns`` and each value there, in capital letters. Files that cannot be
    read are left out: their own check tells what is wrong with them.
    """
    found: dict[tuple[str, str], str] = {}
    for name in environments(folder):
        if name != besides and not _is_rehearsal(folder / name):
            for path in sorted((folder / name / "inventory").glob("hall-*.csv")):
                place = f"{name} (../{name}/inventory/{path.name}"
                for line, row in _rows(path):
                    for column in columns:
                        for given in (row.get(column) or "").upper().split():
                            found.setdefault((column, given), f"{place}:{line})")
    return found


def _is_rehearsal(folder: Path) -> bool:
    try:
        return bool(_REHEARSAL.search((folder / REGION).read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return False


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        yield from enumerate(csv.DictReader(lines), start=2)
    except (OSError, csv.Error):
        return
