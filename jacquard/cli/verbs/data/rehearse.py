"""``jacquard rehearse``: copies a region as a rehearsal of the same data, which runs on this machine."""

import json
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from components.rules.checks import check, errors
from components.specs.environment import Environment
from components.specs.reading.loader import CATALOG, load_environment
from components.specs.reading.problems import SpecError
from jacquard.cli import arguments, data
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop, unknown
from jacquard.cli.output_folder import index_of
from jacquard.machine import paths, settings
from jacquard.machine.files import replace_text
from jacquard.starters import rehearsals
from jacquard.starters.region import repository

MARK = "rehearsal.json"
"""File of a rehearsal with the region and the tenants that it contains."""
_PROGRAM = (paths.PROJECT_FILE, "program", "policy-pack", "extensions")
"""Files and folders of a repository of regions that run with each of its regions."""
_VENV = ".venv"
_Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the rehearsal: a new one, or an earlier one.")]
_Tenants = Annotated[
    list[str] | None,
    typer.Option("--tenant", metavar="TENANT", help="Tenant to rehearse, with its hosts; repeatable. Default: all."),
]


def rehearse(
    environment: arguments.Env,
    folder: _Folder,
    *,
    tenant: _Tenants = None,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Copy a region as a rehearsal of the same data, which runs on this machine.

    Writes a repository with this one region into DIR. There, 'jacquard up' creates simulated hosts and real API servers
    on this machine, and all other verbs work as on real hardware. The region itself, its state and its clusters are
    not used. With --tenant, the copy contains only the hosts, clusters and VMs of these tenants, with the same
    addresses and images.

    Run the command again after a change of the data: it replaces the data in DIR, and 'jacquard up' there rehearses the
    change. State, context and engine of the region, freezes, and with --tenant limits that are shares of all hosts are
    left out; each difference is printed.
    """
    spec = data.checked(environment)
    tenants = _chosen(spec, tenant or ())
    root = folder.expanduser().resolve()
    _refuse(root, environment)
    part = rehearsals.part_of(spec, tenants) if tenants else None
    copy = rehearsals.rehearsal(spec, paths.environments() / environment, part)
    mark = {"region": environment, "tenants": list(tenants), "differences": copy.differences}
    if not (root / MARK).exists():  # A run that fails must not leave a folder that the next run rejects.
        _write_mark(root, mark)
    try:
        _write(root, environment, copy.texts)
    except SpecError as error:
        missing = "add tenants with --tenant" if part else "report this as a bug"
        msg = f"{environment}: the copy has problems that the region has not; {missing}:\n{error}"
        raise Stop(msg, ExitCode.BAD_DATA) from None
    _write_mark(root, mark)
    steps = _next(root, environment)
    if output is Format.JSON:
        print_json({"folder": str(root), **mark, "next": list(steps)})
        return
    lines = [f"{root}: rehearsal of {environment}"]
    lines += [f"  {difference}" for difference in copy.differences]
    width = max(map(len, steps))
    lines += ["next:", *(f"  {command.ljust(width)}  {why}" for command, why in steps.items())]
    for line in lines:
        stdout().print(Text(line), soft_wrap=True)


def _write_mark(root: Path, mark: Mapping[str, object]) -> None:
    root.mkdir(parents=True, exist_ok=True)
    replace_text(root / MARK, json.dumps(mark, indent=2) + "\n")


def _chosen(spec: Environment, names: Sequence[str]) -> list[str]:
    known = [tenant.tenant for tenant in spec.tenants]
    wrong = [unknown(name, known, what="tenant", remedy="name one of them") for name in names if name not in known]
    if wrong:
        raise Stop("\n".join(map(str, wrong)), ExitCode.BAD_DATA)
    return list(dict.fromkeys(names))


def _refuse(root: Path, environment: str) -> None:
    """Pass if ``root`` is empty or contains an earlier rehearsal of the region.

    Raises:
        Stop: it contains anything else, or the data that would be copied.
    """
    if paths.environments().is_relative_to(root):
        msg = f"{root}: contains the data of {environment}; run the command in its repository, and name another folder"
        raise Stop(msg, ExitCode.BAD_DATA)
    before = index_of(root, MARK, ("region",), f"{root}: exists and is not a rehearsal; name an empty folder")
    if before is not None and before != (environment,):
        msg = f"{root}: is a rehearsal of {before[0]}; name an empty folder for {environment}"
        raise Stop(msg, ExitCode.BAD_DATA)


def _write(root: Path, environment: str, texts: dict[str, str]) -> None:
    """Write the rehearsal; data of an earlier one are replaced when the new data are complete and valid.

    Raises:
        SpecError: the copy has problems, such as a limit that the part of a region exceeds; nothing is written.
    """
    there = root / paths.DATA
    there.mkdir(parents=True, exist_ok=True)
    with (
        data.editing_in(there, "rehearse"),
        tempfile.TemporaryDirectory(dir=there, prefix=".rehearse-") as temporary,
    ):
        new, old = Path(temporary), Path(temporary) / "old"
        old.mkdir()
        shutil.copytree(paths.environments() / CATALOG, new / CATALOG)
        for path, text in texts.items():
            (new / environment / path).parent.mkdir(parents=True, exist_ok=True)
            replace_text(new / environment / path, text)
        if problems := errors(check(load_environment(environment, new)), settings.today()):
            raise SpecError(environment, problems)
        _write_program(root, environment)
        for part in (CATALOG, environment):
            if (there / part).exists():
                (there / part).rename(old / part)
            (new / part).rename(there / part)


def _write_program(root: Path, environment: str) -> None:
    """Write the program and the policies: those of the current repository, else those of a new one."""
    if own := paths.own():
        for name in _PROGRAM:
            shutil.rmtree(root / name, ignore_errors=True)
            if (own / name).is_dir():
                shutil.copytree(own / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif (own / name).exists():
                shutil.copy(own / name, root / name)
    else:
        for path, text in repository(environment).items():
            if path.split("/")[0] in _PROGRAM[:-1]:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                replace_text(root / path, text)
    (root / _VENV).unlink(missing_ok=True)
    (root / _VENV).symlink_to(paths.VENV)


def _next(root: Path, environment: str) -> dict[str, str]:
    """Return the next commands, with their purposes."""
    return {
        f"cd {shlex.quote(str(root))}": "enter the rehearsal",
        f"jacquard up {environment}": "run it on this machine",
        f"jacquard down {environment}": "end it",
    }
