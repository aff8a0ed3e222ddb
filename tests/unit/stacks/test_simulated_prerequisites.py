"""Simulated prerequisites of a local region match the list, and images have their declared contents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.reports.prerequisites import prerequisites
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal.operators.platform import is_exclusive
from jacquard.machine import paths
from stacks import program
from stacks.rehearsal import write_list


@pytest.mark.parametrize("name", ["laptop", "eu-south-03a"])
def test_all_objects_among_the_prerequisites_are_listed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACQUARD_HOME", str(tmp_path))
    environment = load_environment(name, paths.ROOT / "environments")

    write_list(environment)

    items = [one for form in prerequisites(environment).forms for one in form.items if one.cluster]
    listed = json.loads(paths.given(name).read_text())
    assert {(one["kind"], one["cluster"], one["namespace"], one["name"], tuple(one["keys"])) for one in listed} == {
        (one.kind, one.cluster, one.namespace or "", one.name, one.keys) for one in items
    }
    assert len(listed) == len(items) > 0


def test_nodes_of_a_local_region_have_the_rdma_settings_of_their_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACQUARD_HOME", str(tmp_path))

    write_list(load_environment("eu-south-03a", paths.ROOT / "environments"))

    images = ("rail-2026.11.1", "eth-2026.11.1", "somebody's")
    assert [is_exclusive(paths.region("eu-south-03a"), image) for image in images] == [True, False, False]
    assert not is_exclusive(tmp_path, "rail-2026.11.1")


class Nothing:
    """A deployment without registrations."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def add(self, _: Any) -> None: ...

    def export(self) -> None: ...


@pytest.mark.parametrize(("stack", "written"), [("laptop", ["laptop"]), ("lab", [])])
def test_every_run_of_a_local_region_writes_the_list_since_an_up_without_changes_only_previews(
    stack: str, written: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    monkeypatch.setenv("JACQUARD_KUBECONFIGS", str(tmp_path))
    monkeypatch.setattr(pulumi, "get_stack", lambda: stack)
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    for name in ("refuse_ambient_clusters", "keep", "pass_gates"):
        monkeypatch.setattr(program, name, lambda *_, **__: None)
    monkeypatch.setattr(program, "Deployment", Nothing)
    monkeypatch.setattr(program, "write_list", lambda environment: calls.append(environment.name))

    program.run()

    assert calls == written
