"""``jacquard new``: the folder of a new environment, whole or not at all."""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from components.specs.base import DNS_LABEL, LABEL
from components.specs.reading.loader import CATALOG, load_environment
from components.specs.reading.problems import listed
from jacquard.cli import arguments, data
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.machine import paths
from jacquard.machine.files import replace_text
from jacquard.machine.pins import PIN_FILE, is_of_this_machine, requirement
from jacquard.starters.hosts import MAX_HALLS
from jacquard.starters.region import FILES, example, like
from jacquard.starters.repository import repository as around_regions

_Region = Annotated[str, typer.Argument(metavar="REGION", help="Name of the region, and of its folder.")]
_Like = Annotated[
    str | None,
    typer.Option(
        "--like", metavar="ENV", help="Take the shape of this environment, without its tenants, hosts and lock files."
    ),
]
_Halls = Annotated[
    str | None,
    typer.Option(
        "--halls", metavar="A,B", help="Halls of its site. Default: a, or those of --like.", show_default=False
    ),
]
_Repository = Annotated[
    Path | None,
    typer.Option(
        "--repository",
        metavar="DIR",
        help="Begin a repository of regions in this folder, and the region in it. Default: the one you are in.",
        show_default=False,
    ),
]


def new(
    region: _Region,
    *,
    like_: _Like = None,
    halls: _Halls = None,
    repository: _Repository = None,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Write the files of a new environment.

    Without --like it is a small rehearsal with made-up hosts and one tenant, which comes up on this machine; edit it
    from there. With --like it has everything but tenants and hosts, which are yours to write and to import. With
    --repository, program, policies, components and workflows around environments/ are written too. What is there is
    never touched.
    """
    root = repository.expanduser().resolve() if repository else None
    there = root / paths.DATA if root else paths.environments()
    chosen = _halls(halls)
    _refuse(region, there / region, chosen)
    around = around_regions(region) if root else {}
    _refuse_files(root or there, around)
    texts = _texts(region, like_, chosen)
    made = _write(region, texts, there)
    steps = _next(region, like_)
    if root:
        made = [*_write_around(root, around), *(f"{paths.DATA}/{path}" for path in made)]
        steps = _first(root) | steps
    if output is Format.JSON:
        print_json({"environment": region, "files": made, "next": list(steps)})
    else:
        _tell(str(root or paths.DATA), made, like_, steps)


def _texts(region: str, like_: str | None, halls: list[str]) -> dict[str, str]:
    if like_ is None:
        return example(region, halls or ["a"])
    shape = data.load(like_)
    if halls and len(shape.region.sites) > 1:
        msg = f"--halls: {like_} has {len(shape.region.sites)} sites; leave it out and edit 'sites' of the new region"
        raise Stop(msg, ExitCode.BAD_DATA)
    return like(shape, paths.environments() / like_, region, halls)


def _tell(where: str, made: list[str], like_: str | None, steps: dict[str, str]) -> None:
    stdout().print(Text(f"{where}: {plural(len(made), 'new file')}"), soft_wrap=True)
    for path in made:
        stdout().print(Text(f"  {path}"), soft_wrap=True)
    if like_:
        show(f"its address ranges are those of {like_}: regions that share a backbone need others", "note")
    width = max(map(len, steps))
    stdout().print(Text("next:"))
    for command, why in steps.items():
        stdout().print(Text(f"  {command.ljust(width)}  {why}"), soft_wrap=True)


def _halls(given: str | None) -> list[str]:
    return [] if given is None else [hall.strip() for hall in given.split(",")]


def _refuse(region: str, folder: Path, halls: list[str]) -> None:
    wrong = []
    if not re.fullmatch(DNS_LABEL, region):
        wrong.append(
            f"region '{region}' is no name; write a letter, then lower-case letters, digits and '-', at most 63"
        )
    elif folder.exists():
        wrong.append(f"{folder} is there already; choose another name, or edit that one")
    odd = [hall for hall in halls if not re.fullmatch(LABEL, hall)]
    if odd:
        wrong.append(f"--halls: {listed(map(repr, odd))} is no name; write lower-case letters, digits and '-', as a,b")
    twice = sorted({hall for hall in halls if halls.count(hall) > 1})
    if twice:
        wrong.append(f"--halls: {listed(twice)} is there twice; name each once")
    if len(halls) > MAX_HALLS:
        wrong.append(f"--halls: {len(halls)} halls, at most {MAX_HALLS} can be made up; begin with fewer")
    if wrong:
        raise Stop("\n".join(wrong), ExitCode.BAD_DATA)


def _refuse_files(root: Path, texts: dict[str, str]) -> None:
    there = [path for path in texts if (root / path).exists()]
    if there:
        msg = f"{root}: {listed(there)} {'is' if len(there) == 1 else 'are'} there already; name an empty folder"
        raise Stop(msg, ExitCode.BAD_DATA)


def _write_around(root: Path, texts: dict[str, str]) -> list[str]:
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        replace_text(root / path, text)
    if is_of_this_machine(requirement()):
        show(f"{PIN_FILE} pins a path of this machine; before others use the repository, write an address", "note")
    return sorted(texts)


def _write(region: str, texts: dict[str, str], there: Path) -> list[str]:
    """Write the files, and a catalogue where there is none; return their paths below ``there``, the environments.

    Raises:
        SpecError: what was to be written is no environment; nothing is written then.
    """
    there.mkdir(parents=True, exist_ok=True)
    catalog = there / CATALOG
    with tempfile.TemporaryDirectory(dir=there, prefix=".new-") as temporary:
        root = Path(temporary)
        for path, text in texts.items():
            (root / region / path).parent.mkdir(parents=True, exist_ok=True)
            (root / region / path).write_text(text, encoding="utf-8")
        shutil.copytree(catalog if catalog.exists() else FILES / CATALOG, root / CATALOG)
        load_environment(region, root)
        parts = [part for part in (CATALOG, region) if not (there / part).exists()]
        made = sorted(
            str(path.relative_to(root)) for part in parts for path in (root / part).rglob("*") if path.is_file()
        )
        for part in parts:
            (root / part).rename(there / part)
    return made


def _first(root: Path) -> dict[str, str]:
    """Return the commands that make a repository ready, each with what it is for."""
    steps = {} if root == Path.cwd() else {f"cd {shlex.quote(str(root))}": "the new repository"}
    if not (root / ".git").exists():
        steps["git init"] = "its history"
    if not (root / ".venv").exists():
        steps["python3 -m venv .venv"] = "the Python that Pulumi.yaml names"
        steps[f".venv/bin/pip install -r {PIN_FILE}"] = "the version that it pins"
    return steps | {
        "source .venv/bin/activate": "for this shell",
        "jacquard setup": "engine, plugins, what rehearsals run",
    }


def _next(region: str, shape: str | None) -> dict[str, str]:
    """Return the commands that follow, each with what it is for."""
    if shape is None:
        return {
            f"jacquard allocate {region}": "write the numbers and hosts that the data leave open",
            f"jacquard check {region}": "check data and policies",
            f"jacquard up {region}": "bring it up on this machine",
        }
    return {
        f"jacquard inventory import FORMAT FILE --env {region} --hall HALL": "its hosts",
        f"jacquard allocate {region}": "once tenants/NAME.yaml say what runs there",
        f"jacquard check {region}": "check data and policies",
    }
