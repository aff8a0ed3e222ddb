"""Rule about projects in the version vector whose versions are incompatible (``version_limits.yaml``)."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml
from pydantic import Field

from components.lookups.charts import needed_charts
from components.lookups.pools import DataPath, place, problem
from components.render.pools import ironcore_metal
from components.rules.rule import Rules
from components.specs.base import Label, Spec, Text
from components.specs.environment import Environment
from components.specs.reading.loader import VERSIONS
from components.specs.reading.problems import Problem

FILE = Path(__file__).with_suffix(".yaml")
_NUMBER = re.compile(r"[0-9]+")


class VersionLimit(Spec):
    """Limit on the version of a project, which applies to versions of another project."""

    project: Label
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
    why: Text
    source: str = Field(pattern=r"^[-A-Za-z0-9]+/[-A-Za-z0-9]+:\S+$")
    """Source of the limit, ``owner/repository:path``."""


@cache
def version_limits() -> tuple[VersionLimit, ...]:
    """Return all limits, in the order of the file."""
    return tuple(map(VersionLimit.model_validate, yaml.safe_load(FILE.read_text(encoding="utf-8"))))


def limits(environment: Environment) -> Iterator[Problem]:
    """Report versions that are incompatible with those of other projects, and artefacts without their projects."""
    yield from _unnamed(environment)
    versions = dict(_versions(environment))
    for limit in version_limits():
        project, other = versions.get(limit.project), versions.get(limit.other)
        if project is None or other is None or not _within(project[0], limit.since, limit.below):
            continue
        if not _within(other[0], limit.other_from, limit.other_below):
            there = place(environment, VERSIONS, project[1])
            bounds = [f"from {limit.other_from}" if limit.other_from else "", f"below {limit.other_below}"]
            wanted = " and ".join(bound for bound in bounds if bound and not bound.endswith("None"))
            text = (
                f"{limit.other} {other[0]} is not compatible with {limit.project} {project[0]} ({there}), because"
                f" {limit.why}; write a version {wanted}"
            )
            yield problem(environment, VERSIONS, other[1], text)


def _unnamed(environment: Environment) -> Iterator[Problem]:
    """Yield the manifests of IronCore's operators if their version of boot-operator is unknown."""
    needed = needed_charts(environment)
    for index, artefact in enumerate(environment.versions.manifests):
        if artefact.name == ironcore_metal.CHART and artefact.name in needed and not artefact.contents:
            text = "is required, because the artefact contains two projects; add contents with the version of each:"
            path = ("manifests", index, "contents")
            yield problem(environment, VERSIONS, path, f"{text} {{metal-operator: ..., boot-operator: ...}}")


def _versions(environment: Environment) -> Iterator[tuple[str, tuple[str, DataPath]]]:
    """Yield the projects that a region installs, each with its version and the path of the version."""
    vector, needed = environment.versions, needed_charts(environment)
    for index, chart in enumerate(vector.charts):
        if chart.name in needed:
            yield chart.name, (chart.version, ("charts", index, "version"))
    for index, artefact in enumerate(vector.manifests):
        if artefact.name in needed:
            yield artefact.name, (artefact.version, ("manifests", index, "version"))
            for name, version in artefact.contents.items():
                yield name, (version, ("manifests", index, "contents", name))
    if vector.ironic is not None:
        yield "ironic", (vector.ironic.version, ("ironic", "version"))


def _within(version: str, first: str | None, end: str | None) -> bool:
    numbers = _numbers(version)
    return (first is None or numbers >= _numbers(first)) and (end is None or numbers < _numbers(end))


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of ``version``; in a pseudo-version without the commit, which has no order."""
    return tuple(int(number) for number in _NUMBER.findall(version.rpartition("-")[0] or version))


RULES = Rules(data=(limits,))
