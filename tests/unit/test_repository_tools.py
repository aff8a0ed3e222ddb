"""Tools of a repository of regions: pre-commit hooks, container image, development container and Renovate."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from jacquard.machine import paths
from jacquard.starters.region import repository
from tests.support.data.repositories import COMMIT, git

FILES = repository("edge-1")
HOOKS = paths.ROOT / ".pre-commit-hooks.yaml"
CATALOGUE = paths.ROOT / "environments" / "catalog" / "versions.yaml"
RECORD = """#!/bin/bash
echo "$*" >> ../calls
[ "$1" != "$(cat ../failing 2>/dev/null)" ]
"""


def tool(name: str, *arguments: str | Path, folder: Path = paths.ROOT) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PRE_COMMIT_HOME": str(folder.parent / "pre-commit"), "NO_COLOR": "1"}
    return subprocess.run(
        [paths.VENV / "bin" / name, *arguments], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A new repository with a changed file, whose command only records its calls."""
    folder = tmp_path / "regions"
    for name, text in {**FILES, "environments/edge-1/region.yaml": "region: edge-1\n"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "jacquard").write_text(RECORD)
    (folder / ".venv" / "bin" / "jacquard").chmod(0o755)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, *COMMIT)
    return folder


def test_hooks_run_for_changes_of_data_only(project: Path) -> None:
    (project / "README.md").write_text("other\n")
    git(project, "add", "-A")
    done = tool("pre-commit", "run", folder=project)
    assert (done.returncode, (project.parent / "calls").exists()) == (0, False), done.stdout + done.stderr

    (project / "environments" / "edge-1" / "region.yaml").write_text("region: edge-1  # edited\n")
    git(project, "add", "-A")
    done = tool("pre-commit", "run", folder=project)

    assert done.returncode == 0, done.stdout + done.stderr
    assert (project.parent / "calls").read_text().splitlines() == ["check", "schema", "allocate --check edge-1"]


def test_a_command_that_fails_refuses_the_commit(project: Path) -> None:
    (project.parent / "failing").write_text("allocate")

    done = tool("pre-commit", "run", "--all-files", folder=project)

    assert done.returncode == 1
    assert re.findall(r"(.+?)\.{3,}(\w+)", done.stdout) == [
        ("data and policies of all regions", "Passed"),
        ("schemas and headers of data files", "Passed"),
        ("lock files of edge-1", "Failed"),
    ]


def test_published_hooks_are_those_of_a_new_repository() -> None:
    assert tool("pre-commit", "validate-manifest", HOOKS).returncode == 0
    [local] = yaml.safe_load(FILES[".pre-commit-config.yaml"])["repos"]
    hooks = {hook["id"]: hook for hook in local["hooks"]}
    published = {hook["id"]: hook for hook in yaml.safe_load(HOOKS.read_text())}
    allocate = {"name": published["jacquard-allocate"]["name"]}
    hooks["jacquard-allocate"] |= allocate
    assert hooks["jacquard-allocate"].pop("args") == ["edge-1"]
    assert hooks == published


def test_hadolint_accepts_the_image(tmp_path: Path) -> None:
    done = tool(
        "hadolint", "--failure-threshold", "style", paths.ROOT / "jacquard/starters/files/repository/Dockerfile"
    )
    assert (done.returncode, done.stdout) == (0, "")

    other = tmp_path / "Dockerfile"
    other.write_text("FROM python\n")
    assert tool("hadolint", other).returncode == 1


def test_the_image_is_pinned_runs_no_root_and_has_no_build_tools() -> None:
    text = FILES["Dockerfile"]
    stages = re.findall(r"^FROM (\S+)", text, re.MULTILINE)

    assert stages == ["python:3.11-slim-bookworm@${PYTHON_DIGEST}", "base", "base"]
    assert "ARG PYTHON_DIGEST\n" in text, "a default would be the digest of an old image"
    assert re.findall(r"^USER (\d+)", text, re.MULTILINE) == ["10001"]
    assert FILES[".dockerignore"].splitlines()[-2:] == ["*", "!requirements.txt"]


def test_the_development_container_installs_the_pinned_version() -> None:
    container = json.loads(FILES[".devcontainer/devcontainer.json"])
    go = re.search(r"Go ([\d.]+)", FILES["README.md"])

    assert container["postCreateCommand"] == "python -m venv .venv && .venv/bin/pip install -r requirements.txt"
    assert go
    assert container["features"]["ghcr.io/devcontainers/features/go:1"] == {"version": go[1].rstrip(".")}


def managers() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(FILES["renovate.json"])["customManagers"]
    return found


def test_the_published_schema_accepts_the_rules_of_renovate(tmp_path: Path) -> None:
    (tmp_path / "renovate.json").write_text(FILES["renovate.json"])
    done = tool("check-jsonschema", "--builtin-schema", "vendor.renovate", tmp_path / "renovate.json")

    assert done.returncode == 0, done.stdout + done.stderr


def test_renovate_finds_each_chart_and_image_of_the_catalogue() -> None:
    catalogue = yaml.safe_load(CATALOGUE.read_text())
    wanted = {
        (row["url"].removeprefix("oci://"), str(row["version"]), row["digest"])
        for kind in ("charts", "manifests")
        for row in catalogue[kind]
    } | {(tool["image"], None, tool["digest"]) for tool in catalogue["tools"]}
    found = set()
    for manager in managers():
        [pattern] = manager["managerFilePatterns"]
        assert re.search(pattern.strip("/"), "environments/catalog/versions.yaml")
        for expression in manager["matchStrings"]:
            for match in re.finditer(expression.replace("(?<", "(?P<"), CATALOGUE.read_text()):
                is_image = match[0].startswith("image:")
                found.add((match["depName"], None if is_image else match["currentValue"], match["currentDigest"]))
                assert re.search(r"\d+\.\d+", match["currentValue"])

    assert wanted - found == set()


def test_renovate_does_not_update_the_package_of_another_project() -> None:
    rules = json.loads(FILES["renovate.json"])["packageRules"]

    assert [rule["enabled"] for rule in rules if rule.get("matchPackageNames") == ["jacquard"]] == [False]
