"""A component of the package `jacquard-components`, constructed by the real engine at a real API server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.render.manifest import Manifest
from jacquard.component_provider.components import PACKAGE
from jacquard.machine import paths
from jacquard.providers.kube import ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.engine.pool_server import pool_objects, pool_server
from tests.support.engine.pulumi_project import Project

pytestmark = pytest.mark.e2e
POOL = "globex-lab-lab"
PROGRAM = f"""
import os

import pulumi


class NodePool(pulumi.ComponentResource):
    def __init__(self, name, **arguments):
        super().__init__("{PACKAGE}:index:NodePool", name, {{**arguments, "rolloutGroups": None}}, remote=True)

    @property
    @pulumi.getter(name="rolloutGroups")
    def groups(self):
        return pulumi.get(self, "rolloutGroups")


pool = NodePool(
    "lab",
    environment="laptop",
    component="{POOL}",
    data="{ENVIRONMENTS}",
    kubeconfigs={{"management": pulumi.Output.from_input(os.environ["KUBECONFIG"])}},
)
pulumi.export("groups", pool.groups)
"""


@pytest.fixture(scope="module")
def objects() -> list[Manifest]:
    """The objects of the pool."""
    return pool_objects(POOL)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, objects: list[Manifest]) -> Iterator[LocalApiServer]:
    with pool_server(tmp_path_factory.mktemp("package") / "server", objects) as running:
        yield running


@pytest.fixture
def project(server: LocalApiServer, tmp_path: Path) -> Project:
    made = Project(tmp_path / "project", server.kubeconfig, PROGRAM)
    settings = json.loads((made.folder / "Pulumi.yaml").read_text())
    settings["plugins"]["providers"].append({"name": PACKAGE, "path": str(paths.VENV / "bin")})
    (made.folder / "Pulumi.yaml").write_text(json.dumps(settings))
    return made


def recorded(project: Project) -> list[dict[str, Any]]:
    outcome = project.pulumi("stack", "export", "-s", "test")
    assert outcome.code == 0, outcome.text
    return json.loads(outcome.stdout)["deployment"].get("resources") or []


def test_a_pool_of_the_package_is_applied_kept_and_deleted(
    server: LocalApiServer, project: Project, objects: list[Manifest]
) -> None:
    up = project.up()
    assert up.code == 0, up.text
    groups = sorted(item.name for item in objects if item.kind == "MachineDeployment")
    assert groups
    assert all(name in up.text for name in groups)
    live = [server.api.get(ObjectRef(item.api_version, item.kind, item.name, item.namespace)) for item in objects]
    assert None not in live
    [own] = (one for one in recorded(project) if one["type"] == f"{PACKAGE}:index:NodePool")
    assert sorted(own["outputs"]["rolloutGroups"]) == groups

    again = project.preview("--expect-no-changes")
    assert again.code == 0, again.text

    down = project.pulumi("destroy", "-s", "test", "--yes", "--skip-preview")
    assert down.code == 0, down.text
    assert [one for one in recorded(project) if one["type"].startswith(PACKAGE)] == []


def test_the_engine_reads_the_schema(project: Project) -> None:
    outcome = project.pulumi("package", "get-schema", str(paths.VENV / "bin" / f"pulumi-resource-{PACKAGE}"))

    assert outcome.code == 0, outcome.text
    assert f"{PACKAGE}:index:NodePool" in json.loads(outcome.stdout)["resources"]


def test_wrong_data_are_an_error_of_the_argument(project: Project) -> None:
    program = project.folder / "__main__.py"
    program.write_text(program.read_text().replace(POOL, "globex-lab-lob"))

    preview = project.preview()

    assert preview.code != 0
    assert "environment 'laptop' has no NodePool 'globex-lab-lob'" in preview.text
    assert "component_provider" not in preview.text, "the stack trace of the provider"
