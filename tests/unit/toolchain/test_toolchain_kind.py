"""kind, Docker and node images: the doctor's report, and the table of images."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jacquard.lab.toolchain import doctor, kind, versions
from jacquard.lab.toolchain.doctor import Item, State
from jacquard.lab.toolchain.families import FAMILIES
from jacquard.machine import paths

NAMES = ("kind", "docker", "node image")
IMAGE = kind.DEFAULT.name
STOPPED = "Cannot connect to the Docker daemon at unix:///x."


def report(monkeypatch: pytest.MonkeyPatch) -> list[Item]:
    monkeypatch.setenv("JACQUARD_CLUSTER", "kind")
    return [item for item in doctor.report() if item.name in NAMES]


def program(folder: Path, name: str, script: str) -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


@pytest.mark.usefixtures("pip", "search_path")
def test_missing_programs_are_named_with_the_release_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert report(monkeypatch) == [
        Item(
            name="kind",
            state=State.MISSING,
            used="",
            where="",
            remedy="kind: is not on PATH; run 'go install sigs.k8s.io/kind@v0.32.0', or unset JACQUARD_CLUSTER",
        ),
        Item(
            name="docker",
            state=State.MISSING,
            used="",
            where="",
            remedy="docker: is not on PATH; install Docker Engine, or unset JACQUARD_CLUSTER",
        ),
        Item(
            name="node image",
            state=State.MISSING,
            used=IMAGE,
            where="",
            remedy="docker: not usable, so the image cannot be looked up",
        ),
    ]


@pytest.mark.usefixtures("pip")
def test_a_daemon_that_does_not_answer_and_an_old_kind_are_wrong(
    search_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = program(search_path, "kind", 'echo "kind v0.30.0 go1.24.6 linux/amd64"')
    client = program(search_path, "docker", f'echo "{STOPPED}" >&2; exit 1')

    found = report(monkeypatch)

    assert found[:2] == [
        Item(
            name="kind",
            state=State.WRONG,
            used="0.30.0",
            where=str(old),
            remedy=f"kind: 0.30.0 is too old for node image {IMAGE}; run 'go install sigs.k8s.io/kind@v0.32.0'",
        ),
        Item(
            name="docker",
            state=State.WRONG,
            used="",
            where=str(client),
            remedy=f"docker: the daemon does not answer ({STOPPED}); start it, or unset JACQUARD_CLUSTER",
        ),
    ]


@pytest.mark.usefixtures("pip")
def test_a_machine_with_both_reports_versions_and_the_missing_image(
    search_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(search_path, "kind", 'echo "kind v0.33.0 go1.26.8 linux/amd64"')
    program(search_path, "docker", '[ "$1" = version ] && echo 28.2.2 && exit; echo "No such image" >&2; exit 1')

    found = report(monkeypatch)

    assert [(item.state, item.used) for item in found] == [
        (State.OK, "0.33.0"),
        (State.OK, "28.2.2"),
        (State.WRONG, IMAGE),
    ]
    assert found[2].remedy == (
        f"docker: image {IMAGE} does not exist; run 'docker pull {IMAGE}', set JACQUARD_KIND_IMAGE to another image, or"
        " unset JACQUARD_CLUSTER"
    )
    program(search_path, "docker", "echo 28.2.2")
    assert [item.state for item in report(monkeypatch)] == [State.OK] * 3
    assert kind.problems() == []


@pytest.mark.usefixtures("pip", "search_path")
def test_other_clusters_need_neither_kind_nor_docker() -> None:
    assert [item for item in doctor.report() if item.name in NAMES] == []


def test_the_image_is_chosen_by_version_or_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(kind.KIND_IMAGE, raising=False)
    default = kind.node_image()
    monkeypatch.setenv(kind.KIND_IMAGE, "v1.35.0")
    by_version = kind.node_image()
    monkeypatch.setenv(kind.KIND_IMAGE, "registry.example/node:mine")

    assert default == IMAGE
    assert by_version.startswith("kindest/node:v1.35.0@sha256:")
    assert kind.node_image() == "registry.example/node:mine"


def test_the_default_is_the_minor_version_that_other_local_clusters_run() -> None:
    [family] = [family for family in FAMILIES if family.name == "kubernetes"]
    built = versions.parse(versions.of_module(family.folder / "go.mod", family.module))
    default = versions.parse(kind.DEFAULT.kubernetes)

    assert built is not None
    assert default is not None
    assert built[:2] == default[:2]


def test_the_page_lists_each_image_with_its_release() -> None:
    page = (paths.ROOT / "docs/lab/use-kind.md").read_text(encoding="utf-8")

    rows = re.findall(r"^\| (v[0-9.]+) \| (v[0-9.]+)(?: or newer)? \| `(\S+)` \|$", page, re.MULTILINE)

    assert rows == [(row.kubernetes, row.kind, row.name) for row in kind.NODE_IMAGES]


def test_images_are_pinned_and_ordered() -> None:
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", row.digest) for row in kind.NODE_IMAGES)
    numbers = [versions.parse(row.kubernetes) or (0, 0, 0) for row in kind.NODE_IMAGES]
    assert numbers == sorted(set(numbers), reverse=True)
