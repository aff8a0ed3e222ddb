"""The capacity of a region as a table."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.table import Table
from rich.text import Text

from components.allocate.controllers import Budget
from components.reports.capacity import COLUMNS, Capacity, Figures, TypeCapacity
from components.reports.contracts import EndingContract
from components.specs.struct import asdict
from jacquard.cli.console import plural
from jacquard.cli.tables import plain_table

_MANY = {"leaf": "leaves"}
_MAX_ROWS = 40
"""Maximum number of rows of one instance type; beyond it, neighbours with the same figures share a row."""


def table(capacity: Capacity) -> Table:
    """Return one row per failure domain and instance type, and the sums in nodes and GPUs."""
    numbers = [name.replace("_", " ") for name in COLUMNS]
    table = plain_table("instance type", "failure domain", *numbers, numbers=numbers, wrap=False)
    for kind in capacity.types:
        count = sum(1 for name in kind.domains if name)
        domains = plural(count, kind.failure_domain, _MANY.get(kind.failure_domain))
        table.add_row(kind.instance_type, domains, *_cells(kind.total), style="bold")
        for label, figures in _rows(kind):
            table.add_row("", label, *_cells(figures))
    table.add_row("nodes", "", *_cells(capacity.nodes), style="bold")
    table.add_row("GPUs", "", *_cells(capacity.gpus), style="bold")
    return table


def budget_table(budgets: Iterable[Budget]) -> Table:
    """Return one row per bare-metal controller: its hosts and its limit."""
    numbers = ("clusters", "assigned", "free", "hosts", "limit")
    table = plain_table("bare-metal controller", "boot", *numbers, numbers=numbers, wrap=False)
    for budget in budgets:
        counts = (budget.clusters, budget.assigned, budget.free)
        hosts = Text(f"{budget.hosts:,}", "yellow" if budget.hosts > budget.limit else "")
        table.add_row(budget.name, budget.boot or "", *(f"{count:,}" for count in counts), hosts, f"{budget.limit:,}")
    return table


def ending_table(ending: Mapping[str, Sequence[EndingContract]]) -> Table:
    """Return one row per contract that ends soon, by name of its region."""
    numbers = ("nodes", "contracted after", "planned", "days")
    table = plain_table("ending contract", "tenant", "instance type", "until", *numbers, numbers=numbers, wrap=False)
    for region, contracts in ending.items():
        for item in contracts:
            counts = (item.nodes, item.contracted_after, item.planned, item.days)
            cells = [f"{count:,}" for count in counts]
            table.add_row(region, item.tenant, item.instance_type, item.until.isoformat(), *cells)
    return table


def ending_json(ending: Iterable[EndingContract]) -> list[dict[str, Any]]:
    """Return contracts that end soon as JSON data."""
    return [asdict(item) | {"until": item.until.isoformat()} for item in ending]


def _rows(kind: TypeCapacity) -> list[tuple[str, Figures]]:
    rows = [(name or "not allocated", figures) for name, figures in kind.domains.items()]
    if len(rows) <= _MAX_ROWS:
        return rows
    joined = []
    for figures, alike in groupby(rows, key=lambda row: row[1]):
        names = [name for name, _ in alike]
        label = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}, each of {len(names)}"
        joined.append((label, figures))
    return joined


def _cells(figures: Figures) -> list[Text]:
    cells = []
    for name, count in figures.to_json().items():
        text = "-" if count is None else f"{count:,}"
        cells.append(Text(text, "yellow" if name == "short" and count else ""))
    return cells
