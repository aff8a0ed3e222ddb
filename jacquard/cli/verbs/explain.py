"""``jacquard explain``: description of a rule by its name in reports."""

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from components.specs.reading.problems import suggestion
from components.specs.struct import asdict
from jacquard.cli import arguments
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.views.rules import filters, matching, rules
from policies import extensions


def _complete(incomplete: str) -> list[str]:
    return [name for name in (*rules(), *filters()) if name.startswith(incomplete)]


def explain(
    rule: Annotated[
        str | None,
        typer.Argument(
            metavar="RULE|FILTER",
            help="Rule name; or an id of the catalogue (SEC-03), an area of ids (SEC) or a room (network), to list its"
            " rules. Omit to list all rules.",
            autocompletion=_complete,
        ),
    ] = None,
    *,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Describe a rule: its findings, reason and level, and whether it can be waived.

    With a filter, lists the matching rules with their summaries. Rooms of cross-checks are the directories of the data
    model, such as network and pools; policies have the rooms access, clusters, deployments, hosts and images.
    """
    if wrong := extensions.problem_lines():
        raise Stop("\n".join(wrong), ExitCode.BAD_DATA)
    known = rules()
    tagged = [known[name] for name in matching(rule)] if rule is not None and rule not in known else []
    if rule is not None and rule not in known and not tagged:
        hint = suggestion(rule, [*known, *filters()]) or "; 'jacquard explain' lists all rules"
        msg = f"rule '{rule}' is unknown{hint}"
        raise Stop(msg, ExitCode.BAD_DATA)
    chosen = tagged or (list(known.values()) if rule is None else [known[rule]])
    if output is Format.JSON:
        print_json([asdict(item) for item in chosen])
    elif rule is None or tagged:
        table = Table.grid(padding=(0, 2))
        for item in chosen:
            table.add_row(Text(item.name), Text(item.summary))
        stdout().print(table)
    else:
        for line in chosen[0].lines():
            stdout().print(Text(line), soft_wrap=True)
