"""Arguments and options that several commands share, so that they look and read the same everywhere."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from jacquard.cli import data
from jacquard.cli.console import Format, ReviewFormat
from jacquard.machine.kind import Kind


def _complete(incomplete: str) -> list[str]:
    return [name for name in data.names() if name.startswith(incomplete)]


Env = Annotated[
    str,
    typer.Argument(metavar="ENV", help="An environment: a folder under environments/.", autocompletion=_complete),
]
Envs = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ENV]...", help="Environments; all of them when none is named.", autocompletion=_complete),
]
SomeEnvs = Annotated[
    list[str],
    typer.Argument(metavar="ENV", help="Environments: folders under environments/.", autocompletion=_complete),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How to answer.")]
ReviewFormatOption = Annotated[ReviewFormat, typer.Option("--format", help="How to answer.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; a rehearsal never asks.")]
SpeedOption = Annotated[
    float | None,
    typer.Option(
        "--speed",
        min=0.1,
        max=1000,
        help="Factor on the delays of simulated hardware; 10 is ten times faster. Default: JACQUARD_SPEED, or 1.",
        show_default=False,
    ),
]
TimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        min=0,
        metavar="SECONDS",
        help="How long to wait for the node pools; default 600 for a rehearsal, else 0.",
        show_default=False,
    ),
]
AcceptOption = Annotated[
    list[str] | None,
    typer.Option(
        "--accept",
        metavar="WORD",
        help="Lose exactly the objects that this word stands for, as 'up' or 'preview' named them; may be repeated.",
        show_default=False,
    ),
]
SwitchOption = Annotated[
    Kind | None,
    typer.Option(
        "--switch-to",
        help="Whose plug-ins may take over what others wrote. Default: JACQUARD_SWITCH_TO, or nobody's.",
        show_default=False,
    ),
]
BaseOption = Annotated[
    str, typer.Option("--base", metavar="REF", help="Branch, tag or commit to compare with, where it was left.")
]
FactsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--facts",
        metavar="FILE",
        help="File of 'jacquard facts', by which nodes are told that jobs run on; may be repeated, for one environment "
        "each.",
        show_default=False,
    ),
]
FactsAgeOption = Annotated[
    int,
    typer.Option("--facts-age", min=1, metavar="MINUTES", help="Age from which on facts tell nothing any more."),
]
PreviewOption = Annotated[
    Path | None,
    typer.Option(
        "--preview",
        metavar="DIR",
        help="Apply only what the preview in this folder showed, and refuse when anything of it has moved.",
        show_default=False,
    ),
]
SignersOption = Annotated[
    Path | None,
    typer.Option(
        "--signers",
        metavar="FILE",
        help="With --preview: who may have signed it. Default: previews.signers of region.yaml.",
        show_default=False,
    ),
]
CheckOption = Annotated[bool, typer.Option("--check", help="Write nothing; end with 1 when a file would change.")]
TodayOption = Annotated[
    dt.datetime | None,
    typer.Option(
        "--today",
        formats=["%Y-%m-%d"],
        metavar="YYYY-MM-DD",
        help="The day to check for: images and waivers expire. Default: today, UTC.",
        show_default=False,
    ),
]
DiffOption = Annotated[bool, typer.Option("--diff", help="Show pulumi's own diff, property by property.")]
FollowOption = Annotated[bool, typer.Option("--follow", "-f", help="Go on as the log grows.")]
