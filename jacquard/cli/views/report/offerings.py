"""Page of the offerings of a region to tenants: tables, and available capacity as bars."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from components.reports.offers import Offerings
from components.specs.reading.problems import listed
from jacquard.cli.console import plural
from jacquard.cli.views.region import offerings as view
from jacquard.cli.views.report.filled import filled, source

MARK = "written by jacquard for what is offered"
"""Comment in a page that names its generator."""
WIDTH = 600
"""Width of the longest bar."""
_ALL = 1_000_000
_WARNING = "yellow"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table."""

    lines: tuple[tuple[str, bool], ...]
    """Lines of the cell, each with True for a warning."""
    number: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """Available capacity of one offering, in parts by failure domain."""

    name: str
    caption: str
    parts: tuple[tuple[float, float, str], ...]
    """Offset, width and text of each failure domain."""


def html(offerings: Offerings) -> str:
    """Return the page of ``offerings``; deterministic."""
    nodes = {kind.instance_type: kind.failure_domains for kind in offerings.nodes if kind.free}
    vms: dict[str, dict[str, int]] = {}
    for size in offerings.vm_sizes:
        for room in size.room:
            vms.setdefault(size.size, {}).update(
                {f"{room.cluster} {key}": n for key, n in room.failure_domains.items()}
            )
    return filled(
        "offerings.html",
        source("report.css") + source("offerings.css"),
        mark=MARK,
        environment=offerings.environment,
        figures=_figures(offerings),
        width=WIDTH,
        rooms=[
            ("Hosts that are not assigned to a pool, by failure domain.", list(_bars(nodes, "host"))),
            ("VM capacity of the nodes in service, if these nodes were empty.", list(_bars(vms, "VM"))),
        ],
        sections=[
            (section.title, _heads(section.table), _rows(section.table), section.hint)
            for section in view.sections(offerings, _ALL)
        ],
        example=view.example(offerings),
        no_vms="" if offerings.vm_sizes else view.NO_VMS,
    )


def _figures(offerings: Offerings) -> list[tuple[str, str]]:
    """Return the key figures at the top of the page."""
    gpus = sum(kind.free * kind.gpu.count for kind in offerings.nodes if kind.gpu)
    return [
        (f"{sum(kind.free for kind in offerings.nodes):,}", "free hosts"),
        (f"{gpus:,}", "GPUs in free hosts"),
        (str(len(offerings.nodes)), "instance types"),
        (str(len(offerings.vm_sizes)), "VM sizes"),
        (str(len(offerings.vm_images)), "VM images"),
        (str(len(offerings.storage)), "storage classes"),
    ]


def _bars(rooms: Mapping[str, Mapping[str, int]], what: str) -> Iterator[Bar]:
    longest = max((sum(domains.values()) for domains in rooms.values()), default=0)
    for name, domains in rooms.items():
        total, at, parts = sum(domains.values()), 0.0, []
        for domain, count in domains.items():
            width = WIDTH * count / longest if longest else 0.0
            parts.append((round(at, 1), round(width, 1), f"{domain}: {plural(count, what)}"))
            at += width
        caption = plural(total, what) if total else "none"
        yield Bar(
            name,
            f"{caption} in {listed(list(domains))}" if total and len(domains) <= view.NAMED else caption,
            tuple(parts),
        )


def _heads(table: Table) -> list[tuple[str, bool]]:
    return [(str(column.header), column.justify == "right") for column in table.columns]


def _rows(table: Table) -> list[list[Cell]]:
    numbers = [column.justify == "right" for column in table.columns]
    rows = zip(*(column.cells for column in table.columns), strict=True)
    return [[Cell(tuple(_lines(cell)), number) for cell, number in zip(row, numbers, strict=True)] for row in rows]


def _lines(cell: object) -> Iterator[tuple[str, bool]]:
    for line in (cell if isinstance(cell, Text) else Text(str(cell))).split("\n"):
        yield line.plain, _WARNING in {str(line.style), *(str(span.style) for span in line.spans)}
