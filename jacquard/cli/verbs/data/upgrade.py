"""``jacquard upgrade``: moves a repository of regions to the installed version of the library."""

from collections.abc import Mapping
from typing import Annotated

import typer
from rich.text import Text

from components.specs.reading.loader import environments
from components.specs.reading.problems import listed
from jacquard.cli import arguments, data
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.failures import installed_version
from jacquard.cli.upgrades import repository_files
from jacquard.cli.upgrades.generated_files import outdated
from jacquard.cli.upgrades.migrations import migrations
from jacquard.cli.upgrades.writing import write
from jacquard.machine import paths
from jacquard.machine.files import replace_text
from jacquard.starters.merges import Outcome
from jacquard.starters.region import catalogue, repository
from jacquard.starters.written_files import FILE, Written, packed

_TEXTS = {
    Outcome.ADDED: "added",
    Outcome.UPDATED: "updated",
    Outcome.MERGED: "merged with your edits",
    Outcome.CONFLICT: "conflict with your edits; resolve the parts between <<<<<<< and >>>>>>>",
    Outcome.REMOVED: "removed; this version does not use it",
    Outcome.KEPT: "kept with your edits, but this version does not use it",
    Outcome.LEFT_OUT: "changed in this version, but you removed it",
    Outcome.UNMERGED: f"not merged: its unedited text is unknown; compare it with the one in {FILE}",
}


def upgrade(
    *,
    region: Annotated[
        str | None,
        typer.Option(
            "--region",
            metavar="NAME",
            help=f"Region of the workflows, for a repository without {FILE}. Default: the only region.",
        ),
    ] = None,
    check: arguments.CheckOption = False,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Upgrade a repository of regions to the installed version.

    Migrates the data to current formats, and merges the catalogue, workflows, program and other files of `new
    --repository` with those of the installed version. Your edits stay; where both changed the same lines, the file
    contains both between conflict markers, and the exit code is 1. Then updates schemas and the pin in
    requirements.txt. Files with uncommitted changes are never overwritten. Pins of nodes do not change.
    """
    root = paths.own()
    if root is None:
        msg = "this is a clone of Jacquard, which git upgrades: check out the tag, and run 'make python'"
        raise Stop(msg, ExitCode.BAD_DATA)
    names = environments(paths.environments())
    with data.editing("upgrade", *names, dry_run=check) as edit:
        stale = [move for move in migrations(names).values() if move.before != move.after]
        migrated = {move.path.relative_to(root).as_posix(): move.text for move in stale}
        base = repository_files.unedited(root, region, names)
        texts = repository(base.region) | catalogue()
        new = Written(version=installed_version(), region=base.region, texts=texts)
        plan = repository_files.planned(root, base, new, migrated)
        repository_files.refuse_uncommitted(root, plan.changes)
        if not check:
            write(edit, {root / path: text for path, text in plan.changes.items()})
            replace_text(root / FILE, packed(new))
        generated = outdated(root)
        if not check:
            generated.write(edit)
    rows = {**dict(sorted(plan.outcomes.items())), **dict.fromkeys(generated.names(root), Outcome.UPDATED)}
    if output is Format.JSON:
        files = [{"file": path, "outcome": outcome} for path, outcome in rows.items()]
        print_json({"from": base.version, "to": new.version, "files": files, "written": not check})
    else:
        _report(rows, base, new)
    _stop(rows, check=check)


def _report(rows: Mapping[str, Outcome], base: Written, new: Written) -> None:
    for path, outcome in rows.items():
        stdout().print(Text(f"{path}: {_TEXTS[outcome]}"), soft_wrap=True)
    current = plural(len(new.texts) - len(rows.keys() & new.texts.keys()), "other file" if rows else "file")
    versions = " -> ".join(map(repository_files.label, (base, new)))
    stdout().print(Text(f"{versions}: {current} current"), soft_wrap=True)


def _stop(rows: Mapping[str, Outcome], *, check: bool) -> None:
    """Print the next commands, or end with 1 if something remains to be done.

    Raises:
        Stop: files have conflicts, or would change.
    """
    conflicts = [path for path, outcome in rows.items() if outcome is Outcome.CONFLICT]
    if check and rows:
        msg = f"{plural(len(rows), 'file')} of another version; run 'jacquard upgrade' and review the change"
        raise Stop(msg)
    if conflicts:
        msg = f"conflicts in {listed(conflicts)}; resolve them, then run: jacquard schema --write"
        raise Stop(msg)
    if rows:
        show("next: git diff; jacquard check --base HEAD; jacquard impact ENV for each environment", "note")
