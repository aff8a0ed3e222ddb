"""Merges the hosts of a foreign file into the inventory of a hall, and reports the changes or all problems."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from components.lookups.pools import inventory_file
from components.render.hosts.bare_metal_hosts import MACHINES
from components.rules.hosts import inventory as rules
from components.rules.network import port_guids
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.reading.inventory_csv import ALL_COLUMNS, InventoryReader
from components.specs.reading.inventory_text import cells, inventory_text
from components.specs.reading.problems import Problem, SpecError, listed, suggestion
from components.specs.struct import Struct
from jacquard.exchange.choices import MAX_LISTED, Choices, wrong_choices
from jacquard.exchange.conversion import Converter, Row, unprintable
from jacquard.exchange.file_kinds import other_text
from jacquard.exchange.formats import Source
from jacquard.exchange.records import Record, alike, known_keys
from jacquard.exchange.treatments import Facts, covering, treatments

Cells = Mapping[str, str]
_Place = tuple[str, int, str]
"""File, line and column of a value."""
_RULES = (
    rules.host_duplicates,
    rules.halls,
    rules.racks,
    rules.rack_sizes,
    rules.bmc_addresses,
    rules.bmc_logins,
    rules.mac_addresses,
    port_guids.all_ports,
    port_guids.one_port,
    port_guids.no_function,
)


class Change(Struct):
    """A host with a changed row: old and new value by column."""

    host: str
    columns: Mapping[str, tuple[str, str]]


class Import(Struct):
    """Result of an import."""

    file: str
    """Inventory file of the hall, relative to the environment."""
    text: str
    """Complete text of that file: existing rows in their order, then new rows."""
    added: tuple[HostSpec, ...]
    changed: tuple[Change, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    """Hosts that are not in the foreign file and stay in the inventory."""
    unchanged: int
    notes: tuple[str, ...]
    """Values and rows that were ignored intentionally."""


class Hosts(Struct):
    """Records of the hosts of another system."""

    origin: str
    """File, or address of an API."""
    records: Sequence[Record]
    problems: Sequence[Problem] = ()


def read_hosts(file: str, content: str, source: Source) -> Hosts:
    """Return the hosts in the ``content`` of a file."""
    if rule := other_text(content):
        return Hosts(origin=file, records=(), problems=[Problem(file, 0, "", rule)])
    records, problems = source.read(file, content)
    return Hosts(origin=file, records=records, problems=problems)


def merge(
    environment: Environment, hall: str, hosts: Hosts, source: Source, choices: Choices, *, prune: bool
) -> Import:
    """Return the inventory of ``hall`` after an import of ``hosts``.

    Existing hosts are matched by name. Hosts that are not in ``hosts`` stay, unless ``prune`` is set.

    Raises:
        SpecError: with all problems of the hosts, or of the region after the import.
    """
    file, records, problems = hosts.origin, hosts.records, [*hosts.problems]
    if not problems and not choices.maps:
        problems += _other_format(file, source, records)
    kinds = [kind.name for kind in environment.instance_types.instance_types]
    problems += [*_unknown_hall(environment, hall), *wrong_choices(choices, records, kinds)]
    if problems:
        raise SpecError(environment.name, problems)
    old = {host.host: cells(host) for host in environment.hosts if host.hall == hall}
    converter = Converter(file, source, choices, old, kinds)
    wanted = [item for item in records if choices.counts(item)]
    halls = [converter.hall(item) for item in wanted]
    here = [item for item, its in zip(wanted, halls, strict=True) if its in {None, hall}]
    if not here:
        text = _no_rows(hall, converter, wanted) if records else "has no entries; export it again"
        raise SpecError(environment.name, [Problem(file, 0, "", text)])
    new = [converter.row(item) for item in here]
    facts = Facts(file, source.name, converter.used)
    for item, row in zip(here, new, strict=True):
        kind = environment.instance_types.by_name.get(row.cells["instance_type"])
        facts.add(
            item,
            {} if kind is None else {"architecture": MACHINES[kind.architecture]},
            new=row.cells["host"] not in old,
        )
    problems = converter.problems
    draft = _Draft(environment, hall, new, old, prune=prune)
    problems += [*unprintable(new)] or draft.problems(
        {(problem.file, problem.line, problem.path) for problem in converter.problems}
    )
    problems += facts.problems
    if problems:
        raise SpecError(environment.name, problems)
    notes = (*_withheld(here), *facts.notes(), *_left_out(len(records) - len(wanted), "excluded by --only"))
    others = Counter(its for its in halls if its not in {None, hall})
    notes += _left_out(others.total(), f"of {'halls' if len(others) > 1 else 'hall'} {listed(others)}")
    return draft.outcome(notes)


class _Draft:
    """The inventory after the import."""

    def __init__(
        self, environment: Environment, hall: str, new: Sequence[Row], old: Mapping[str, Cells], *, prune: bool
    ) -> None:
        self._environment = environment
        self._hall = hall
        self._old = old
        self.file = inventory_file(hall)
        by_host: dict[str, Row] = {}
        twice = [row for row in new if by_host.setdefault(row.cells["host"], row) is not row]
        gone = [host for host in old if host not in by_host]
        self._removed, self._kept = (gone, []) if prune else ([], gone)
        stay = [by_host[host] if host in by_host else self._known(host) for host in old if host in by_host or not prune]
        self._rows = [*stay, *(row for host, row in by_host.items() if host not in old), *twice]
        # The converter reports the missing slot of a row; the other columns of the row are still checked.
        self.text = inventory_text([{**row.cells, "slot": row.cells["slot"] or "1"} for row in self._rows])
        self._reader = InventoryReader(self.file, hall)
        self._hosts = self._reader.read(self.text)

    def problems(self, reported: set[_Place]) -> list[Problem]:
        """Return the problems, located in the foreign file, except those already ``reported``."""
        if reported or self._reader.problems:
            located = [self._located(problem) for problem in self._reader.problems]
            return [problem for place, problem in located if place not in reported]
        return [self._located(problem)[1] for problem in self._cross_checked()]

    def outcome(self, notes: tuple[str, ...]) -> Import:
        """Return the changes."""
        now = {host.host: cells(host) for host in self._hosts}
        changes = {host: _columns(before, now[host]) for host, before in self._old.items() if host in now}
        return Import(
            file=self.file,
            text=self.text,
            added=tuple(host for host in self._hosts if host.host not in self._old),
            changed=tuple(Change(host=host, columns=columns) for host, columns in changes.items() if columns),
            removed=tuple(self._removed),
            kept=tuple(self._kept),
            unchanged=sum(not columns for columns in changes.values()) - len(self._kept),
            notes=notes,
        )

    def _known(self, host: str) -> Row:
        return Row(
            file=self.file, line=self._environment.positions.line(self.file, (host,)), cells=self._old[host], origins={}
        )

    def _cross_checked(self) -> Iterator[Problem]:
        before = self._environment
        hosts = [host for host in before.hosts if host.hall != self._hall]
        positions = before.positions.replaced(self.file, self._reader.place)
        after = before.model_copy(update={"hosts": (*hosts, *self._hosts), "positions": positions})
        for rule in _RULES:
            yield from rule(after)

    def _located(self, problem: Problem) -> tuple[_Place, Problem]:
        """Return the place of ``problem`` in the file with the row, and the problem with that location."""
        row = self._row(problem.line) if problem.file == self.file else None
        text = re.sub(rf"{re.escape(self.file)}:([0-9]+)", self._place, problem.text)
        if row is None:
            return ("", 0, ""), Problem(problem.file, problem.line, problem.path, text, problem.rule)
        path = row.origins.get(problem.path, problem.path)
        return (row.file, row.line, problem.path), Problem(row.file, row.line, path, text, problem.rule)

    def _place(self, match: re.Match[str]) -> str:
        row = self._row(int(match[1]))
        return Problem(row.file, row.line, "", "").place if row else match[0]

    def _row(self, line: int) -> Row | None:
        index = line - 2  # the header is line 1
        return self._rows[index] if 0 <= index < len(self._rows) else None


def _columns(before: Cells, after: Cells) -> dict[str, tuple[str, str]]:
    return {column: (before[column], after[column]) for column in ALL_COLUMNS if before[column] != after[column]}


def _unknown_hall(environment: Environment, hall: str) -> Iterator[Problem]:
    halls = [name for site in environment.region.sites for name in site.halls]
    if hall not in halls:
        near = suggestion(hall, halls) or "; add it to sites in region.yaml first"
        yield Problem(f"--hall {hall}", 0, "", f"is not a hall of {environment.name} ({listed(halls)}){near}")


def _other_format(file: str, source: Source, records: Sequence[Record]) -> Iterator[Problem]:
    """Report a file without any field of ``source``."""
    keys = known_keys(records)
    known = {key for keys in source.keys.values() for key in keys}
    fields = {*known, *source.addresses, *treatments(source.name)}
    if keys and not any(covering(key, fields) for key in keys) and not alike(keys, known):
        rule = f"has no field of {source.name} (its fields are {listed(keys, MAX_LISTED)})"
        yield Problem(file, 0, "", f"{rule}; choose another FORMAT, or name the columns with --map KEY=COLUMN")


def _no_rows(hall: str, converter: Converter, wanted: Sequence[Record]) -> str:
    halls = dict.fromkeys(str(converter.hall(item)) for item in wanted)
    if not wanted:
        return "has no row that matches --only; choose another value"
    rule = f"has no host of hall {hall} (its halls are {listed(halls)})"
    return f"{rule}; choose another --hall, or select rows by --only KEY=VALUE with the key of the hall"


def _withheld(records: Sequence[Record]) -> tuple[str, ...]:
    names = dict.fromkeys(name for item in records for name in item.withheld)
    count = sum(bool(item.withheld) for item in records)
    if not names:
        return ()
    where = f"{listed(names)} of {count} {'row' if count == 1 else 'rows'}"
    return (f"{where} not read: credentials are references; store them in the Secrets that bmc_secret names",)


def _left_out(count: int, which: str) -> tuple[str, ...]:
    return (f"{count} {'row' if count == 1 else 'rows'} {which}: not read",) if count else ()
