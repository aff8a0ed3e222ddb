"""``jacquard new``: creates the folder of a new environment; invalid files are not written."""

import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from components.specs.base import DNS_LABEL, LABEL
from components.specs.fleet.fleet import RegionStatus
from components.specs.reading.fleet import load_regions
from components.specs.reading.loader import CATALOG, FLEET, RESERVED, load_environment
from components.specs.reading.problems import listed
from components.specs.struct import Struct
from jacquard.cli import arguments, data
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.failures import installed_version
from jacquard.machine import paths
from jacquard.machine.files import replace_text
from jacquard.machine.pins import PIN_FILE, is_of_this_machine, requirement
from jacquard.starters.hosts import MAX_HALLS
from jacquard.starters.region import FILES, catalogue, example, like, schemas, with_building
from jacquard.starters.region import repository as around_regions
from jacquard.starters.written_files import FILE as ARCHIVE
from jacquard.starters.written_files import Written, packed

_Region = Annotated[str, typer.Argument(metavar="REGION", help="Name of the region and of its folder.")]
_Like = Annotated[
    str | None,
    typer.Option("--like", metavar="ENV", help="Copy this environment, without its tenants, hosts and lock files."),
]
_Halls = Annotated[
    str | None,
    typer.Option(
        "--halls", metavar="A,B", help="Halls of the site. Default: a, or the halls of --like.", show_default=False
    ),
]
_Repository = Annotated[
    Path | None,
    typer.Option(
        "--repository",
        metavar="DIR",
        help="Create a repository in DIR and add the region to it. Default: add the region to the current repository.",
    ),
]
_LISTS = {
    ".gitlab-ci.yml": ("REGION", "if you use GitLab, add {} to the regions in .gitlab-ci.yml"),
    ".pre-commit-config.yaml": (
        "jacquard-allocate",
        "to check the lock files of {0} before each commit, add a hook with args: [{0}] to .pre-commit-config.yaml",
    ),
}
"""Files that list regions: a text of those that do, and the note about a region that is missing."""
_SETUP = {"jacquard setup": "install the engine and the tools of rehearsals, once; needs Go"}


class _New(Struct):
    """Result of the command in the folder of all environments, with paths relative to it."""

    files: list[str]
    edited: list[str]
    """Existing files that the command edited."""
    lines: list[str]
    """Lines of the summary about existing files."""


