"""``jacquard check --fix`` writes and reports unambiguous fixes; remaining problems decide the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from jacquard.cli.errors import ExitCode
from tests.support.checks.places import resolved

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]


def test_unambiguous_fixes_are_written_and_reported_and_the_rest_is_checked(
    invoke: Invoke, data_folder: Path, edit: Edit
) -> None:
    acme, region = data_folder / "laptop" / "tenants" / "acme.yaml", data_folder / "laptop" / "region.yaml"
    fixes = (
        "environments/laptop/region.yaml:<networks.management>  10.0.3.0/16 -> 10.0.0.0/16\n"
        'environments/laptop/tenants/acme.yaml:<clusters.acme-train.pools.train.nodes>  "10" -> 10\n'
    )
    edit(acme, "nodes: 10", 'nodes: "10"  # ten')
    edit(region, "management: 10.0.0.0/16", "management: 10.0.3.0/16")

    found = invoke("check", "laptop", "--fix")

    assert found.exit_code == ExitCode.OK, found.output
    assert found.stderr == resolved(fixes, data_folder.parent) + "2 fixes applied to 2 files\n"
    assert "nodes: 10  # ten\n" in acme.read_text()
    assert invoke("check", "laptop", "--fix").stderr == ""


def test_remaining_problems_decide_the_exit_code(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    acme = data_folder / "laptop" / "tenants" / "acme.yaml"
    edit(acme, "nodes: 10", 'nodes: "10"')
    edit(acme, "egress: public", "egress: no")

    found = invoke("check", "laptop", "--fix", "--format", "json")

    assert found.exit_code == ExitCode.BAD_DATA
    [result] = json.loads(found.stdout)
    assert [(problem["path"], problem["fix"]) for problem in result["problems"]] == [("vpcs[0].egress", False)]


def test_a_diff_writes_nothing(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    acme, images = data_folder / "laptop" / "tenants" / "acme.yaml", data_folder / "catalog" / "images.yaml"
    edit(acme, "nodes: 10", 'nodes: "10"')
    edit(images, "containerd: 2.1.4", "containerd: 2.10")
    before = acme.read_text(), images.read_text()

    found = invoke("check", "laptop", "--fix", "--diff")

    assert found.exit_code == ExitCode.BAD_DATA
    assert (acme.read_text(), images.read_text()) == before
    assert found.stderr.startswith(
        "--- a/environments/laptop/tenants/acme.yaml\n+++ b/environments/laptop/tenants/acme.yaml\n"
    )
    assert '-        nodes: "10"\n+        nodes: 10\n' in found.stderr
    assert "--- a/environments/catalog/images.yaml\n" in found.stderr
    assert "2 problems" in found.stderr
    assert invoke("check", "laptop", "--diff").stderr == found.stderr
