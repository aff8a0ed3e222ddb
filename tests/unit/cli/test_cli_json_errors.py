"""Every command with ``--format json`` reports invalid data in one format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode
from jacquard.cli.panels import VERBS
from tests.support.data.repositories import committed

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]

READS_DATA = {
    "up": ("laptop",),
    "preview": ("laptop",),
    "impact": ("laptop",),
    "approve": ("laptop", "acme", "--by", "Ann"),
    "gc": ("laptop",),
    "status": ("laptop",),
    "drift": ("laptop",),
    "audit": ("laptop",),
    "show": ("laptop", "capacity"),
    "env": ("laptop",),
    "fleet": (),
    "place": ("order",),
    "campaign": ("campaign",),
    "render": ("laptop", "--out", "OUT"),
    "allocate": ("laptop",),
    "rehearse": ("laptop", "OUT"),
    "host": ("laptop", "a01-u01", "--to", "triage", "--reason", "broken"),
    "reconcile-hosts": ("laptop",),
    "promote": ("laptop", "acme-train/train"),
    "inventory diff": ("eks-a-csv", "HOSTS", "--env", "laptop", "--hall", "a"),
    "inventory import": ("eks-a-csv", "HOSTS", "--env", "laptop", "--hall", "a"),
}
"""Commands that load an environment, with arguments."""
OWN_FORM = {"check": "its document lists the problems of each environment"}
"""Commands whose normal document also reports invalid data."""
NO_DATA = {
    "new": "writes an environment",
    "explain": "describes rules",
    "migrate": "reads formats only",
    "upgrade": "edits files",
    "schema": "describes data",
    "doctor": "reads this machine",
}
"""Commands with JSON that load no environment."""
ORDER = """\
schema_version: 1
order: order
tenant: heron
contacts: {alerts: oncall@heron.example, changes: platform@heron.example}
from: 2027-01-15
cluster: heron
version: v1.35.2
items:
  - {instance_type: h100-ib-8, nodes: 1}
"""
CAMPAIGN = """\
schema_version: 1
campaign: campaign
title: Images of November
images: [gpu-2026.11.1]
steps:
  - {regions: [laptop], soak_hours: 1}
"""
FIELDS = {"code", "message", "remedy", "file", "line", "details", "environment", "problems"}


@pytest.fixture
def wrong(data_folder: Path, edit: Edit) -> Path:
    """Data with a typing error that is not committed."""
    committed(data_folder)
    edit(data_folder / "laptop" / "region.yaml", "image_channel: stable", "image_channel: stabel")
    return data_folder


def typed(command: str, folder: Path) -> list[str]:
    if command in {"place", "campaign"}:
        regions = "regions:\n  laptop: {status: open, jurisdictions: [us]}\n"
        (folder / "fleet.yaml").write_text(f"schema_version: 1\n{regions}")
        for name, text in (("order", ORDER), ("campaign", CAMPAIGN)):
            (folder / f"{name}s").mkdir()
            (folder / f"{name}s" / f"{name}.yaml").write_text(text)
    hosts = folder.parent / "hosts.csv"
    hosts.write_text("hostname,bmc_ip,mac,disk\nb01,10.1.9.1,02:00:00:00:09:01,/dev/sda\n")
    values = {"OUT": str(folder.parent / "out"), "HOSTS": str(hosts)}
    return [*command.split(), *(values.get(word, word) for word in READS_DATA[command]), "--format", "json"]


def has_format(command: Any) -> bool:
    return any("--format" in param.opts for param in command.params)


def test_each_command_with_json_is_in_a_table() -> None:
    found = {name: verb.load() for name, verb in VERBS.items()}
    parts = {f"{name} {part}": item for name in found for part, item in getattr(found[name], "commands", {}).items()}
    commands = {name for name, item in {**found, **parts}.items() if has_format(item)}

    assert commands == {*READS_DATA, *OWN_FORM, *NO_DATA}


@pytest.mark.usefixtures("pulumi")
@pytest.mark.parametrize("command", READS_DATA)
def test_wrong_data_are_an_error_with_file_and_line(invoke: Invoke, wrong: Path, command: str) -> None:
    result = invoke(*typed(command, wrong))

    assert result.exit_code == ExitCode.BAD_DATA, result.output
    error: dict[str, Any] = json.loads(result.stdout)["error"]
    assert set(error) == FIELDS
    assert (error["code"], error["environment"], error["file"]) == ("bad_data", "laptop", "region.yaml")
    assert (wrong / "laptop" / "region.yaml").read_text().splitlines()[error["line"] - 1].startswith("image_channel:")
    assert error["remedy"] == "did you mean 'stable'?"


@pytest.mark.usefixtures("wrong")
def test_check_reports_the_same_problem_in_its_own_document(invoke: Invoke) -> None:
    checked = invoke("check", "laptop", "--format", "json")
    error = json.loads(invoke("status", "laptop", "--format", "json").stdout)["error"]

    assert checked.exit_code == ExitCode.BAD_DATA
    assert json.loads(checked.stdout)[0]["problems"] == error["problems"]