def new(
    region: _Region,
    *,
    like_: _Like = None,
    halls: _Halls = None,
    repository: _Repository = None,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Create the files of a new environment.

    Without --like, creates a small rehearsal with example hosts and one tenant, which runs on this machine; edit it
    from there. With --like, copies everything except tenants and hosts, which you then write and import. With
    --repository, also creates the program, policies, components and workflows around environments/. If there is a
    fleet.yaml, the region is added to it as building. Other existing files are never changed.
    """
    root = repository.expanduser().resolve() if repository else None
    folder = root / paths.DATA if root else paths.environments()
    chosen = _halls(halls)
    _refuse(region, folder / region, chosen)
    unedited = around_regions(region) if root else {}
    around = unedited | schemas() if root else {}
    if root:
        _refuse_files(root, [ARCHIVE, *around])
    texts = _texts(region, like_, chosen)
    written = _write(region, texts, folder)
    files, edited = written.files, written.edited
    steps = _next(region, like_, _SETUP if root else {})
    if root:
        archive = Written(version=installed_version(), region=region, texts=unedited | catalogue())
        replace_text(root / ARCHIVE, packed(archive))
        files = [*sorted([ARCHIVE, *_write_around(root, around)]), *(f"{paths.DATA}/{path}" for path in files)]
        edited = [f"{paths.DATA}/{path}" for path in edited]
        steps = _first(root) | steps
    if output is Format.JSON:
        print_json({"environment": region, "files": files, "edited": edited, "next": list(steps)})
    else:
        _report(str(root or paths.DATA), files, written.lines, like_, steps)
        for note in [] if root else _missing_in_lists(region):
            show(note, "note")


def _missing_in_lists(region: str) -> Iterator[str]:
    """Yield a note about each file of the repository that lists regions, and does not contain ``region``."""
    for name, (text, note) in _LISTS.items():
        file = paths.environments().parent / name
        listing = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        if text in listing and region not in re.findall(r"[\w-]+", listing):
            yield note.format(region)


def _texts(region: str, like_: str | None, halls: list[str]) -> dict[str, str]:
    if like_ is None:
        return example(region, halls or ["a"])
    shape = data.load(like_)
    if halls and len(shape.region.sites) > 1:
        msg = f"--halls: {like_} has {len(shape.region.sites)} sites; omit --halls and edit 'sites' of the new region"
        raise Stop(msg, ExitCode.BAD_DATA)
    return like(shape, paths.environments() / like_, region, halls)


def _report(root: str, files: list[str], edits: list[str], like_: str | None, steps: dict[str, str]) -> None:
    stdout().print(Text(f"{root}: {plural(len(files), 'new file')}"), soft_wrap=True)
    for line in (*(f"  {path}" for path in files), *edits):
        stdout().print(Text(line), soft_wrap=True)
    if like_:
        show(f"the address ranges are those of {like_}; regions that share a backbone need different ones", "note")
    width = max(map(len, steps))
    stdout().print(Text("next:"))
    for command, why in steps.items():
        stdout().print(Text(f"  {command.ljust(width)}  {why}"), soft_wrap=True)


def _halls(text: str | None) -> list[str]:
    return [] if text is None else [hall.strip() for hall in text.split(",")]


def _refuse(region: str, folder: Path, halls: list[str]) -> None:
    wrong = []
    if not re.fullmatch(DNS_LABEL, region):
        wrong.append(
            f"region '{region}' is invalid; write a letter, then lower-case letters, digits and '-', at most 63"
        )
    elif region in RESERVED:
        wrong.append(f"region '{region}' is {RESERVED[region]}; choose another name")
    elif folder.exists():
        wrong.append(f"{folder} already exists; choose another name, or edit the existing files")
    invalid = [hall for hall in halls if not re.fullmatch(LABEL, hall)]
    if invalid:
        names = listed(map(repr, invalid))
        wrong.append(f"--halls: {names} is invalid; write lower-case letters, digits and '-', such as a,b")
    duplicates = sorted({hall for hall in halls if halls.count(hall) > 1})
    if duplicates:
        wrong.append(f"--halls: {listed(duplicates)} is duplicated; name each hall once")
    if len(halls) > MAX_HALLS:
        wrong.append(f"--halls: at most {MAX_HALLS} example halls are supported (got {len(halls)}); name fewer halls")
    if wrong:
        raise Stop("\n".join(wrong), ExitCode.BAD_DATA)


def _refuse_files(root: Path, files: list[str]) -> None:
    existing = [path for path in files if (root / path).exists()]
    if existing:
        verb = "exists" if len(existing) == 1 else "exist"
        msg = f"{root}: {listed(existing)} already {verb}; name an empty folder"
        raise Stop(msg, ExitCode.BAD_DATA)


def _write_around(root: Path, texts: dict[str, str]) -> list[str]:
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        replace_text(root / path, text)
    if is_of_this_machine(requirement()):
        show(f"{PIN_FILE} pins a local path; replace it with a URL before others use the repository", "note")
    return sorted(texts)


def _write(region: str, texts: dict[str, str], folder: Path) -> _New:
    """Write the files, a catalogue if there is none, and the entry of the fleet to ``folder``, all or none.

    Raises:
        SpecError: the files are not a valid environment, or ``fleet.yaml`` has problems; nothing is written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    catalog = folder / CATALOG
    with data.editing_in(folder, "new") as edit, tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as temporary:
        root = Path(temporary)
        for path, text in texts.items():
            (root / region / path).parent.mkdir(parents=True, exist_ok=True)
            replace_text(root / region / path, text)  # Its errors name the file.
        shutil.copytree(catalog if catalog.exists() else FILES / CATALOG, root / CATALOG)
        load_environment(region, root)
        _refuse(region, folder / region, [])  # Another command may have created it since.
        parts = [part for part in (CATALOG, region) if not (folder / part).exists()]
        files = sorted(path.relative_to(root) for part in parts for path in (root / part).rglob("*") if path.is_file())
        fleet, lines = _fleet(folder, region)
        edit.write({folder / path: (root / path).read_text(encoding="utf-8") for path in files} | fleet)
    return _New(files=list(map(str, files)), edited=[path.name for path in fleet], lines=lines)


def _fleet(folder: Path, region: str) -> tuple[dict[Path, str], list[str]]:
    """Return the edit that adds ``region`` to ``fleet.yaml``, and the line about it; both are empty without the file.

    Raises:
        SpecError: the file has problems.
    """
    spec, path = load_regions(folder), folder / Path(FLEET).name
    if spec is None:
        return {}, []
    if region in spec.regions:
        return {}, [f"{path.name}: {region} is listed already ({spec.regions[region].status})"]
    line = f"{path.name}: {region} is added as {RegionStatus.BUILDING}; add its jurisdictions before it is opened"
    return {path: with_building(path.read_text(encoding="utf-8"), region)}, [line]


def _first(root: Path) -> dict[str, str]:
    """Return the commands that prepare a new repository, with their purposes."""
    steps = {} if root == Path.cwd() else {f"cd {shlex.quote(str(root))}": "enter the new repository"}
    if not (root / ".git").exists():
        steps["git init"] = "initialize git"
    if not (root / ".venv").exists():
        steps["python3 -m venv .venv"] = "create the virtual environment that Pulumi.yaml names"
        steps[f".venv/bin/pip install -r {PIN_FILE}"] = "install the pinned version"
    return steps | {"source .venv/bin/activate": "activate it in this shell"}


def _next(region: str, shape: str | None, setup: Mapping[str, str]) -> dict[str, str]:
    """Return the next commands, with their purposes; ``setup`` is a command before the first one with the engine."""
    if shape is None:
        return {
            f"jacquard allocate {region}": "allocate the numbers and hosts that the data leave open",
            f"jacquard check {region}": "check data and policies",
            **setup,
            f"jacquard up {region}": "run it on this machine",
        }
    return {
        f"jacquard inventory import FORMAT FILE --env {region} --hall HALL": "import its hosts",
        f"jacquard allocate {region}": "after you write tenants/NAME.yaml: allocate numbers and hosts",
        f"jacquard check {region}": "check data and policies",
        **setup,
    }
