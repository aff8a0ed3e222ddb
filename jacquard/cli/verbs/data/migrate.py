"""``jacquard migrate``: migration of data files from older formats to the current one."""

from typing import Any

from rich.text import Text

from components.specs.reading.migrations import Upgrade
from jacquard.cli import arguments, data
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import Stop
from jacquard.cli.upgrades.migrations import migrations


def migrate(
    environments: arguments.Envs = None,
    *,
    check: arguments.CheckOption = False,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Migrate data files to the current format.

    Edits files with an older schema_version, and changes only what the format requires: comments, order and line breaks
    stay. The catalogue is migrated with the first environment that reads it. If a file cannot be migrated, nothing is
    written. Review the change like any other.
    """
    names = data.chosen(environments)
    with data.editing("migrate", *names, dry_run=check) as edit:
        found = migrations(names)
        stale = {shown: move for shown, move in found.items() if move.before != move.after}
        if not check:
            edit.write({move.path: move.text for move in stale.values()})
    if output is Format.JSON:
        print_json([_to_json(shown, move, written=not check) for shown, move in found.items()])
    else:
        _report(stale, len(found))
    if stale and check:
        msg = f"{plural(len(stale), 'file')} in an older format; run 'jacquard migrate' and review the change"
        raise Stop(msg)


def _report(stale: dict[str, Upgrade], total: int) -> None:
    for shown, move in stale.items():
        stdout().print(Text(f"{shown}: version {move.before} -> {move.after}"), soft_wrap=True)
    stdout().print(Text(f"{plural(total - len(stale), 'file')} current"), soft_wrap=True)


def _to_json(shown: str, move: Upgrade, *, written: bool) -> dict[str, Any]:
    return {
        "file": shown,
        "before": move.before,
        "after": move.after,
        "written": written and move.before != move.after,
    }
