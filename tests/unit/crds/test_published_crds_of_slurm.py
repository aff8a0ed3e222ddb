"""Slurm's objects conform to the schemas of the operator's release that a cluster installs."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from components.render.manifest import Manifest
from components.specs.struct import replace
from tests.support.data.environment_data import reference
from tests.support.objects.published_crds import definition_of_module
from tests.support.objects.rendered_objects import objects_of
from tests.support.workloads.slurm_clusters import slurm_input

GROUP = "slinky.slurm.net"
KINDS = {"Accounting", "Controller", "LoginSet", "NodeSet", "RestApi"}
WITH_NAMESPACES = "1.1.0"
"""Release of the toolchain's module, the last one whose references have a namespace."""


class Oracle(Protocol):
    """Type of the fixture ``published``."""

    def problems(self, body: Any, definition: Any = None) -> list[str]: ...


def custom_objects(release: str) -> list[Manifest]:
    given = replace(slurm_input(reference("laptop")), operator=release)
    return [item for item in objects_of(given) if item.api_version.startswith(GROUP)]


@pytest.mark.parametrize("release", ["1.1.1", "1.1.2", "1.2.1"])
def test_objects_for_releases_without_namespaces_in_references_conform_to_the_newest_schema(
    published: Oracle, release: str
) -> None:
    custom = custom_objects(release)

    assert {item.kind for item in custom} == KINDS
    assert {item.key: found for item in custom if (found := published.problems(item.body))} == {}


def test_objects_for_release_1_1_0_conform_to_its_schema_alone(published: Oracle) -> None:
    custom = custom_objects(WITH_NAMESPACES)

    def problems(item: Manifest) -> list[str]:
        folder = "helm/slurm-operator-crds/templates"
        return published.problems(item.body, definition_of_module("slurm-operator", folder, GROUP, item.kind))

    assert {item.kind for item in custom} == KINDS
    assert {item.key: found for item in custom if (found := problems(item))} == {}
    assert {text for item in custom for text in published.problems(item.body)} == {
        ".spec.accountingRef.namespace: is unknown",
        ".spec.controllerRef.namespace: is unknown",
        *(f".spec.configFileRefs[{number}].namespace: is unknown" for number in range(2)),
    }
