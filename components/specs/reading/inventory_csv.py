"""Reads ``inventory/hall-<hall>.csv``: a strict header, one host per row, MAC addresses in quotes."""

import csv
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import Any

from pydantic import TypeAdapter, ValidationError

from components.specs.formats import MAC
from components.specs.hosts.inventory import HostSpec
from components.specs.placeholders import placeholder, unfilled
from components.specs.reading.positions import Place
from components.specs.reading.problems import MAX_PROBLEMS, Problem, listed, nearest, shortened, shown
from components.specs.reading.remedy import Remedy
from components.specs.reading.translate import mistakes

OPTIONAL_COLUMNS = ("dpu_bmc", "port_guids")
"""Optional columns. They follow the required columns in this order. An empty cell means that the host has no value."""
COLUMNS = tuple(name for name in HostSpec.model_fields if name not in {"hall", *OPTIONAL_COLUMNS})
ALL_COLUMNS = (*COLUMNS, *OPTIONAL_COLUMNS)
_HEADERS = {
    ",".join(columns): columns
    for count in range(len(OPTIONAL_COLUMNS) + 1)
    for columns in ((*COLUMNS, *more) for more in combinations(OPTIONAL_COLUMNS, count))
}
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs"}
"""Separators that spreadsheets use instead of commas in some locales."""
_FORMULA = ("=", "+", "-", "@")
"""Characters that spreadsheets interpret as the start of a formula."""
_FREE_TEXT = ("serial", "dpu_serial")
"""Columns whose own rule does not exclude formulas, and excludes placeholders."""
_EMPTY, _HEADER_AGAIN = "is empty", "repeats the header"
_REMOVABLE = {_EMPTY, _HEADER_AGAIN}
"""Reasons for which ``jacquard check --fix`` removes a line. Other lines contain text of users."""
_HOSTS = TypeAdapter(list[HostSpec])


@lru_cache(maxsize=16)
def read_inventory(file: str, text: str, hall: str) -> tuple[tuple[HostSpec, ...], Place, tuple[Problem, ...]]:
    """Return the hosts of ``hall`` in ``text``, their positions, and the problems of the file.

    The result is cached, because a comparison of two states of a region mostly reads the same hosts twice.
    """
    reader = InventoryReader(file, hall)
    return tuple(reader.read(text)), reader.place, tuple(reader.problems)


