"""Reads ``inventory/hall-<hall>.csv``: a strict header, one host a row, MAC addresses in quotes."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from pydantic import ValidationError

from components.specs.inventory import HostSpec
from components.specs.positions import Place
from components.specs.problems import Problem, listed
from components.specs.translate import mistakes

COLUMNS = tuple(name for name in HostSpec.model_fields if name != "hall")
_HEADER = ",".join(COLUMNS)


class InventoryReader:
    """Reads one file. Afterwards ``problems`` holds what is wrong with it and ``place`` the line of each host.

    A host is found by its name; when two share one, the first. Rows are found by their number too.
    """

    def __init__(self, file: str, hall: str) -> None:
        self.file = file
        self.hall = hall
        self.problems: list[Problem] = []
        self.place = Place(1)

    def read(self, text: str) -> list[HostSpec]:
        """Return the hosts of ``text`` in its order."""
        lines = text.splitlines()
        if not lines or lines[0] != _HEADER:
            self._problem(1, "", self._header_text(lines[0] if lines else ""))
            return []
        return [host for number, line in enumerate(lines[1:], start=2) for host in self._row(number, line)]

    def _row(self, number: int, line: str) -> Iterator[HostSpec]:
        if not line.strip():
            self._problem(number, "", "is empty; remove the line")
            return
        try:
            [cells] = csv.reader([line], strict=True)
        except (csv.Error, ValueError):
            self._problem(number, "", "has a quote that is not closed; close it")
            return
        if len(cells) != len(COLUMNS):
            self._problem(number, "", f"has {len(cells)} values, the header has {len(COLUMNS)} ({_HEADER})")
            return
        row: dict[str, object] = dict(zip(COLUMNS, cells, strict=True))
        mac = row["boot_mac"]
        if f'"{mac}"' not in line:
            self._problem(number, "boot_mac", f'stands without quotes; write "{mac}"')
        if not str(row["slot"]).isdecimal():
            self._problem(number, "slot", f"must be a whole number (got '{row['slot']}')")
            return
        row |= {"slot": int(str(row["slot"])), "hall": self.hall}
        try:
            host = HostSpec.model_validate(row)
        except ValidationError as error:
            for mistake in mistakes(error, HostSpec, row):
                self._problem(number, str(mistake.path[0]), mistake.text)
            return
        here = self.place.inner[number] = Place(number)
        self.place.inner.setdefault(host.host, here)
        yield host

    def _header_text(self, header: str) -> str:
        got = header.split(",")
        missing = [name for name in COLUMNS if name not in got]
        unknown = [name for name in got if name not in COLUMNS]
        detail = f" (missing: {listed(missing)}; not a column: {listed(unknown)})" if missing or unknown else ""
        return f"the first line names the columns{detail}; write {_HEADER}"

    def _problem(self, line: int, column: str, text: str) -> None:
        self.problems.append(Problem(self.file, line, column, text))
