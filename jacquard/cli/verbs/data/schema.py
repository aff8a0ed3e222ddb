"""``jacquard schema``: files generated from the models of the data files, from help texts and from rules."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from components.specs.reading import schema as schemas
from components.specs.reading.loader import environments
from components.specs.reading.problems import listed
from jacquard.cli import arguments, data, outputs
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.upgrades.generated_files import outdated
from jacquard.machine import paths


def schema(
    *,
    write: Annotated[bool, typer.Option("--write", help="Write outdated files. Default: only list them.")] = False,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Check or write schemas, editor headers and reference pages.

    All these files are generated from the code: schemas/ for completion and validation in editors, the first line of
    each data file with its schema, and docs/reference/ from the models, the help texts and the rules. Without --write,
    changes nothing and exits with 1 if a file is out of date.
    """
    root = paths.environments().parent
    with data.editing("schema", *environments(paths.environments()), dry_run=not write) as edit:
        files = outdated(root)
        if write:
            _refuse_foreign(root, sorted(files.stale))
            files.write(edit)
    names = files.names(root)
    if output is Format.JSON:
        print_json({"stale": names, "written": write and bool(names), "current": files.current})
    else:
        for name in names:
            stdout().print(Text(f"{name}: {'written' if write else 'not current'}"), soft_wrap=True)
        stdout().print(Text(f"{plural(files.current, 'file')} current"), soft_wrap=True)
    if names and not write:
        msg = f"{plural(len(names), 'file')} not current; run 'jacquard schema --write' and review the change"
        raise Stop(msg)


def _refuse_foreign(root: Path, stale: list[Path]) -> None:
    """Reject overwriting files that were not generated; in data files, only the first line is replaced.

    Raises:
        Stop: such files exist.
    """
    names = [
        path.relative_to(root).as_posix()
        for path in stale
        if not path.is_relative_to(paths.environments()) and outputs.foreign(path, schemas.MARK)
    ]
    if names:
        msg = f"{listed(names)}: exists and was not written by 'jacquard schema'; move or remove it first"
        raise Stop(msg, ExitCode.BAD_DATA)
