"""The list of what a rehearsal's platform gives is that of the prerequisites."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from components.plan.report.prerequisites import prerequisites
from components.specs.loader import load_environment
from stacks.given import write_list
from toolchain import paths


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
