"""Rules about projects whose versions are incompatible or lack a required fix."""

from collections.abc import Iterator

from components.intents.dpus import find_dpu_image
from components.lookups.charts import DataPlace, needed_charts
from components.lookups.network.dpus import uses_dpf
from components.lookups.pools import place, problem
from components.lookups.versions.version_limits import VersionLimit, version_limits
from components.render.network.dpus import HBN_IMAGE
from components.render.pools import ironcore_metal
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.loader import REGION, VERSIONS, WAIVERS
from components.specs.reading.problems import Problem

_DOCA = "doca"
"""Release of DOCA in the region's DPU image."""


def limits(environment: Environment) -> Iterator[Problem]:
    """Report versions that are incompatible or lack a required fix, and artefacts that do not list their projects."""
    yield from _unnamed(environment)
    for limit, found in _violations(environment):
        if limit.other != _DOCA and not limit.waivable:
            yield found


def faults(environment: Environment) -> Iterator[Problem]:
    """Report versions with a fault that stops no region, but that a newer version fixes."""
    for limit, found in _violations(environment):
        if limit.waivable:
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
            if limit.waivable:
                remedy += f", or add a waiver for {limit.other} to {WAIVERS}"
            fault = f"not compatible with {limit.project} {project} ({place(environment, *there)})"
            text = f"is {'not supported' if limit.is_own else fault}, because {limit.why}; {remedy}"
            subject = limit.other if limit.waivable else ""
            yield limit, problem(environment, file, path, f"{limit.other} {other} {text}", subject)
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


RULES = Rules(data=(limits, faults, dpu_images), waivable=(faults,))