class InventoryReader:
    """Reader of one file. `read` sets ``problems`` to the problems of the file and ``place`` to the line of each host.

    The keys of ``place`` are host names (the first host if a name is duplicate) and row numbers.
    """

    def __init__(self, file: str, hall: str) -> None:
        self.file = file
        self.hall = hall
        self.problems: list[Problem] = []
        self.place = Place(1)
        self._columns = COLUMNS

    def read(self, text: str) -> list[HostSpec]:
        """Return the hosts of ``text`` in the order of rows; an empty list if a value is invalid."""
        if not text.strip():
            header_text = f"restore the file with git checkout, or write the header {','.join(COLUMNS)}"
            self._problem(1, "", f"is empty; {header_text}")
            return []
        header, *lines = text.removesuffix("\n").split("\n")
        if header not in _HEADERS:
            self._problem(1, "", _header_text(header))
            return []
        self._columns = _HEADERS[header]
        rows: dict[int, dict[str, Any]] = {}
        for number, (line, cells) in enumerate(zip(lines, _cells(lines), strict=True), start=2):
            if len(self.problems) >= MAX_PROBLEMS:
                self._problem(number, "", f"is not read after {MAX_PROBLEMS:,} problems; fix the problems above first")
                break
            row = self._row(number, line, cells)
            if row:
                rows[number] = row
        return self._hosts(rows)

    def _row(self, number: int, line: str, cells: list[str] | str) -> dict[str, Any] | None:
        """Return one row as input for the model; None if the row cannot be validated."""
        columns = self._columns
        if isinstance(cells, str):
            self._problem(number, "", cells)
            return None
        if reason := self._no_host(line, cells):
            remedy = Remedy((number,), None) if reason in _REMOVABLE else None
            self._problem(number, "", f"{reason}; remove the line", remedy)
            return None
        if len(cells) != len(columns):
            text = f"has {len(cells)} values, the header has {len(columns)} ({','.join(columns)}); write one for each"
            self._problem(number, "", text)
            return None
        values = zip(columns, cells, strict=True)
        row: dict[str, Any] = {column: cell for column, cell in values if cell or column not in OPTIONAL_COLUMNS}
        row["hall"] = self.hall
        for column in _FREE_TEXT:
            if row[column].startswith(_FORMULA):
                text = f"starts like a spreadsheet formula (got {shown(row[column])}); remove '{row[column][0]}'"
                self._problem(number, column, text)
        mac, slot = row["boot_mac"], row["slot"]
        if f'"{mac}"' not in line and MAC.fullmatch(mac):  # Other forms are reported together with the missing quotes.
            remedy = Remedy((number, "boot_mac"), f'"{mac}"')
            self._problem(number, "boot_mac", f'needs quotes; write "{mac}"', remedy)
        if placeholder(line) and self._has_placeholder(number, row):
            return None
        if not (slot.isascii() and slot.isdecimal()):
            self._problem(number, "slot", f"must be a whole number (got {shown(slot)})")
            return None
        row["slot"] = int(slot)
        return row

    def _no_host(self, line: str, cells: list[str]) -> str:
        """Return why a line has no host of its own; empty if it has one."""
        if not any(map(str.strip, cells)):
            return _EMPTY
        if tuple(cells) == self._columns:
            return _HEADER_AGAIN
        return "is a comment, which CSV files cannot contain" if line.startswith("#") else ""

    def _has_placeholder(self, number: int, row: dict[str, Any]) -> bool:
        """Report placeholders in ``row`` that were not replaced, and return whether there are any."""
        words = {name: word for name, cell in row.items() if name not in _FREE_TEXT and (word := placeholder(cell))}
        for column, word in words.items():
            self._problem(number, column, unfilled(word))
        return bool(words)

    def _hosts(self, rows: dict[int, dict[str, Any]]) -> list[HostSpec]:
        """Return the hosts of ``rows``, validated in one call. Single rows are validated only to locate problems."""
        try:
            hosts = _HOSTS.validate_python(list(rows.values()))
        except ValidationError:
            for number, row in rows.items():
                self._validate(number, row)
            return []
        first: dict[tuple[Any, ...], int] = {}
        for number, host in zip(rows, hosts, strict=True):
            line = first.setdefault(tuple(rows[number].values()), number)
            if line != number:
                self._problem(number, "", f"repeats line {line}; remove the line")
            here = self.place.inner[number] = Place(number)
            self.place.inner.setdefault(host.host, here)
        return hosts

    def _validate(self, number: int, row: dict[str, Any]) -> None:
        if len(self.problems) >= MAX_PROBLEMS:
            return
        try:
            HostSpec.model_validate(row)
        except ValidationError as error:
            for mistake in mistakes(error, HostSpec, row):
                column = str(mistake.path[0])
                remedy = mistake.remedy and Remedy((number, column), mistake.remedy.text)
                self._problem(number, column, mistake.text, remedy)

    def _problem(self, line: int, column: str, text: str, remedy: Remedy | None = None) -> None:
        self.problems.append(Problem(self.file, line, column, text, remedy=remedy))


def _cells(lines: list[str]) -> Iterator[list[str] | str]:
    """Yield the cells of each line, or a description of its quoting error.

    The CSV reader joins lines after an unclosed quote. If the numbers of rows and lines are equal, all quotes are
    closed.
    """
    try:
        rows = list(csv.reader(lines, strict=True))
    except csv.Error:
        rows = []
    if len(rows) == len(lines):
        yield from rows
        return
    for line in lines:
        try:
            yield next(csv.reader([line], strict=True))
        except csv.Error as error:
            unclosed = "end of data" in str(error)
            fault = "is not closed; close it" if unclosed else "ends too early; put whole values in quotes"
            yield f"has a quote that {fault}"


def _header_text(header: str) -> str:
    for mark, name in _OTHER_SEPARATORS.items():
        if header.replace(mark, ",") in _HEADERS:
            return f"separates columns with {name}; save the file as CSV with commas"
    got = header.split(",")
    plain = ",".join(name.strip().lower() for name in got)
    if plain in _HEADERS:
        return f"the header has spaces or capital letters; write {plain}"
    if not {name.strip().lower() for name in got} & {*COLUMNS}:
        return f"the first line must be the header; write {','.join(COLUMNS)} above it"
    missing = [name for name in COLUMNS if name not in got]
    unknown = [shortened(name) for name in got if name not in ALL_COLUMNS]
    twice = [name for name, count in Counter(got).items() if count > 1]
    faults = {"missing": missing, "not a column": unknown, "duplicate": twice}
    detail = "; ".join(f"{fault}: {listed(names)}" for fault, names in faults.items() if names) or "in another order"
    more = () if missing else tuple(column for column in OPTIONAL_COLUMNS if column in got or nearest(column, unknown))
    return f"the header is wrong ({detail}); write {','.join((*COLUMNS, *more))}"
