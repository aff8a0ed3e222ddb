"""Machines of other environments in the same folder, read without loading these environments completely."""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from components.specs.reading.loader import REGION, environments

_REHEARSAL = re.compile(r"^stage: *[\"']?rehearsal\b", re.MULTILINE)


def marks(folder: Path, besides: str, columns: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return the positions of machines of all environments in ``folder``, except ``besides`` and rehearsals.

    Keys are pairs of a column (one of ``columns``) and an upper-case value. Unreadable files are skipped, because the
    check of their environment reports them.
    """
    places: dict[tuple[str, str], str] = {}
    for name in environments(folder):
        if name != besides and not _is_rehearsal(folder / name):
            for path in sorted((folder / name / "inventory").glob("hall-*.csv")):
                place = f"{name} (../{name}/inventory/{path.name}"
                for line, row in _rows(path):
                    for column in columns:
                        for value in (row.get(column) or "").upper().split():
                            places.setdefault((column, value), f"{place}:{line})")
    return places


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
