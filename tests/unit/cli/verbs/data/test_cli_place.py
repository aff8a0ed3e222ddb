"""``jacquard place``: decision, files, exit codes, and texts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
ORDER = """\
schema_version: 1
order: heron
tenant: heron
contacts: {alerts: oncall@heron.example, changes: platform@heron.example}
from: 2027-01-15
cluster: heron
version: v1.35.2
egress: public
items:
  - {instance_type: cpu-gen4, nodes: 1}   # a first node
"""


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def ordered(invoke: Invoke, data_folder: Path) -> Path:
    """Data of a fleet of one region without tenants, with an order that fits."""
    laptop = data_folder / "laptop"
    for path in (*(laptop / "tenants").iterdir(), laptop / "allocations.lock.yaml", laptop / "images.lock.yaml"):
        path.unlink()
    allocated = invoke("allocate", "laptop")
    assert allocated.exit_code == ExitCode.OK, allocated.output
    (data_folder / "fleet.yaml").write_text(
        "schema_version: 1\nregions:\n  laptop: {status: open, jurisdictions: [us]}\n"
    )
    (data_folder / "orders").mkdir()
    (data_folder / "orders" / "heron.yaml").write_text(ORDER)
    return data_folder


def test_an_order_is_written_into_the_data_and_check_accepts_them(invoke: Invoke, ordered: Path) -> None:
    result = invoke("place", "heron")

    assert result.exit_code == ExitCode.OK, result.output
    heading, verdict, _ = result.stdout.splitlines()[-3:]
    assert heading.split() == ["region", "rank", "left", "reason"]
    assert [verdict.split()[index] for index in (0, 1, 3)] == ["laptop", "1", "chosen"]
    assert result.stdout.endswith("heron is placed in laptop\n")
    assert "+++ laptop/tenants/heron.yaml" in result.stdout
    assert "+placed_in: laptop" in result.stdout
    assert (ordered / "orders" / "heron.yaml").read_text() == f"{ORDER}placed_in: laptop\n"
    region = load_environment("laptop", ordered)
    assert "heron" in {tenant.tenant for tenant in region.tenants}
    assert "heron" in region.allocations.clusters
    assert invoke("check").exit_code == ExitCode.OK
    assert invoke("allocate", "laptop", "--check").exit_code == ExitCode.OK

    before = files(ordered)
    again = invoke("place", "heron")
    assert (again.exit_code, again.stdout) == (ExitCode.OK, "heron is in laptop already; nothing to change\n")
    assert files(ordered) == before


def test_a_dry_run_decides_the_same_and_writes_nothing(invoke: Invoke, ordered: Path) -> None:
    before = files(ordered)

    text, answer = invoke("place", "heron", "--dry-run"), invoke("place", "heron", "--dry-run", "--format", "json")

    assert (text.exit_code, answer.exit_code) == (ExitCode.OK, ExitCode.OK)
    assert files(ordered) == before
    decision = json.loads(answer.stdout)
    assert (decision["region"], decision["written"], decision["was_placed"]) == ("laptop", False, False)
    assert "+placed_in: laptop" in decision["diff"]
    assert decision["verdicts"][0]["rank"] == 1
    written = json.loads(invoke("place", "heron", "--format", "json").stdout)
    assert written == decision | {"written": True}


def test_an_order_without_room_waits_and_nothing_is_written(invoke: Invoke, ordered: Path, edit: Edit) -> None:
    edit(ordered / "orders" / "heron.yaml", "nodes: 1", "nodes: 100")
    edit(ordered / "fleet.yaml", "[us]", "[eu]")
    edit(ordered / "orders" / "heron.yaml", "egress: public\n", "egress: public\nconstraints: {jurisdictions: [us]}\n")
    before = files(ordered)

    result, answer = invoke("place", "heron"), invoke("place", "heron", "--format", "json")

    assert (result.exit_code, answer.exit_code) == (ExitCode.WAITING, ExitCode.WAITING)
    assert result.stderr == "waiting: heron fits into no region; the closest is laptop\n"
    assert "jurisdiction: is in eu, not in us" in result.stdout
    assert "capacity: 100 cpu-gen4 are ordered, " in result.stdout
    assert json.loads(answer.stdout)["closest"] == "laptop"
    assert files(ordered) == before
    [waiting] = json.loads(invoke("fleet", "--format", "json").stdout)["orders"]
    days = {"needed_from": "2027-01-15", "until": None, "reserved_in": None}
    assert waiting == {"order": "heron", "tenant": "heron", **days, "nodes": {"cpu-gen4": 100}}
    assert "heron          heron   2027-01-15   -      -            100 cpu-gen4" in invoke("fleet").stdout


@pytest.mark.parametrize(
    ("file", "old", "new", "text"),
    [
        ("orders/heron.yaml", "cpu-gen4", "cpu-gen9", "../orders/heron.yaml:10  items[0].instance_type: 'cpu-gen9' is"),
        ("orders/heron.yaml", "nodes: 1", "nodes: one", "../orders/heron.yaml:10  items[0].nodes: must be"),
        ("fleet.yaml", "laptop:", "desktop:", "../fleet.yaml:3  regions.desktop: there is no folder"),
    ],
)
def test_wrong_data(invoke: Invoke, ordered: Path, edit: Edit, file: str, old: str, new: str, text: str) -> None:
    edit(ordered / file, old, new)

    result = invoke("place", "heron")

    assert result.exit_code == ExitCode.BAD_DATA
    assert f"environments/fleet: 1 problem\n  {text}" in result.stderr


def test_an_unknown_order_and_a_missing_fleet(invoke: Invoke, ordered: Path) -> None:
    unknown = invoke("place", "heran")
    (ordered / "fleet.yaml").unlink()
    missing = invoke("place", "heron")

    assert (unknown.exit_code, missing.exit_code) == (ExitCode.BAD_DATA, ExitCode.BAD_DATA)
    assert unknown.stderr == "error: order 'heran' is unknown (known: heron); did you mean 'heron'?\n"
    assert missing.stderr == (
        f"error: {ordered / 'fleet.yaml'} does not exist, so no region takes orders; list the regions in it\n"
    )


def test_wrong_orders_are_problems_of_the_check_of_all_regions(invoke: Invoke, ordered: Path, edit: Edit) -> None:
    edit(ordered / "orders" / "heron.yaml", "cpu-gen4", "cpu-gen9")

    result = invoke("check")

    assert result.exit_code == ExitCode.BAD_DATA
    assert "reported by orders.names" in result.stderr


def test_an_order_gets_the_region_with_room_and_the_other_one_is_drained_and_retired(
    invoke: Invoke, ordered: Path, edit: Edit
) -> None:
    desk = ordered / "desk"
    shutil.copytree(ordered / "laptop", desk)
    edit(desk / "region.yaml", "region: laptop", "region: desk")
    for path in (desk / "allocations.lock.yaml", desk / "images.lock.yaml", *(desk / "inventory").iterdir()):
        path.unlink()
    hall = (ordered / "laptop" / "inventory" / "hall-a.csv").read_text().splitlines(keepends=True)
    (desk / "inventory" / "hall-a.csv").write_text("".join(row for row in hall if "cpu-gen4" not in row))
    assert invoke("allocate", "desk").exit_code == ExitCode.OK
    edit(ordered / "fleet.yaml", "regions:\n", "regions:\n  desk: {status: open, jurisdictions: [us]}\n")

    placed = json.loads(invoke("place", "heron", "--format", "json").stdout)

    assert placed["region"] == "laptop"
    assert [(item["region"], item["rank"]) for item in placed["verdicts"]] == [("laptop", 1), ("desk", None)]
    assert (ordered / "laptop" / "tenants" / "heron.yaml").exists()
    assert not (desk / "tenants").exists() or not list((desk / "tenants").iterdir())
    edit(ordered / "fleet.yaml", "desk: {status: open", "desk: {status: draining")
    assert invoke("check").exit_code == ExitCode.OK
    edit(ordered / "fleet.yaml", "desk: {status: draining", "desk: {status: retired")
    assert "regions.desk.status: is retired, but desk has hosts" in invoke("check").stderr
    shutil.rmtree(desk)
    edit(ordered / "fleet.yaml", "  desk: {status: retired, jurisdictions: [us]}\n", "")
    assert invoke("check").exit_code == ExitCode.OK
