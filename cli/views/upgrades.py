"""Kubernetes versions of a region as a table, and below it what blocks or what to do, cluster by cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from cli.console import plural
from components.plan.report.upgrades import Upgrade


def lines(found: Iterable[Upgrade]) -> Iterator[RenderableType]:
    """Yield the table, and then a paragraph for each cluster that has somewhere to go."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for column in ("cluster", "runs", "next", "images", "blocked"):
        table.add_column(column, overflow="fold")
    for item in found:
        blocked = Text(plural(len(item.blocks), "reason"), "red") if item.blocks else Text("no" if item.next else "-")
        table.add_row(item.cluster, item.version, item.next or "newest", _images(item), blocked)
    yield table
    for item in found:
        if item.next:
            yield ""
            yield Text(f"{item.cluster} to {item.next}", "bold")
            yield from (Text(f"  {block}") for block in item.blocks or (item.do or "",))


def _images(item: Upgrade) -> Text:
    lacking = [pool for pool, image in item.images.items() if image is None]
    if lacking:
        return Text(f"none for {', '.join(lacking)}", "red")
    return Text("ready" if item.next else "-")
