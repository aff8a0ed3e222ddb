"""An edited catalogue row of a chart in use: commands that compare with a base reject it, a promotion rolls it out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from components.rules.add_ons.charts import in_use
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode
from tests.support.checks.places import resolved
from tests.support.data.repositories import committed

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
OLD, NEW = ('version: 1.20.0,\n     digest: "sha256:5e00f4a3', 'version: 1.20.1,\n     digest: "sha256:5e00f4a4')
ROW = (
    '  - {name: cilium, url: "oci://registry.cloud.example/charts/cilium", version: 1.20.1,\n'
    f'     digest: "sha256:{"c" * 64}"}}\n'
)
AFTER = "\n# What upstream publishes as manifests"
WAIVER = (
    "  - {rule: charts.in-use, subject: cilium, reason: urgent fix, owner: ops, ticket: OPS-7, expires: 2099-01-01}\n"
)


def test_an_edited_row_is_refused_and_the_promotion_that_it_names_is_not(
    laptop: Environment, data_folder: Path, invoke: Invoke, edit: Edit
) -> None:
    repository = committed(data_folder)
    index = [row.name for row in laptop.versions.charts].index("cilium")
    versions = repository / "catalog" / "versions.yaml"
    edit(versions, OLD, NEW)

    refused = invoke("impact", "laptop")

    text = (
        "environments/laptop: 1 problem\n"
        f"  ../catalog/versions.yaml:LINE  charts[{index}].version: 1.20.1 instead of 1.20.0 would"
        " upgrade cilium in acme-train, globex-lab together, without waves; restore 1.20.0, add 1.20.1 as a separate"
        " row below, and run jacquard promote laptop charts/cilium --to 1.20.1 --wave 1; if the change is right, add a"
        " waiver of charts.in-use for cilium\n"
    )
    assert (refused.stderr, refused.exit_code) == (resolved(text, repository / "laptop"), ExitCode.BAD_DATA)

    edit(versions, NEW, OLD)
    edit(versions, AFTER, f"\n{ROW}{AFTER.lstrip()}")
    assert invoke("promote", "laptop", "charts/cilium", "--to", "1.20.1", "--wave", "1").exit_code == ExitCode.OK
    assert invoke("impact", "laptop").exit_code == ExitCode.OK


def test_a_waiver_permits_the_upgrade(data_folder: Path, invoke: Invoke, edit: Edit) -> None:
    repository = committed(data_folder)
    edit(repository / "catalog" / "versions.yaml", OLD, NEW)
    waivers = repository / "laptop" / "waivers.yaml"
    waivers.write_text(waivers.read_text(encoding="utf-8") + WAIVER, encoding="utf-8")

    assert invoke("impact", "laptop").exit_code == ExitCode.OK


def test_a_chart_moves_freely_in_clusters_without_nodes(laptop: Environment, data_folder: Path, edit: Edit) -> None:
    edit(data_folder / "catalog" / "versions.yaml", OLD, NEW)
    head = load_environment("laptop", data_folder)
    empty = laptop.model_copy(update={"allocations": laptop.allocations.model_copy(update={"groups": {}})})

    assert [found.subject for found in in_use(laptop, head)] == ["cilium"]
    assert list(in_use(empty, head)) == []
