"""Converts records of a foreign file to rows of an inventory, and reports all problems of each row."""

import re
from collections.abc import Iterator, Mapping, Sequence

from components.specs.hosts.bmc import parse_bmc
from components.specs.reading.inventory_csv import ALL_COLUMNS, OPTIONAL_COLUMNS
from components.specs.reading.inventory_text import PORT_GUIDS
from components.specs.reading.problems import Problem, listed, nearest, shown
from components.specs.struct import Struct, field
from jacquard.exchange.addresses import host_of, mac, with_port
from jacquard.exchange.choices import HALL, MAX_LISTED, Choices, filled
from jacquard.exchange.formats import Source
from jacquard.exchange.records import Record, alike, whole
from jacquard.exchange.renames import example

_BETWEEN = re.compile(r"[\s,;|]+")
_SERIAL = re.compile(r"(?=.*[0-9])[A-Za-z0-9-]{6,}")
"""Serial number in a list of serial numbers."""
_MAX_PORT = 65535


class Row(Struct):
    """A new inventory row, and the origin of each value."""

    file: str
    line: int
    cells: Mapping[str, str]
    origins: Mapping[str, str] = field(default_factory=dict)
    """Key of the foreign file to edit, by column."""


class Converter:
    """Converts the records of one file to rows, and collects the problems of the records in ``problems``."""

    def __init__(
        self, file: str, source: Source, choices: Choices, known: Mapping[str, Mapping[str, str]], types: Sequence[str]
    ) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self._source = source
        self._choices = choices
        self._known = known
        self._types = types
        self._keys = {column: tuple(source.keys.get(column, ())) for column in (*ALL_COLUMNS, HALL)}
        for key, column in choices.maps.items():
            self._keys[column] = (key,)
        self._racks: dict[str, str] = {}

    @property
    def used(self) -> tuple[str, ...]:
        """Return the keys whose values become columns or select rows."""
        keys = (key for keys in self._keys.values() for key in keys)
        return (*keys, *self._source.addresses, *self._source.ports, *self._choices.only)

    def hall(self, item: Record) -> str | None:
        """Return the hall of ``item``; None if ``item`` has no hall, or if the rows are already selected by hall."""
        keys = self._keys[HALL]
        return None if any(key in self._choices.only for key in keys) else self._first(item, keys)[1]

    def row(self, item: Record) -> Row:
        """Return ``item`` as a row; a known host keeps the values that the file does not contain."""
        values = {column: self._first(item, self._keys[column]) for column in ALL_COLUMNS}
        cells = {column: self._cleaned(column, value) for column, (_, value) in values.items() if value}
        if guids := next((" ".join(item.values(key)) for key in self._keys[PORT_GUIDS]), ""):
            cells[PORT_GUIDS] = guids
        origins = {column: key for column, (key, value) in values.items() if value}
        known = self._known.get(cells.get("host", ""), {})
        self._set_bmc(item, cells, origins, known.get("bmc", ""))
        for column in ALL_COLUMNS:
            self._check_values(item, column)
        if "rack" in cells:
            cells["rack"] = self._rack(item, origins["rack"], cells["rack"])
        if "instance_type" in cells:
            cells["instance_type"] = self._instance_type(item, origins["instance_type"], cells["instance_type"])
        cells = {**known, **cells}
        unset = {column: text for column, text in self._choices.fixed.items() if not cells.get(column)}
        cells |= {column: filled(text, {**unset, **cells}) for column, text in unset.items()}
        for column in ALL_COLUMNS:
            reported = any(len(item.values(key)) > 1 for key in self._keys[column])
            if not cells.get(column) and column not in OPTIONAL_COLUMNS and not reported:
                self._problem(item, column, self._missing(item, column))
        return Row(
            file=item.page or self.file,
            line=item.line,
            cells={column: cells.get(column, "") for column in ALL_COLUMNS},
            origins=origins,
        )

    def _first(self, item: Record, keys: Sequence[str]) -> tuple[str, str | None]:
        return next(((key, value) for key in keys if (value := item.value(key))), ("", None))

    def _check_values(self, item: Record, column: str) -> None:
        """Report keys with several values, and keys of one column with different values."""
        keys = self._keys[column]
        for key in keys:
            values = item.values(key)
            if column == "dpu_serial" and len(values) == 1:
                values = serials(values[0])
            if len(values) > 1 and column != PORT_GUIDS:
                choice = "" if item.value(key) else f", or choose it with --map {shown(f'{key}[0]={column}')}"
                text = f"has {len(values)} values in {key} ({listed(values)}), and a host has one; keep one of them"
                self._problem(item, column, text + choice)
        found = {key: self._cleaned(column, value) for key in keys if (value := item.value(key))}
        if len({*found.values()}) > 1:
            (first, here), *others = found.items()
            there, value = next((key, value) for key, value in others if value != here)
            text = f"is {shown(here)} in {first} and {shown(value)} in {there}; write the same value in both"
            self._problem(item, column, f"{text}, or remove one")

    def _rack(self, item: Record, key: str, name: str) -> str:
        rack = self._choices.racks.rack(name)
        if option := example(rack):
            rule = f"{shown(name)} in {key} is not a rack name of lower-case letters, digits and '-'"
            self._problem(item, "rack", f"{rule}; map it with {option}")
            return rack.lower()
        if self._racks.setdefault(rack, name) != name:
            text = f"{shown(name)} in {key} and {shown(self._racks[rack])} are both rack {shown(rack)}"
            self._problem(item, "rack", f"{text}; map them to different racks with --rack")
        return rack

    def _cleaned(self, column: str, value: str) -> str:
        match column:
            case "boot_mac":
                return mac(value)
            case "slot":
                return whole(value)
            case "dpu_bmc":
                return host_of(value)
        return value

    def _set_bmc(self, item: Record, cells: dict[str, str], origins: dict[str, str], known: str) -> None:
        """Set the BMC in Metal3's form, from the BMC's address if the file has no URL."""
        key, address = self._first(item, self._source.addresses)
        if "bmc" not in cells and address:
            cells["bmc"], origins["bmc"] = address, key
        elif address and host_of(address) != host_of(cells["bmc"]):
            there, here = shown(host_of(address)), shown(host_of(cells["bmc"]))
            text = f"is {there} in {key} and {here} in {origins['bmc']}; write the same address in both, or remove one"
            self._problem(item, "bmc", text)
        bmc = self._with_port(item, origins.get("bmc", ""), cells.get("bmc", ""))
        if parse_bmc(bmc).has_login:
            text = (
                f"{origins['bmc']} contains credentials, not shown here; remove them and store them in the Secret of"
                " bmc_secret"
            )
            self._problem(item, "bmc", text)
            bmc = parse_bmc(bmc).without_login
        if bmc and "://" not in bmc:
            same = self._choices.driver is None and host_of(known) == host_of(bmc)
            port = parse_bmc(bmc).written_port
            if not same:
                bmc = self._choices.url(bmc)
            else:
                bmc = known if port in {None, parse_bmc(known).port} else with_port(known, port)
        if bmc:
            cells["bmc"] = bmc

    def _with_port(self, item: Record, key: str, bmc: str) -> str:
        """Return ``bmc`` with the port that the file has in a separate field."""
        port_key, text = self._first(item, self._source.ports)
        if not (bmc and text):
            return bmc
        port = int(text) if text.isascii() and text.isdecimal() else 0
        address = parse_bmc(bmc)
        if not 1 <= port <= _MAX_PORT:
            self._problem(item, "bmc", f"{port_key} must be a port up to {_MAX_PORT} (got {shown(text)})")
        elif "://" not in bmc and address.written_port is None:
            return with_port(bmc, port)
        elif port not in {address.written_port, None if "://" not in bmc else address.port}:
            there = f"port {address.written_port}" if address.written_port else "no port"
            rule = f"has {there} in {key} and port {port} in {port_key}; write the same port in both, or remove one"
            self._problem(item, "bmc", rule)
        return bmc

    def _instance_type(self, item: Record, key: str, name: str) -> str:
        kind = self._choices.types.get(name, name)
        if kind not in self._types:
            near = nearest(kind, self._types)
            remedy = f"did you mean '{near}'? then" if near else "map it with"
            option = shown(f"{name}={near or 'INSTANCE_TYPE'}")
            rule = f"{shown(name)} in {key} is not an instance type of the catalogue ({listed(self._types)})"
            self._problem(item, "instance_type", f"{rule}; {remedy} --type {option}")
        return kind

    def _missing(self, item: Record, column: str) -> str:
        sources = listed(self._keys[column] or ("this format",)) if column != "bmc" else self._bmc_keys()
        keys = list(item.keys())
        if near := alike(keys, self._keys[column]):
            wrong, right = near
            option = f"--map {shown(f'{wrong}={column}')}"
            return f"has no value in {right}, but in {wrong}; rename it to {right}, or use {option}"
        has = listed(keys[:MAX_LISTED]) + (" and more" if len(keys) > MAX_LISTED else "")
        rule = f"has no value in {sources} (the row has {has})"
        return f"{rule}; add it there, map another key with --map KEY={column}, or set it with --set {column}=VALUE"

    def _bmc_keys(self) -> str:
        return listed(dict.fromkeys((*self._keys["bmc"], *self._source.addresses)))

    def _problem(self, item: Record, column: str, text: str) -> None:
        self.problems.append(Problem(item.page or self.file, item.line, column, text))


def serials(text: str) -> list[str]:
    """Return the serial numbers in ``text``, which are separated by blanks or punctuation; otherwise ``text``."""
    parts = _BETWEEN.split(text)
    return parts if all(map(_SERIAL.fullmatch, parts)) else [text]


def unprintable(rows: Sequence[Row]) -> Iterator[Problem]:
    """Report values with characters that an inventory line cannot contain."""
    for row in rows:
        for column, value in row.cells.items():
            if not value.isprintable():
                text = f"contains a line break or another unprintable character (got {shown(value)}); remove it"
                yield Problem(row.file, row.line, row.origins.get(column, column), text)
