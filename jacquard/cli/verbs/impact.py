"""``jacquard impact``: what a change does to nodes, DPUs, control planes, networks and storage, before it is merged."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from jacquard.cli import arguments, base_comparison, data, outputs
from jacquard.cli.console import ReviewFormat, print_json, stdout
from jacquard.cli.views.changes import impact as impact_view
from jacquard.cli.views.changes.impact_comment import comment
from jacquard.cli.views.report.page import MARK, html
from jacquard.machine import settings
from jacquard.previews.impacts.occupancy import LIMIT_MINUTES


def impact(
    chosen: arguments.Envs = None,
    *,
    base: arguments.BaseOption = "HEAD",
    facts: arguments.FactsOption = None,
    facts_age: arguments.FactsAgeOption = LIMIT_MINUTES,
    output: arguments.ReviewFormatOption = ReviewFormat.TEXT,
    page: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write a report: one page with map and timeline.")
    ] = None,
) -> None:
    """Tell what a change does to nodes, tenants and the rest of a region, before it is merged.

    Compares the data as they are in the work tree with those of the last commit that it shares with --base: which
    nodes are replaced, come or go, how many are away at once, which spares and how long that takes, what else is
    touched, which edit did it, and what waits for a promotion. No engine and no cluster is asked; which nodes jobs run
    on is told by --facts. What nobody can tell is called unknown, never nothing.
    """
    now, names = settings.now(), data.chosen(chosen)
    given = data.facts(facts or (), names, now=now, limit_minutes=facts_age)
    with base_comparison.base_of(base) as earlier:
        names = names if chosen else base_comparison.without_new(names, earlier)
        compared = base_comparison.compare(names, earlier, given)
    found = [one.impact for one in compared]
    if page is not None:
        outputs.write("--html", page, html([one.report(now) for one in compared]), MARK)
    if output is ReviewFormat.JSON:
        print_json([one.model_dump(mode="json") for one in found])
        return
    if output is ReviewFormat.MARKDOWN:
        sys.stdout.write(comment(found))
        return
    for one in found:
        for line in impact_view.lines(one, now):
            stdout().print(line, soft_wrap=True)
