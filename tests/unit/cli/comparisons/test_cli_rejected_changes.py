"""``jacquard impact`` of changes that would fail to apply: exit code, message and procedure."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode
from tests.support.data.repositories import committed

Invoke = Callable[..., Result]


@pytest.fixture
def repository(data_folder: Path) -> Path:
    """A repository whose only commit has the data."""
    return committed(data_folder)


REJECTED = {
    "BMC": ("10.1.1.1/redfish", "10.1.1.101/redfish", "a BMC", "address"),
    "boot MAC": ("02:00:00:01:01:01", "02:00:00:01:01:ff", "a network card", "address"),
    "DPU": ("MT26A0101", "MT26A9101", "a DPU", "serial number"),
}


@pytest.mark.parametrize(("old", "new", "part", "value"), REJECTED.values(), ids=REJECTED)
def test_a_change_that_the_api_server_rejects_has_a_procedure_and_an_exit_code(
    repository: Path, invoke: Invoke, old: str, new: str, part: str, value: str
) -> None:
    inventory = repository / "laptop" / "inventory" / "hall-a.csv"
    inventory.write_text(inventory.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    steps = "remove the host from its pool, delete its row, run {}, and add the row with the new"

    for form, command in (("text", "'jacquard up'"), ("json", "'jacquard up'"), ("markdown", "`jacquard up`")):
        result = invoke("impact", "laptop", "--format", form)

        rejected = "refused: laptop: the API server would reject the change of hall a\n"
        assert (result.exit_code, result.stderr) == (ExitCode.REFUSED, rejected)
        assert f"To replace {part}, {steps.format(command)} {value}." in result.stdout
        assert "next: " not in result.stdout


def test_a_rejected_change_blocks_despite_unknown_effects_on_the_same_part(repository: Path, invoke: Invoke) -> None:
    """Without all VMs of a cluster, their operators and disks are deleted: the volumes of the disks are protected."""
    tenant = repository / "laptop" / "tenants" / "acme.yaml"
    tenant.write_text(tenant.read_text(encoding="utf-8").partition("vms:\n")[0], encoding="utf-8")
    assert invoke("allocate", "laptop").exit_code == ExitCode.OK

    result = invoke("impact", "laptop", "--format", "json")

    message = "refused: laptop: Pulumi would not delete protected objects of acme-train\n"
    assert (result.exit_code, result.stderr) == (ExitCode.REFUSED, message)
    [found] = json.loads(result.stdout)
    assert {row["effect"] for row in found["rows"] if row["part"] == "acme-train"} >= {"unknown", "refused"}
    mandatory = {item["rule"]: item["subject"] for item in found["results"] if item["level"] == "mandatory"}
    assert mandatory == {"impact.refused": "acme-train"}
    text = invoke("impact", "laptop").stdout
    assert "with 'pulumi state unprotect' and the URN from 'pulumi stack --show-urns'." in text
    assert "next: " not in text
    comment = invoke("impact", "laptop", "--format", "markdown").stdout
    assert comment.splitlines()[1] == "### Impact: refused"
