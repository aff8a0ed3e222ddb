"""Upgrades of Kubernetes versions and of charts as tables, with blocking reasons or next steps."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from components.reports.chart_upgrades import ChartUpgrade
from components.reports.upgrades import Upgrade
from jacquard.cli.console import plural
from jacquard.cli.tables import plain_table


def lines(upgrades: Iterable[Upgrade]) -> Iterator[RenderableType]:
    """Yield the table, then a paragraph for each cluster that has a newer version."""
    rows = plain_table("cluster", "runs", "next", "images", "blocked")
    for item in upgrades:
        blocked = Text(plural(len(item.blocks), "reason"), "red") if item.blocks else Text("no" if item.next else "-")
        rows.add_row(item.cluster, item.version, item.next or "newest", _images(item), blocked)
    yield rows
    for item in upgrades:
        if item.next:
            yield ""
            yield Text(f"{item.cluster} to {item.next}", "bold")
            yield from (Text(f"  {block}") for block in item.blocks or (item.do or "",))


def chart_lines(upgrades: Sequence[ChartUpgrade]) -> Iterator[RenderableType]:
    """Yield a table of the charts that can be promoted, with the commands; nothing if all charts are the newest."""
    if not upgrades:
        return
    rows = plain_table("chart", "clusters", "next", "waves moved")
    for item in upgrades:
        has = ", ".join(f"{cluster} {version}" for cluster, version in item.clusters.items())
        rows.add_row(item.chart, has, item.next, str(item.wave) if item.wave else "-")
    yield ""
    yield rows
    yield ""
    yield from (Text(f"  {item.do}") for item in upgrades)


def _images(item: Upgrade) -> Text:
    lacking = [pool for pool, image in item.images.items() if image is None]
    if lacking:
        return Text(f"none for {', '.join(lacking)}", "red")
    return Text("ready" if item.next else "-")
