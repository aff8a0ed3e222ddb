"""Arguments and options that several commands share."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from components.specs.reading.problems import shown
from jacquard.cli import data
from jacquard.cli.console import Format, ResultFormat, ReviewFormat
from jacquard.cli.errors import warn_deprecated
from jacquard.machine import settings
from jacquard.machine.kind import Kind

Value = TypeVar("Value")
_CONFIRM, _MIGRATE = "--confirm", "--migrate-providers"


def _complete(incomplete: str) -> list[str]:
    return [name for name in data.names() if name.startswith(incomplete)]


def _deprecated(old: str, new: str) -> Callable[[Value], Value]:
    """Return the callback of the deprecated option ``old``: a warning if the option is used."""

    def callback(value: Value) -> Value:
        if value:
            warn_deprecated(old, new)
        return value

    return callback


def day(text: str) -> dt.datetime:
    """Return the start of the day of an option.

    Raises:
        BadParameter: it is not a date.
    """
    try:
        return dt.datetime.strptime(text, "%Y-%m-%d")  # noqa: DTZ007 - a day, which has no time zone
    except ValueError:
        msg = f"must be a date (got {shown(text)}); write YYYY-MM-DD, such as 2026-01-31"
        raise typer.BadParameter(msg) from None


def migrate_to(option: Kind | None) -> Kind | None:
    """Return the kind of plug-ins of ``--migrate-providers``, or of its setting; warn about a deprecated setting."""
    if option is None and settings.uses_deprecated_name():
        warn_deprecated(settings.DEPRECATED_SWITCH_TO, settings.MIGRATE_PROVIDERS)
    return option or settings.migrate_providers()


def _metrics_address(text: str | None) -> str | None:
    from jacquard.observe.metrics_store import address_problem  # noqa: PLC0415 - loads the HTTP client for one verb

    if text is not None and (problem := address_problem(text)):
        raise typer.BadParameter(problem)
    return text


Env = Annotated[
    str,
    typer.Argument(metavar="ENV", help="Environment: a folder under environments/.", autocompletion=_complete),
]
Envs = Annotated[
    list[str] | None,
    typer.Argument(metavar="ENV", help="Environments. Default: all.", autocompletion=_complete),
]
SomeEnvs = Annotated[
    list[str],
    typer.Argument(metavar="ENV", help="Environments: folders under environments/.", autocompletion=_complete),
]
FormatOption = Annotated[Format, typer.Option("--format", help="Output format.")]
RESULT_FORMAT_HELP = "Output format; sarif, junit, github and gitlab contain only the results of rules."
ResultFormatOption = Annotated[ResultFormat, typer.Option("--format", help=RESULT_FORMAT_HELP)]
ReviewFormatOption = Annotated[ReviewFormat, typer.Option("--format", help="Output format.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Skip the prompt; rehearsals never prompt.")]
SpeedOption = Annotated[
    float | None,
    typer.Option(
        "--speed",
        metavar="FACTOR",
        min=0.1,
        max=1000,
        help="Speed of simulated hardware; 10 divides all delays by ten. "
        f"Default: JACQUARD_SPEED, or {settings.DEFAULT_SPEED}.",
    ),
]
TimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        min=0,
        metavar="SECONDS",
        help="Maximum time to wait for the node pools. Default: 600 for a rehearsal, otherwise 0.",
    ),
]
ConfirmOption = Annotated[
    list[str] | None,
    typer.Option(
        _CONFIRM,
        metavar="TOKEN",
        help="Confirm deletion or replacement of exactly the objects identified by this token (printed by 'up' or "
        "'preview'); repeatable.",
    ),
]
DeprecatedAcceptOption = Annotated[
    list[str] | None,
    typer.Option("--accept", metavar="TOKEN", hidden=True, callback=_deprecated("--accept", _CONFIRM)),
]
MigrateOption = Annotated[
    Kind | None,
    typer.Option(
        _MIGRATE,
        help="Kind of provider plug-ins that may take over stacks written by the other kind. Default: "
        "JACQUARD_MIGRATE_PROVIDERS, or none.",
    ),
]
DeprecatedSwitchOption = Annotated[
    Kind | None, typer.Option("--switch-to", hidden=True, callback=_deprecated("--switch-to", _MIGRATE))
]
BaseOption = Annotated[
    str,
    typer.Option("--base", metavar="REF", help="Branch, tag or commit to compare with; its merge base is used."),
]
MetricsOption = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        metavar="URL",
        callback=_metrics_address,
        help="Prometheus API of the region's metrics store, to record the faults of the last 7 days.",
    ),
]
FactsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--facts",
        metavar="FILE",
        help="File written by 'jacquard facts', to report nodes with running jobs and with faults; repeatable, one per "
        "environment.",
    ),
]
FactsAgeOption = Annotated[
    int,
    typer.Option("--facts-age", min=1, metavar="MINUTES", help="Maximum age of facts; older facts are ignored."),
]
PreviewOption = Annotated[
    Path | None,
    typer.Option(
        "--preview",
        metavar="DIR",
        help="Apply only the change previewed in this folder; refuse if anything differs from it.",
    ),
]
SignersOption = Annotated[
    Path | None,
    typer.Option(
        "--signers",
        metavar="FILE",
        help="With --preview: allowed signers of the preview. Default: previews.signers of region.yaml.",
    ),
]
MetricsFileOption = Annotated[
    Path | None,
    typer.Option(
        "--metrics-file",
        metavar="FILE",
        help="Replace this .prom file with metrics of the run, for the textfile collector of node-exporter.",
    ),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="File to write. Default: standard output.")
]
CheckOption = Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if a file would change.")]
TodayOption = Annotated[
    dt.datetime | None,
    typer.Option(
        "--today",
        parser=day,
        metavar="YYYY-MM-DD",
        help="Date for expiry checks of images and waivers. Default: today, UTC.",
    ),
]
DiffOption = Annotated[bool, typer.Option("--diff", help="Show pulumi's own diff of each property.")]
RefreshOption = Annotated[
    bool,
    typer.Option(
        "--refresh",
        help="First read all recorded objects from the clusters, so that missing objects are created again and drift "
        "is reverted, such as after a restore of etcd.",
    ),
]
FollowOption = Annotated[bool, typer.Option("--follow", "-f", help="Keep printing new lines.")]
