"""Reads and writes CSV tables of other systems: any column order, unknown columns, any line ends, multi-line cells."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from components.specs.reading.problems import Problem, listed

_SEPARATOR = re.compile(r"(?:sep=)?[^,\n]*?([;\t|])[^,\n]*\n")
"""First line with another separator. ``sep=;`` is a line of Excel."""
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
Row = tuple[int, dict[str, str]]
"""Line number of the start of a row, and its cells by column."""


def read_table(file: str, text: str) -> tuple[list[Row], list[Problem]]:
    """Return the rows and errors of ``text``; empty lines are skipped.

    Problems never contain a row, because a cell may be a password.
    """
    if match := _SEPARATOR.match(text.lstrip()):
        rule = f"separates columns with {_SEPARATORS[match[1]]}; save the file as CSV with commas"
        return [], [Problem(file, 1, "", rule)]
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    lines: list[tuple[int, list[str]]] = []
    begin = 1
    try:
        for cells in reader:
            lines += [(begin, cells)] if any(cells) else []
            begin = reader.line_num + 1
    except csv.Error:
        return [], [Problem(file, begin, "", "is not a CSV row; close the quotes of this row, and double those inside")]
    if not lines:
        return [], [Problem(file, 0, "", "is empty; write a header and a row for each host")]
    (line, header), *rows = lines
    names = [name.strip() or f"column {number}" for number, name in enumerate(header, start=1)]
    duplicates = [name for name, count in Counter(names).items() if count > 1]
    if duplicates:
        return [], [Problem(file, line, "", f"has duplicate columns: {listed(duplicates)}; name each column once")]
    problems = [
        Problem(
            file, number, "", f"has {len(cells)} values, the header has {len(names)}; write a value for each column"
        )
        for number, cells in rows
        if len(cells) != len(names)
    ]
    good = [(number, dict(zip(names, cells, strict=True))) for number, cells in rows if len(cells) == len(names)]
    if not rows:
        problems.append(Problem(file, line, "", "has a header and no rows; write a row for each host"))
    return good, problems


def write_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with ``columns`` as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()
