"""Machines and regions of other environments in a folder, read without loading these environments completely."""

import csv
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from pathlib import Path

from components.specs.reading.files import read_text
from components.specs.reading.loader import REGION, environments
from components.specs.reading.parsing import parsed
from components.specs.reading.positions import Positions
from components.specs.region.region import RegionSpec

_PARTS = bytes.maketrans(bytes(range(ord("a"), ord("z") + 1)) + b',"', bytes(range(ord("A"), ord("Z") + 1)) + b"  ")
"""Upper case, with spaces instead of separators. A table of bytes is much faster than one of characters."""
_REHEARSAL = re.compile(r"^stage: *[\"']?rehearsal\b", re.MULTILINE)


def marks(folder: Path, besides: str, sought: Mapping[str, Collection[str]]) -> dict[tuple[str, str], str]:
    """Return the positions of ``sought`` in all environments in ``folder``, except ``besides`` and rehearsals.

    ``sought`` are upper-case values by column; keys of the result are pairs of both. Unreadable files are skipped,
    because the check of their environment reports them.
    """
    places: dict[tuple[str, str], str] = {}
    for name in environments(folder):
        if name != besides and not _is_rehearsal(folder / name):
            for path in sorted((folder / name / "inventory").glob("hall-*.csv")):
                place = f"{name} (../{name}/inventory/{path.name}"
                for line, column, value in _cells(path, sought):
                    places.setdefault((column, value), f"{place}:{line})")
    return places


def regions(folder: Path, besides: str) -> list[tuple[str, RegionSpec, Positions]]:
    """Return name, ``region.yaml`` and its positions of all valid environments in ``folder``, except ``besides``."""
    known = []
    for name in environments(folder):
        text, problem = (None, None) if name == besides else read_text(folder / name / REGION, REGION, folder)
        if text is not None and not problem:
            spec, place, _ = parsed(REGION, text, RegionSpec)
            if isinstance(spec, RegionSpec) and spec.region == name:
                known.append((name, spec, Positions({REGION: place})))
    return known


def _is_rehearsal(folder: Path) -> bool:
    try:
        return bool(_REHEARSAL.search((folder / REGION).read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return False


def _cells(path: Path, sought: Mapping[str, Collection[str]]) -> Iterator[tuple[int, str, str]]:
    """Yield line, column and value of the ``sought`` values in a table. A cell may contain several values."""
    try:
        content = path.read_bytes()
        values = " ".join(chain.from_iterable(sought.values()))
        if content.isascii() and {*_parts(values.encode())}.isdisjoint(_parts(content)):
            return  # Almost all tables contain no such value, and the loop below takes much longer.
        rows = csv.reader(content.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n").split("\n"))
        columns = [(index, column) for index, column in enumerate(next(rows, ())) if column in sought]
        for row in rows:
            for index, column in columns:
                for value in row[index].upper().split() if index < len(row) else ():
                    if value in sought[column]:
                        yield rows.line_num, column, value
    except (OSError, csv.Error):
        return


def _parts(content: bytes) -> list[bytes]:
    return content.translate(_PARTS).split()
