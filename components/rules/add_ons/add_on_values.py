"""Rules about add-on values: the add-on is installed, its release permits the values, and they fit together."""

import re
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from components.lookups.add_ons import add_ons, overrides
from components.lookups.pools import DataPath, PlacedCluster, clusters, place, problem
from components.render.add_ons.reserved_values import nested_paths, reservation_reason
from components.rollout.chart_values import objection
from components.rules.rule import Rules
from components.specs.add_ons.add_on_values import AddOnValuesSpec, ChartValue
from components.specs.base import QUANTITY, bytes_of
from components.specs.environment import Environment
from components.specs.keys import chart_key
from components.specs.reading.loader import ADD_ONS, REGION, VERSIONS
from components.specs.reading.problems import Problem, undeclared
from components.specs.region.versions import Chart
from components.specs.struct import Struct

_KEY = "add_on_values"
_REQUESTS, _LIMITS = "requests", "limits"


class _Written(Struct, kw_only=False):
    """Values for an add-on in the data, with file, path, and the affected clusters."""

    name: str
    spec: AddOnValuesSpec
    file: str
    path: DataPath
    here: tuple[PlacedCluster, ...]


def _written(environment: Environment) -> Iterator[_Written]:
    every = tuple(clusters(environment))
    for name, spec in environment.region.add_on_values.items():
        yield _Written(name, spec, REGION, (_KEY, name), every)
    for placed in every:
        for name, spec in placed.cluster.add_on_values.items():
            yield _Written(name, spec, placed.file, (*placed.path, _KEY, name), (placed,))


def references(environment: Environment) -> Iterator[Problem]:
    """Report values for undeclared add-ons, and values in clusters without the add-on."""
    declared = [entry.name for entry in environment.add_ons.add_ons]
    for written in _written(environment):
        if written.name not in declared:
            yield problem(environment, written.file, written.path, undeclared(written.name, declared, ADD_ONS))
        elif written.file != REGION and not _with_add_on(environment, written):
            text = f"has no effect, because {written.here[0].cluster.name} does not have {written.name}; remove it"
            yield problem(environment, written.file, written.path, text)


def offered(environment: Environment) -> Iterator[Problem]:
    """Report values that the chart release does not permit, that the library reserves, or that have the wrong type."""
    for written in _written(environment):
        releases = tuple(_releases(environment, written))
        for path, value in written.spec.values.items():
            text = next((text for chart in releases if (text := objection(environment, chart, path, value))), "")
            if text:
                yield problem(environment, written.file, (*written.path, "values", path), text)


def tunable(environment: Environment) -> Iterator[Problem]:
    """Report tunable values in the catalogue that the library reserves, or that contain each other."""
    for index, chart in enumerate(environment.versions.charts):
        at = ("charts", index, "tunable")
        for path in chart.tunable:
            if why := reservation_reason(chart.name, path):
                yield problem(environment, VERSIONS, (*at, path), f"is kept by the library: {why}; remove it")
        if pair := nested_paths(chart.tunable):
            yield problem(environment, VERSIONS, at, f"{pair}: one contains the other; remove one of the two")


def requests(environment: Environment) -> Iterator[Problem]:
    """Report requests of a container that exceed its limit in the data: API servers reject its pods.

    The limit can be that of the region, and the request that of a cluster. Source:
    K8S:pkg/apis/core/validation/validation.go, ValidateContainerResourceRequirements.
    """
    reported: dict[tuple[str, DataPath], None] = {}
    for placed in clusters(environment):
        for name, values in overrides(environment, placed.cluster).items():
            amounts = {item.path: bytes_of(item.value) for item in values if _is_memory(item.value)}
            for path, amount in amounts.items():
                limit = ".".join(_LIMITS if key == _REQUESTS else key for key in path.split("."))
                at = _place_of(placed, name, path)
                if limit == path or amount <= amounts.get(limit, amount) or at in reported:
                    continue
                reported[at] = None
                (written,) = (item.value for item in values if item.path == limit)
                there = place(environment, *_place_of(placed, name, limit))
                text = f"exceeds {limit} ({written}, {there}); write {written} or less, or raise the limit"
                yield problem(environment, *at, text)


def _is_memory(value: ChartValue) -> TypeGuard[str]:
    return isinstance(value, str) and re.fullmatch(QUANTITY, value) is not None


def _place_of(placed: PlacedCluster, name: str, path: str) -> tuple[str, DataPath]:
    """Return file and path of the value that applies to a cluster: its own, or that of the region."""
    spec = placed.cluster.add_on_values.get(name)
    if spec is not None and path in spec.values:
        return placed.file, (*placed.path, _KEY, name, "values", path)
    return REGION, (_KEY, name, "values", path)


def _with_add_on(environment: Environment, written: _Written) -> list[PlacedCluster]:
    return [
        placed for placed in written.here if any(entry.name == written.name for entry in add_ons(environment, placed))
    ]


def _releases(environment: Environment, written: _Written) -> Iterable[Chart]:
    """Return the distinct chart releases that values apply to: releases of the clusters, or of a new cluster."""
    entry = next((entry for entry in environment.add_ons.add_ons if entry.name == written.name), None)
    if entry is None:
        return ()
    versions, pins = environment.versions, environment.image_pins
    usual = versions.installed(environment.region.image_channel).get(entry.chart)
    releases: dict[str, Chart | None] = {}
    for placed in _with_add_on(environment, written):
        intent = pins.chart_intents.get(pins.charts.get(chart_key(entry.chart, placed.cluster.name), ""))
        release = versions.release_of(intent.chart, intent.version) if intent else usual
        releases.setdefault(release.version if release else "", release)
    return [release for release in releases.values() or (usual,) if release]


RULES = Rules(data=(references, offered, requests, tunable))
