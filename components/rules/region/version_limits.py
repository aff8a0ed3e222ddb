"""Rules about projects whose versions are incompatible or lack a required fix (``version_limits.yaml``)."""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from pathlib import Path

import yaml
from pydantic import Field

from components.intents.dpus import find_dpu_image
from components.lookups.charts import DataPlace, needed_charts
from components.lookups.network.dpus import uses_dpf
from components.lookups.pools import place, problem
from components.render.network.dpus import HBN_IMAGE
from components.render.pools import ironcore_metal
from components.rules.rule import Rules
from components.specs.base import Label, Spec, Text
from components.specs.environment import Environment
from components.specs.reading.loader import REGION, VERSIONS
from components.specs.reading.problems import Problem, listed

FILE = Path(__file__).with_suffix(".yaml")
_NUMBER = re.compile(r"[0-9]+")
_DOCA = "doca"
"""Release of DOCA in the region's DPU image."""


class Same(StrEnum):
    """Part of a version that two projects share."""

    VERSION = "version"
    TRAIN = "train"


class VersionLimit(Spec):
    """Limit on the version of a project, which applies to versions of another project or always."""

    project: Label | None = None
    """Project to whose versions the limit applies; None for a limit that always applies. The name of ``other`` for
    versions between two fixes, if only some trains have the fault."""
    since: Text | None = Field(default=None, alias="from")
    """First version of ``project`` to which the limit applies."""
    below: Text | None = None
    """First later version of ``project`` to which the limit does not apply."""
    other: Label
    """Project whose version is limited."""
    other_from: Text | None = None
    """First compatible version of ``other``."""
    other_below: Text | None = None
    """First later version of ``other`` that is not compatible."""
    other_versions: tuple[Text, ...] = ()
    """Compatible versions of ``other``; empty for all."""
    other_trains: tuple[Text, ...] = ()
    """Compatible trains of ``other``, such as ``3.2``; empty for all."""
    other_same: Same | None = None
    """Part of the version that ``other`` shares with ``project``."""
    why: Text
    source: str = Field(pattern=r"^[-A-Za-z0-9]+/[-A-Za-z0-9]+:\S+$")
    """Source of the limit, ``owner/repository:path``."""

    def wanted(self, project: str, other: str) -> str:
        """Return the compatible versions of ``other``, for version ``project``; empty if version ``other`` is one.

        Version ``project`` is irrelevant for a limit that always applies.
        """
        if not _within(project, self.since, self.below):
            return ""
        versions = (project,) if self.other_same is Same.VERSION else self.other_versions
        trains = (_train(project),) if self.other_same is Same.TRAIN else self.other_trains
        if versions and other not in versions:
            return listed(versions)
        if trains and _train(other) not in trains:
            return f"a release of train {listed(trains)}"
        bounds = [("from", self.other_from), ("below", self.other_below)]
        wanted = " and ".join(f"{word} {bound}" for word, bound in bounds if bound)
        return "" if _within(other, self.other_from, self.other_below) else f"a version {wanted}"


@cache
def version_limits() -> tuple[VersionLimit, ...]:
    """Return all limits, in the order of the file."""
    return tuple(map(VersionLimit.model_validate, yaml.load(FILE.read_bytes(), Loader=yaml.CSafeLoader)))


def limits(environment: Environment) -> Iterator[Problem]:
    """Report versions that are incompatible or lack a required fix, and artefacts that do not list their projects."""
    yield from _unnamed(environment)
    for limit, found in _violations(environment):
        if limit.other != _DOCA:
            yield found


def dpu_images(environment: Environment) -> Iterator[Problem]:
    """Report a DPU image that the release of DPF does not support."""
    for limit, found in _violations(environment):
        if limit.other == _DOCA:
            yield found


def _violations(environment: Environment) -> Iterator[tuple[VersionLimit, Problem]]:
    """Yield the limits that versions violate, each with its problem.

    Only the first violation of a version is reported. Versions with a violation do not limit others.
    """
    versions = dict(_versions(environment))
    for limit in version_limits():
        if limit.other not in versions or (limit.project is not None and limit.project not in versions):
            continue
        other, (file, path) = versions[limit.other]
        project, there = versions[limit.project or limit.other]
        if wanted := limit.wanted(project, other):
            remedy = "pick another DPU image" if limit.other == _DOCA else f"write {wanted}"
            if limit.project == _DOCA:
                remedy += ", or pick another DPU image"
            fault = f"not compatible with {limit.project} {project} ({place(environment, *there)})"
            own = limit.project in (None, limit.other)
            text = f"is {'not supported' if own else fault}, because {limit.why}; {remedy}"
            yield limit, problem(environment, file, path, f"{limit.other} {other} {text}")
            del versions[limit.other]


def _unnamed(environment: Environment) -> Iterator[Problem]:
    """Yield the manifests of IronCore's operators if their version of boot-operator is unknown."""
    needed = needed_charts(environment)
    for index, artefact in enumerate(environment.versions.manifests):
        if artefact.name == ironcore_metal.CHART and artefact.name in needed and not artefact.contents:
            text = "is required, because the artefact contains two projects; add contents with the version of each:"
            path = ("manifests", index, "contents")
            yield problem(environment, VERSIONS, path, f"{text} {{metal-operator: ..., boot-operator: ...}}")


def _versions(environment: Environment) -> Iterator[tuple[str, tuple[str, DataPlace]]]:
    """Yield the projects that a region installs, each with its version and the place of the version."""
    vector, needed = environment.versions, needed_charts(environment)
    for name, chart in vector.installed(environment.region.image_channel).items():
        if name in needed:
            yield name, (chart.version, (VERSIONS, ("charts", vector.charts.index(chart), "version")))
    for index, artefact in enumerate(vector.manifests):
        if artefact.name in needed:
            yield artefact.name, (artefact.version, (VERSIONS, ("manifests", index, "version")))
            for name, version in artefact.contents.items():
                yield name, (version, (VERSIONS, ("manifests", index, "contents", name)))
    if vector.ironic is not None:
        yield "ironic", (vector.ironic.version, (VERSIONS, ("ironic", "version")))
    if uses_dpf(environment):
        yield from _on_dpus(environment)


def _on_dpus(environment: Environment) -> Iterator[tuple[str, tuple[str, DataPlace]]]:
    """Yield the software on DPUs, as `_versions`."""
    if image := find_dpu_image(environment, environment.region.dpus.image):
        yield _DOCA, (image.doca, (REGION, ("dpus", "image")))
    for index, tool in enumerate(environment.versions.tools):
        if tool.name == HBN_IMAGE and tool.tag:
            yield tool.name, (tool.tag.partition("-")[0], (VERSIONS, ("tools", index, "tag")))


def _within(version: str, first: str | None, end: str | None) -> bool:
    numbers = _numbers(version)
    return (first is None or numbers >= _numbers(first)) and (end is None or numbers < _numbers(end))


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of ``version``; in a pseudo-version without the commit, which has no order."""
    return tuple(int(number) for number in _NUMBER.findall(version.rpartition("-")[0] or version))


def _train(version: str) -> str:
    return ".".join(version.split(".")[:2])


RULES = Rules(data=(limits, dpu_images))
