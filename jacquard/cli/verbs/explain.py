"""``jacquard explain``: description of a rule by its name in reports."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from components.specs.reading.problems import suggestion
from jacquard.cli import arguments
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.views.rules import rules
from policies import extensions
from policies.catalogue import rules_of


def _complete(incomplete: str) -> list[str]:
    return [name for name in rules() if name.startswith(incomplete)]


def explain(
    rule: Annotated[
        str | None,
        typer.Argument(
            metavar="[RULE]",
            help="Rule name, or id of the catalogue such as SEC-03. Omit to list all rules.",
            autocompletion=_complete,
        ),
    ] = None,
    *,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Describe a rule: its findings, reason and level, and whether it can be waived."""
    if wrong := extensions.problem_lines():
        raise Stop("\n".join(wrong), ExitCode.BAD_DATA)
    known = rules()
    tagged = [known[name] for name in rules_of(rule or "") if name in known]
    if rule is not None and rule not in known and not tagged:
        hint = suggestion(rule, known) or "; 'jacquard explain' lists all rules"
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
