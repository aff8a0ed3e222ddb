"""Files that are generated from the models of the data files, from help texts and from rules."""

from pathlib import Path

from components.reports.network.border import BorderContract
from components.reports.network.network import RegionNetwork
from components.reports.network.partitions import PartitionsContract
from components.reports.network.paths import Path as NetworkPath
from components.reports.offers import Offerings
from components.reports.platform_images import PlatformImages
from components.reports.prerequisites import Prerequisites
from components.specs.base import Spec
from components.specs.hosts.host_tests import HostTestReport
from components.specs.reading import reference
from components.specs.reading import schema as schemas
from components.specs.reading.files import read_text
from components.specs.reading.kinds import KINDS, data_files
from components.specs.reading.problems import SpecError
from components.specs.struct import Struct
from components.specs.vms import vm_chart_schema
from jacquard.cli import outputs
from jacquard.cli.upgrades.writing import write
from jacquard.cli.views import commands
from jacquard.machine import paths
from jacquard.machine.edits import Edit
from jacquard.observe.drift import Drift
from jacquard.observe.facts import Facts
from jacquard.previews.rendered_diff import RenderedDiff
from jacquard.previews.results import ImpactAnswer, PreviewAnswer
from policies import catalogue, page
from policies.report import PolicyReport

_ANSWERS: dict[str, tuple[str, type[Spec]]] = {
    "impact": ("Effects of a change", ImpactAnswer),
    "host-test-report": ("Test report of a host", HostTestReport),
    "facts": ("Facts of a region at one point in time", Facts),
    "drift": ("Differences between clusters and data", Drift),
    "preview": ("Preview of a change", PreviewAnswer),
    "border": ("Required configuration of border routers for VPCs", BorderContract),
    "network": ("Tenant networks of a region", RegionNetwork),
    "network-partitions": ("Member ports of InfiniBand partitions", PartitionsContract),
    "network-path": ("Reachability between two ends of a network", NetworkPath),
    "offerings": ("Offerings of a region", Offerings),
    "platform-images": ("Charts, providers and images of the platform", PlatformImages),
    "policies": ("Policies and waivers of a region", PolicyReport),
    "prerequisites": ("Prerequisites of a region", Prerequisites),
    "rendered-diff": ("Rendered differences between base and head", RenderedDiff),
}
"""Title and model of the JSON output of commands, and of test reports that they read, by the name of the schema."""


class Outdated(Struct):
    """Generated files that differ from the code."""

    stale: dict[Path, str]
    """New texts of missing and outdated files."""
    gone: list[Path]
    """Generated files that are no longer generated."""
    current: int
    """Number of current files."""

    def names(self, root: Path) -> list[str]:
        """Return the paths of all these files relative to ``root``."""
        return [path.relative_to(root).as_posix() for path in (*sorted(self.stale), *self.gone)]

    def write(self, edit: Edit) -> None:
        """Write the new texts, and remove files that are no longer generated."""
        write(edit, {**self.stale, **dict.fromkeys(self.gone)})


def outdated(root: Path) -> Outdated:
    """Return the generated files below ``root`` that differ from the code.

    Raises:
        SpecError: a data file cannot be read.
    """
    wanted = generated(root)
    stale = {path: text for path, text in wanted.items() if not path.exists() or path.read_bytes() != text.encode()}
    gone = sorted(_leftovers(root) - wanted.keys())
    return Outdated(stale=stale, gone=gone, current=len(wanted) - len(stale))


def generated(root: Path) -> dict[Path, str]:
    """Return the texts of the files below ``root`` that are generated completely or in their first line.

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
    """Return the reference pages and output schemas, which exist only in Jacquard's own repository."""
    texts = {root / reference.FOLDER / name: text for name, text in reference.pages().items()}
    for name, (title, model) in _ANSWERS.items():
        texts[root / schemas.FOLDER / f"{name}.schema.json"] = schemas.output_text(title, model)
    texts[root / vm_chart_schema.FILE] = vm_chart_schema.values_schema_text()
    return texts | {root / made.FILE: made.text() for made in (page, catalogue, commands)}


def _text(path: Path, folder: Path) -> str:
    home, *inner = path.relative_to(folder).parts
    text, problem = read_text(path, "/".join(inner), folder)
    if problem:
        raise SpecError(home, [problem])
    return text


def _leftovers(root: Path) -> set[Path]:
    """Return the files that this or an older version generated, including files of removed kinds."""
    files = {*(root / reference.FOLDER).glob("*.md"), *(root / schemas.FOLDER).glob("*.schema.json")}
    return {path for path in files if not outputs.foreign(path, schemas.MARK)}
