"""``jacquard schema``: what is generated from the models of the data files, kept current."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from components.reports.network.border import BorderContract
from components.reports.network.network import RegionNetwork
from components.reports.network.partitions import PartitionsContract
from components.reports.network.paths import Path as NetworkPath
from components.reports.offers import Offerings
from components.reports.platform_images import PlatformImages
from components.reports.prerequisites import Prerequisites
from components.specs.base import Spec
from components.specs.reading import reference
from components.specs.reading import schema as schemas
from components.specs.reading.files import read_text
from components.specs.reading.kinds import KINDS, data_files
from components.specs.reading.problems import SpecError, listed
from components.specs.vms import vm_chart
from jacquard.cli import arguments, outputs
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.views import commands, man_page
from jacquard.machine import paths
from jacquard.machine.files import replace_text
from jacquard.observe.drift import Drift
from jacquard.observe.facts import Facts
from jacquard.previews.impacts.impact import Impact
from jacquard.previews.preview import Preview
from jacquard.previews.rendered_diff import RenderedDiff
from policies import page

_ANSWERS: dict[str, tuple[str, type[Spec]]] = {
    "impact": ("what a change does", Impact),
    "facts": ("what is known of a region at one moment", Facts),
    "drift": ("what is not as it is declared", Drift),
    "preview": ("what a preview says of a change", Preview),
    "border": ("what the border of a region does for VPCs", BorderContract),
    "network": ("which networks tenants have in a region", RegionNetwork),
    "network-partitions": ("which ports are members of which partitions", PartitionsContract),
    "network-path": ("whether one end of a network may reach another", NetworkPath),
    "offerings": ("what can be ordered in a region", Offerings),
    "platform-images": ("what the platform of a region fetches for itself", PlatformImages),
    "prerequisites": ("what a region is given by its platform", Prerequisites),
    "rendered-diff": ("what a base and a head render otherwise", RenderedDiff),
}
"""Title and model of what commands answer with, by the name of the schema."""


def schema(
    *,
    write: Annotated[bool, typer.Option("--write", help="Write what is not current. Default: only say so.")] = False,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Keep schemas, editor headers and the field reference current.

    All are made from the code: the files of schemas/, by which editors complete and check data files, the first line
    of each data file, which names its schema, docs/reference/ from the models and the help of verbs, the manual page
    among it, docs/reference/policies.md from the rules. Without --write nothing is changed, and the command ends with
    1 when something is not current.
    """
    root = paths.environments().parent
    wanted = generated(root)
    stale = sorted(path for path, text in wanted.items() if not path.exists() or path.read_bytes() != text.encode())
    gone = sorted(_leftovers(root) - wanted.keys())
    if write:
        _refuse_foreign(root, stale)
        for path in stale:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_text(path, wanted[path])
        for path in gone:
            path.unlink()
    names = [path.relative_to(root).as_posix() for path in (*stale, *gone)]
    if output is Format.JSON:
        print_json({"stale": names, "written": write and bool(names), "current": len(wanted) - len(stale)})
    else:
        for name in names:
            stdout().print(Text(f"{name}: {'written' if write else 'not current'}"), soft_wrap=True)
        stdout().print(Text(f"{plural(len(wanted) - len(stale), 'file')} current"), soft_wrap=True)
    if names and not write:
        msg = f"{plural(len(names), 'file')} not current; run 'jacquard schema --write' and review it"
        raise Stop(msg)


def generated(root: Path) -> dict[Path, str]:
    """Return the text of each file below ``root`` that is made from the models, in whole or in its first line.

    Raises:
        SpecError: a data file cannot be read.
    """
    folder = root / paths.environments().name
    texts = {root / schemas.FOLDER / schemas.file_name(kind): schemas.schema_text(kind) for kind in KINDS}
    if paths.own() is None:
        texts |= _pages(root)
    for path, kind in data_files(folder):
        if not kind.locked:
            texts[path] = schemas.with_header(_text(path, folder), schemas.header(kind, path, folder))
    return texts


def _pages(root: Path) -> dict[Path, str]:
    """Return what is said of Jacquard itself, which a repository of regions has no copy of."""
    texts = {root / reference.FOLDER / name: text for name, text in reference.pages().items()}
    for name, (title, model) in _ANSWERS.items():
        texts[root / schemas.FOLDER / f"{name}.schema.json"] = schemas.output_text(title, model)
    texts[root / vm_chart.FILE] = vm_chart.values_schema_text()
    return texts | {root / made.FILE: made.text() for made in (page, commands, man_page)}


def _text(path: Path, folder: Path) -> str:
    home, *inner = path.relative_to(folder).parts
    text, problem = read_text(path, "/".join(inner), folder)
    if problem:
        raise SpecError(home, [problem])
    return text


def _leftovers(root: Path) -> set[Path]:
    """Return the files that an older version generated, perhaps for a kind that is gone."""
    found = {*(root / reference.FOLDER).glob("*.md"), *(root / schemas.FOLDER).glob("*.schema.json")}
    return {path for path in found if not outputs.foreign(path, schemas.MARK)}


def _refuse_foreign(root: Path, stale: list[Path]) -> None:
    """Refuse to write over files of somebody else; of a data file only the first line is written anew.

    Raises:
        Stop: there are such files.
    """
    names = [
        path.relative_to(root).as_posix()
        for path in stale
        if not path.is_relative_to(paths.environments()) and outputs.foreign(path, schemas.MARK)
    ]
    if names:
        msg = f"{listed(names)}: there already, and not written by jacquard schema; move or remove first"
        raise Stop(msg, ExitCode.BAD_DATA)
