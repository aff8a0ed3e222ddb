"""``jacquard impact``: effect of a change on nodes, DPUs, control planes, networks and storage, before it is merged."""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from jacquard.cli import arguments, collected_facts, data, outputs
from jacquard.cli.comparisons import base_comparison
from jacquard.cli.console import ImpactFormat, print_json, stdout, write_text
from jacquard.cli.errors import Refusal
from jacquard.cli.judging import judging
from jacquard.cli.views.changes import impact as impact_view
from jacquard.cli.views.changes.impact_comment import comment
from jacquard.cli.views.report.page import MARK, html
from jacquard.machine import settings
from jacquard.previews.impacts.impact import Impact
from jacquard.previews.impacts.occupancy import LIMIT_MINUTES
from jacquard.previews.impacts.verdict import rejected
from jacquard.previews.results import ImpactAnswer
from policies.results import Result


def impact(
    chosen: arguments.Envs = None,
    *,
    base: arguments.BaseOption = "HEAD",
    facts: arguments.FactsOption = None,
    facts_age: arguments.FactsAgeOption = LIMIT_MINUTES,
    output: Annotated[ImpactFormat, typer.Option("--format", help=arguments.RESULT_FORMAT_HELP)] = ImpactFormat.TEXT,
    page: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write an HTML report with a map and a timeline.")
    ] = None,
) -> None:
    """Report the effect of a change on nodes, tenants and the rest of a region, before it is merged.

    Compares the data of the work tree with the data of its merge base with --base. Reports replaced, added and removed
    nodes, how many are unavailable simultaneously, the spares used, the duration, all other affected objects, the edit
    that causes each effect, and pending promotions. Needs no engine and no cluster; --facts adds the nodes with
    running jobs. Effects that cannot be determined are reported as unknown. Exits with 4 if an API server would reject
    the change, such as a new BMC address of a host, or if Pulumi would not delete a protected object; the report
    contains the procedure.
    """
    now, names = settings.now(), data.chosen(chosen)
    observed = collected_facts.facts(facts or (), names, now=now, limit_minutes=facts_age)
    with judging("impact", output, names) as judged:
        with base_comparison.base_of(base) as earlier:
            if not chosen:
                base_comparison.refuse_removed(earlier)
                names = base_comparison.without_new(names, earlier)
            compared = base_comparison.compare(names, earlier, observed)
        impacts = [item.impact for item in compared]
        if page is not None:
            outputs.write("--html", page, html([item.report(now) for item in compared]), MARK)
        results = [result for item in compared for result in item.results()]
        _print(impacts, output, now, results)
        rejections = [f"{item.environment}: {reason}" for item in impacts if (reason := rejected(item))]
        if rejections:
            raise Refusal("\n".join(rejections), results)
        judged.add(results)


def _print(impacts: Sequence[Impact], output: ImpactFormat, now: dt.datetime, results: Sequence[Result]) -> None:
    match output:
        case ImpactFormat.JSON:
            print_json([_answer(item, results).model_dump(mode="json") for item in impacts])
        case ImpactFormat.MARKDOWN:
            write_text(comment(impacts))
        case ImpactFormat.TEXT:
            for item in impacts:
                for line in (*impact_view.lines(item, now), *impact_view.next_steps(item)):
                    stdout().print(line, soft_wrap=True)


def _answer(impact: Impact, results: Sequence[Result]) -> ImpactAnswer:
    return ImpactAnswer.of(impact, (item for item in results if item.environment == impact.environment))
