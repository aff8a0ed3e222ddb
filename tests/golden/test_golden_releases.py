"""Regions as each release wrote them: a newer library accepts their data, replaces no node and flashes no DPU.

``releases/<version>/environments`` holds the data, ``releases/<version>/<region>.txt`` the objects that define nodes
and DPUs. The names of templates contain a digest of their content. Nothing refreshes these files. A region without its
text gets one with ``JACQUARD_UPDATE_GOLDEN=1``, when a release is recorded.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.allocate.allocation import allocate
from components.allocate.migrations import MIGRATIONS
from components.inputs.manifests import everything
from components.render.manifest import Manifest
from components.rules.checks import advisory_periods, check
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.reading.migrations import moves
from jacquard.starters.region import catalogue
from tests.support.checks.golden import UPDATE

RELEASES = Path(__file__).parent / "releases"
RECORDED = sorted(
    (release.name, region.parent.name)
    for release in RELEASES.iterdir()
    for region in release.glob("environments/*/region.yaml")
)
TEMPLATES = {
    "BFB",
    "DPUFlavor",
    "IroncoreMetalMachineTemplate",
    "K0sWorkerConfigTemplate",
    "KubeadmConfigTemplate",
    "Metal3DataTemplate",
    "Metal3MachineTemplate",
}
"""Kinds whose names contain a digest of their content."""


def refusing(environment: Environment) -> set[str]:
    """Return the rules that reject the data immediately: all that report them, except new advisory rules."""
    return {problem.rule for problem in check(environment)} - advisory_periods().keys()


NEVER_WORKED: dict[str, set[str]] = {
    "0.1.0": {
        "bare-metal.bmc-certificates",
        "bare-metal.netboot",
        "bare-metal.ramdisks",
        "networks.unfiltered-hosts",
        "rollouts.old-templates",
        "version-limits.limits",
    }
}
"""Newer rules that reject data of a release immediately, because real controllers never accepted such data or because
tenants were not isolated (see "Releases" in CONTRIBUTING.md).
"""


def migrated(release: str, region: str, folder: Path) -> Environment:
    shutil.copytree(RELEASES / release / "environments", folder)
    found, problems = moves(folder, region, MIGRATIONS)
    assert problems == []
    for move in found:
        move.path.write_text(move.text, encoding="utf-8")
    return load_environment(region, folder)


def decisive(environment: Environment) -> Iterator[str]:
    """Yield a line for each template, and for each object that selects one."""
    for item in everything(environment):
        if not isinstance(item, Manifest):
            continue
        place = f"{item.cluster} {item.kind} {item.namespace}/{item.name}"
        spec = item.body.get("spec", {})
        if item.kind in TEMPLATES:
            yield place
        elif item.kind == "MachineDeployment":
            machine = spec["template"]["spec"]
            references = machine["bootstrap"]["configRef"]["name"], machine["infrastructureRef"]["name"]
            after = spec["rollout"].get("after", "-")
            yield " ".join((place, machine["version"], machine["failureDomain"], *references, after))
        elif item.kind == "DPUDeployment":
            yield f"{place} {spec['dpus']['bfb']} {spec['dpus']['flavor']}"


@pytest.mark.parametrize(("release", "region"), RECORDED)
def test_data_of_a_release_are_accepted_and_allocated(release: str, region: str, tmp_path: Path) -> None:
    environment = migrated(release, region, tmp_path / "environments")

    assert refusing(environment) <= NEVER_WORKED[release]
    assert allocate(environment) == (environment.allocations, environment.image_pins)


@pytest.mark.parametrize(("release", "region"), RECORDED)
def test_a_newer_library_replaces_no_node_of_a_release(release: str, region: str, tmp_path: Path) -> None:
    lines = sorted(decisive(migrated(release, region, tmp_path / "environments")))
    recorded = RELEASES / release / f"{region}.txt"
    if os.environ.get(UPDATE) and not recorded.exists():
        recorded.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    assert lines == recorded.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(("release", "region"), RECORDED)
def test_an_upgraded_catalogue_replaces_no_node_of_a_release(release: str, region: str, tmp_path: Path) -> None:
    migrated(release, region, tmp_path / "environments")
    for path, text in catalogue().items():  # `jacquard upgrade` of an unedited catalogue
        (tmp_path / path).write_text(text, encoding="utf-8")
    environment = load_environment(region, tmp_path / "environments")

    assert refusing(environment) <= NEVER_WORKED[release]
    assert sorted(decisive(environment)) == (RELEASES / release / f"{region}.txt").read_text("utf-8").splitlines()


def test_the_library_has_recorded_releases() -> None:
    assert RECORDED
