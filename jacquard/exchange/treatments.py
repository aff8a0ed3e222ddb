"""Treatment of the fields of foreign formats that are not columns (``treatments.yaml``)."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field

from components.specs.base import Spec, Text
from components.specs.reading.problems import Problem, listed, shown
from jacquard.exchange.records import Record

FILE = Path(__file__).with_suffix(".yaml")
_MAX_LISTED = 12
_INDEX = re.compile(r"\[[0-9]+\]")
_UNKNOWN = "not fields of this format; if a column needs the value, use --map KEY=COLUMN"
_KEPT = "hosts that are already in the inventory keep their settings"


class Treatment(Spec):
    """Treatment of ``fields``. Exactly one of ``refuse``, ``single``, ``report`` and ``ignore`` is its reason."""

    fields: tuple[Text, ...]
    """Fields with this treatment, including fields below them. ``[]`` stands for any entry of a list."""
    unless: tuple[str, ...] = ()
    """Values in lower case with the same meaning as in Jacquard."""
    same_as: Literal["architecture"] | None = None
    """Property of the instance type with the same meaning."""
    refuse: str | None = None
    """Reason to reject a new host."""
    single: str | None = None
    """Reason to reject rows with different values."""
    report: str | None = None
    """Reason not to use the value."""
    ignore: str | None = None
    """Reason that the value has no effect on a machine."""
    remedy: str | None = None
    """Remedy of ``refuse`` and ``single``."""
    source: str = Field(pattern=r"^[-A-Za-z0-9]+/[-A-Za-z0-9]+:\S+$")
    """Source of the meaning of the fields, ``owner/repository:path``."""

    def permits(self, value: str, properties: Mapping[str, str]) -> bool:
        """Return whether ``value`` has the same meaning in Jacquard; unknown properties permit all values."""
        return value in self.unless or (self.same_as is not None and properties.get(self.same_as, value) == value)


@cache
def treatments(name: str) -> Mapping[str, Treatment]:
    """Return the treatment of each field of format ``name``."""
    rows = map(Treatment.model_validate, yaml.safe_load(FILE.read_text(encoding="utf-8"))[name])
    return {field: row for row in rows for field in row.fields}


def covering(key: str, fields: Container[str]) -> str | None:
    """Return the longest of ``fields`` that is ``key`` or above it."""
    paths = (key[:at] for at in range(len(key), 0, -1) if at == len(key) or key[at] in ".[")
    return next((path for path in paths if path in fields), None)


class Facts:
    """Values in the records of one file that are not columns: rejected in ``problems``, or reported by `notes`."""

    def __init__(self, file: str, name: str, used: Iterable[str]) -> None:
        """Prepare reports about ``file`` of format ``name``, except of ``used`` keys: columns and selected values."""
        self.problems: list[Problem] = []
        self._file = file
        self._table = treatments(name)
        self._used = {_INDEX.sub("[]", key) for key in used}
        self._covering: dict[str, str] = {}
        self._first: dict[str, str] = {}
        self._rows: dict[str, dict[str, set[tuple[str, int]]]] = {}

    def add(self, item: Record, properties: Mapping[str, str], *, new: bool) -> None:
        """Add the values of ``item``.

        ``properties`` are those of the instance type. ``new`` is true for a host that is not in the inventory.
        """
        for field in dict.fromkeys(map(self._field, item.keys())):
            row, value = self._table.get(field), item.fact(field)
            if field in self._used or (row and (row.ignore or row.permits(str(value).lower(), properties))):
                continue
            if row and row.single:
                if self._first.setdefault(field, str(value)) != str(value):
                    text = f"other rows have {shown(self._first[field])}, and {row.single}"
                    self._problem(item, field, text, row.remedy)
            elif row and row.refuse and new:
                self._problem(item, field, row.refuse, row.remedy)
            else:
                reason = _UNKNOWN if row is None else row.report or _KEPT
                self._rows.setdefault(reason, {}).setdefault(field, set()).add((item.page, item.line))

    def notes(self) -> Iterator[str]:
        """Yield the fields that are not used, by reason."""
        for reason, fields in self._rows.items():
            count = len(set().union(*fields.values()))
            rows = "row" if count == 1 else "rows"
            yield f"{listed(fields, _MAX_LISTED)} of {count} {rows} not used: {reason}"

    def _field(self, key: str) -> str:
        """Return the field that covers ``key``; ``key`` itself if it is unknown."""
        key = _INDEX.sub("[]", key)
        if key not in self._covering:
            self._covering[key] = covering(key, {*self._table, *self._used}) or key
        return self._covering[key]

    def _problem(self, item: Record, field: str, reason: str, remedy: str | None) -> None:
        text = f"{reason} (got {shown(item.fact(field))}); {remedy}"
        self.problems.append(Problem(item.page or self._file, item.line, field, text))
