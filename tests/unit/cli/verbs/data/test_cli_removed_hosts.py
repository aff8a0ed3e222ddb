"""Removal of a host: its row is required until the host is released, and the steps delete exactly its node."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.reports.hosts.release import release_steps
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from jacquard.cli.errors import ExitCode
from jacquard.machine import settings
from tests.support.checks.places import resolved
from tests.support.data.repositories import COMMIT, committed, git

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
OUT = ("--to", "triage", "--reason", "GPU 5 fell off the bus")
POOL = "acme-train/train"
FIND = "kubectl -n acme-train get baremetalhost a02-u01 -o jsonpath='{.spec.consumerRef.name}'"
FIND_ON_IRONCORE = (
    "kubectl get servers -o jsonpath='{.items[?(@.spec.bmcRef.name==\"a02-u01\")].spec.serverClaimRef.name}'"
)
MACHINE = "machine=$({}); if it is empty, no node runs on a02-u01: continue with step 5"
ANNOTATE = "kubectl -n acme-train annotate machine $machine cluster.x-k8s.io/delete-machine="
DELETE = "kubectl -n acme-train delete machine $machine"
NODES = "tenants/acme.yaml:<clusters.acme-train.pools.train.nodes>"
STEPS = [
    f"to remove a02-u01 from {POOL}:",
    "  1. jacquard up laptop; from then on no Machine claims a02-u01",
    f"  2. {MACHINE.format(FIND)}",
    f"  3. {ANNOTATE}; else Cluster API deletes the oldest node",
    (
        f"  4. to run the node on another host: {DELETE}; to remove the node: lower {NODES}, run jacquard allocate"
        " laptop and jacquard up laptop"
    ),
    f"  5. when no Machine uses a02-u01: jacquard allocate laptop --release-hosts {POOL}, then jacquard up laptop",
    "  6. remove the row of a02-u01 in inventory/hall-a.csv, then run jacquard up laptop",
]
TOGETHER = (
    f"a02-u01 of {POOL} must be released before the removal, because nodes may run there; restore the rows (git diff"
    " shows them), apply the release with jacquard up laptop, and remove the rows in a later change"
)


@pytest.fixture
def laptop_folder(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(settings.NOW, "2026-11-21T12:00:00Z")
    return data_folder / "laptop"


def row(folder: Path, host: str) -> str:
    """Return the line of a host."""
    [line] = re.findall(rf"^[^,]*,[^,]*,{host},.*\n", (folder / "inventory/hall-a.csv").read_text(), re.MULTILINE)
    return str(line)


def test_the_steps_only_remove_the_node_of_the_host(laptop_folder: Path, invoke: Invoke, edit: Edit) -> None:
    hall, acme = laptop_folder / "inventory/hall-a.csv", laptop_folder / "tenants/acme.yaml"

    lines = invoke("host", "laptop", "a02-u01", *OUT).stdout.splitlines()
    edit(acme, "nodes: 10", "nodes: 9")
    edit(acme, "h100-ib-8, nodes: 14}", "h100-ib-8, nodes: 13}")
    invoke("allocate", "laptop")
    groups = re.findall(rf"{POOL}/(\w+): {{nodes: (\d+)}}", (laptop_folder / "allocations.lock.yaml").read_text())
    released = invoke("allocate", "laptop", "--release-hosts", POOL)
    edit(hall, row(laptop_folder, "a02-u01"), "")
    (laptop_folder / "out_of_service.yaml").unlink()

    assert lines[-7:] == [resolved(line, laptop_folder) for line in STEPS]
    assert groups == [("a01", "5"), ("a02", "4")]  # The group of the host shrinks, and not the other one.
    assert "-  a02-u01: acme-train/train" in released.stdout.splitlines()
    assert invoke("check", "laptop").exit_code == ExitCode.OK


def test_a_row_is_not_removed_while_a_node_may_run_there(laptop_folder: Path, invoke: Invoke, edit: Edit) -> None:
    edit(laptop_folder / "tenants/acme.yaml", "nodes: 10", "nodes: 9")
    edit(laptop_folder / "tenants/acme.yaml", "h100-ib-8, nodes: 14}", "h100-ib-8, nodes: 13}")
    edit(laptop_folder / "inventory/hall-a.csv", row(laptop_folder, "a02-u01"), "")

    checked, allocated = invoke("check", "laptop"), invoke("allocate", "laptop")

    assert [one.exit_code for one in (checked, allocated)] == [ExitCode.BAD_DATA] * 2
    text = f"a02-u01 of {POOL} is no longer in any inventory/hall-*.csv, but a node may run there; restore the row"
    assert text in checked.output
    assert text in allocated.output


def test_a_release_and_the_removal_are_two_changes(laptop_folder: Path, invoke: Invoke, edit: Edit) -> None:
    repository = committed(laptop_folder.parent)
    line = row(laptop_folder, "a02-u01")
    edit(laptop_folder / "tenants/acme.yaml", "nodes: 10", "nodes: 9")
    edit(laptop_folder / "tenants/acme.yaml", "h100-ib-8, nodes: 14}", "h100-ib-8, nodes: 13}")
    invoke("host", "laptop", "a02-u01", *OUT)
    invoke("allocate", "laptop", "--release-hosts", POOL)
    edit(laptop_folder / "inventory/hall-a.csv", line, "")
    (laptop_folder / "out_of_service.yaml").unlink()

    together = invoke("impact", "laptop")
    edit(laptop_folder / "inventory/hall-a.csv", row(laptop_folder, "a02-u02"), line + row(laptop_folder, "a02-u02"))
    git(repository.parent, "add", "."), git(repository.parent, *COMMIT)
    edit(laptop_folder / "inventory/hall-a.csv", line, "")
    later = invoke("impact", "laptop")

    waiver = f"if the change is right, add a waiver of inventory.released-first for {POOL}"
    assert together.stderr == f"environments/laptop: 1 problem\n  inventory/hall-a.csv  {TOGETHER}; {waiver}\n"
    assert (together.exit_code, later.exit_code) == (ExitCode.BAD_DATA, ExitCode.OK)


def test_the_steps_are_data_as_well(laptop_folder: Path, invoke: Invoke) -> None:
    answer = json.loads(invoke("host", "laptop", "a02-u01", *OUT, "--format", "json").stdout)

    assert [f"  {at}. {step}" for at, step in enumerate(answer["steps"], 1)] == [
        resolved(line, laptop_folder) for line in STEPS[1:]
    ]


def test_each_backend_has_its_own_command(laptop: Environment) -> None:
    metal = laptop.region.bare_metal.model_copy(update={"backend": BareMetalBackend.IRONCORE_METAL})
    region = laptop.region.model_copy(update={"bare_metal": metal})

    steps = release_steps(laptop.model_copy(update={"region": region}), "a02-u01", POOL)

    assert steps[1] == MACHINE.format(FIND_ON_IRONCORE)
