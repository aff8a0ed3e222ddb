"""The YAML program of the page about other languages, run by Pulumi's language host for YAML and the real engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from components.render.manifest import Manifest
from jacquard.component_provider.components import PACKAGE
from jacquard.lab.toolchain import binaries
from jacquard.machine import paths
from jacquard.providers.kube import ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.docs.documents import DOCS, yaml_blocks
from tests.support.engine.pool_server import pool_objects, pool_server
from tests.support.engine.pulumi_project import Project

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]
POOL = "acme-train-infer"


@pytest.fixture(scope="module")
def objects() -> list[Manifest]:
    """The objects of the pool."""
    return pool_objects(POOL)


@pytest.fixture
def server(tmp_path: Path, objects: list[Manifest]) -> Iterator[LocalApiServer]:
    with pool_server(tmp_path / "server", objects) as running:
        yield running


@pytest.fixture
def project(server: LocalApiServer, tmp_path: Path) -> Project:
    """The program of the page, with the paths of this machine."""
    [program] = [yaml.safe_load(block) for block in yaml_blocks(DOCS / "guides" / "other-languages.md")]
    properties = program["resources"]["infer"]["properties"]
    properties["kubeconfigs"]["management"] = str(server.kubeconfig)
    properties["data"] = str(ENVIRONMENTS)
    for entry in program["plugins"]["providers"]:
        entry["path"] = str(paths.ROOT / entry["path"])
    host = binaries.path("pulumi-language-yaml").parent  # Next to the engine in the vendor's releases
    program["plugins"]["languages"] = [{"name": "yaml", "path": str(host)}]
    made = Project(tmp_path / "project", server.kubeconfig)
    (made.folder / "__main__.py").unlink()
    (made.folder / "Pulumi.yaml").write_text(json.dumps(program))
    made.init()  # The stack of the program's own project
    return made


def test_the_program_of_the_page_applies_and_deletes_its_pool(
    server: LocalApiServer, project: Project, objects: list[Manifest]
) -> None:
    up = project.up()
    assert up.code == 0, up.text
    groups = sorted(item.name for item in objects if item.kind == "MachineDeployment")
    outputs = project.pulumi("stack", "output", "-s", "test", "--json")
    assert groups
    assert sorted(json.loads(outputs.stdout)["groups"]) == groups
    live = [server.api.get(ObjectRef(item.api_version, item.kind, item.name, item.namespace)) for item in objects]
    assert None not in live

    again = project.preview("--expect-no-changes")
    assert again.code == 0, again.text

    down = project.pulumi("destroy", "-s", "test", "--yes", "--skip-preview")
    assert down.code == 0, down.text
    exported = project.pulumi("stack", "export", "-s", "test")
    found = json.loads(exported.stdout)["deployment"].get("resources") or []
    assert [one for one in found if one["type"].startswith(PACKAGE)] == []


def test_an_unknown_output_of_the_component_is_named(project: Project) -> None:
    file = project.folder / "Pulumi.yaml"
    file.write_text(file.read_text().replace("rolloutGroups", "rolloutGroup"))

    preview = project.preview()

    assert preview.code != 0
    assert "rolloutGroup does not exist" in preview.text
