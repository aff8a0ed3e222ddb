"""Identities of hosts: names, serial numbers, addresses and slots, of which each belongs to one host."""

from collections import Counter
from collections.abc import Callable, Iterator

from components.lookups.pools import DataPath, inventory_file, place
from components.specs.environment import Environment
from components.specs.hosts.bmc import parse_bmc
from components.specs.hosts.inventory import HostSpec
from components.specs.reading.problems import Problem

_IDENTITIES: dict[tuple[str, ...], Callable[[HostSpec, str], object]] = {
    ("host",): getattr,
    ("boot_mac",): getattr,
    ("serial", "dpu_serial"): lambda host, column: getattr(host, column).upper(),
    ("bmc",): lambda host, _: parse_bmc(host.bmc).machine,
    ("slot",): lambda host, _: (host.hall, host.rack, host.slot),
    ("dpu_bmc",): lambda host, _: None if host.dpu_bmc is None else int(host.dpu_bmc),
}
"""Unique identities of hosts, by the columns that contain them."""


def duplicates(environment: Environment) -> Iterator[tuple[int, int, Problem]]:
    """Yield the duplicate identities of each host, with the numbers of its row and of the first row."""
    rows: list[tuple[str, DataPath]] = []
    for columns, identity in _IDENTITIES.items():
        marks = [identity(host, column) for host in environment.hosts for column in columns]
        identities = [mark for mark in marks if mark is not None]
        if len(identities) == len(set(identities)):
            continue
        rows = rows or rows_of(environment)
        first: dict[object, int] = {}
        for at, mark in enumerate(marks):
            other = at if mark is None else first.setdefault(mark, at)
            if other == at:
                continue
            (row, which), (there, other_which) = divmod(at, len(columns)), divmod(other, len(columns))
            column = columns[which]
            got = _written(environment.hosts[row], column)
            before = _written(environment.hosts[there], columns[other_which])
            as_ = "" if got == before else f" as {before}"
            text = f"{got} is duplicated, first{as_} in {place(environment, *rows[there])}; correct one of the two"
            file, path = rows[row]
            yield row, there, Problem(file, environment.positions.line(file, path), column, text)


def _written(host: HostSpec, column: str) -> str:
    match column:
        case "slot":
            return f"slot {host.slot} of rack {host.rack}"
        case "bmc":
            return f"'{parse_bmc(host.bmc).without_login}'"
    return f"'{getattr(host, column)}'"


def rows_of(environment: Environment) -> list[tuple[str, DataPath]]:
    """Return file and row of each host, because hosts with a duplicate name cannot be located by name."""
    count: Counter[str] = Counter()  # Each row has a host here, because a file with an invalid row is not loaded.
    rows: list[tuple[str, DataPath]] = []
    for host in environment.hosts:
        file = inventory_file(host.hall)
        count[file] += 1
        rows.append((file, (count[file] + 1,)))
    return rows
