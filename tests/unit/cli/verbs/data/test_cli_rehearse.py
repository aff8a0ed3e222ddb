"""``jacquard rehearse`` writes a region as a rehearsal, whole or in part, and replaces it after a change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.rules.checks import check
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.keys import cluster_of
from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode
from jacquard.cli.verbs.data.rehearse import MARK
from jacquard.machine import paths
from tests.support.data.environment_data import ENVIRONMENTS

Invoke = Callable[..., Result]
EditFile = Callable[[Path, str, str], None]
SOUTH = "eu-south-03a"
POLICY = """\
schema_version: 1
freezes:
  - {name: year-end, from: 2026-12-18T00:00:00Z, to: 2027-01-04T00:00:00Z, reason: on-call is thin, tenants: [acme]}
"""


def data_of(folder: Path, name: str) -> Environment:
    return load_environment(name, folder / paths.DATA)


def test_the_whole_region_is_the_same_but_for_what_is_outside_the_machine(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(ENVIRONMENTS))
    folder = tmp_path / "trial"

    result = invoke("rehearse", SOUTH, str(folder))

    assert result.exit_code == 0, result.output
    original, copy = load_environment(SOUTH, ENVIRONMENTS), data_of(folder, SOUTH)
    changed = {"stage": Stage.REHEARSAL, "state": None, "context": None}
    assert copy.region == original.region.model_copy(update=changed)
    assert copy.model_copy(update={"region": original.region}) == original
    width = len(f"cd {folder}")
    assert result.stdout.splitlines() == [
        f"{folder}: rehearsal of {SOUTH}",
        "  region.yaml: stage is rehearsal, not production",
        "  region.yaml: without state, context",
        "next:",
        f"  cd {folder}  enter the rehearsal",
        f"  {f'jacquard up {SOUTH}'.ljust(width)}  run it on this machine",
        f"  {f'jacquard down {SOUTH}'.ljust(width)}  end it",
    ]


def test_comments_of_the_files_remain(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(ENVIRONMENTS))

    invoke("rehearse", SOUTH, str(tmp_path / "trial"))

    before = (ENVIRONMENTS / SOUTH / "region.yaml").read_text().splitlines()
    after = (tmp_path / "trial" / paths.DATA / SOUTH / "region.yaml").read_text().splitlines()
    gone = [line for line in before if line not in after]
    assert [line.partition(":")[0] for line in gone] == ["stage", "state", "context"]


def test_a_part_has_only_what_belongs_to_its_tenants(invoke: Invoke, data_folder: Path, tmp_path: Path) -> None:
    home = data_folder / "laptop"
    (home / "out_of_service.yaml").write_text(
        "schema_version: 1\nhosts:\n"
        "  a01-u07: {state: debug, since: 2026-11-17, reason: Xid 149}\n"
        "  a01-u01: {state: debug, since: 2026-11-17, reason: Xid 149}\n"
    )
    (home / "policy.yaml").write_text(POLICY)
    folder = tmp_path / "trial"

    result = invoke("rehearse", "laptop", str(folder), "--tenant", "globex", "--format", "json")

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {
        "folder": str(folder),
        "region": "laptop",
        "tenants": ["globex"],
        "differences": ["policy.yaml: without freezes", "tenants: 1 of 2", "hosts: 7 of 30"],
        "next": [f"cd {folder}", "jacquard up laptop", "jacquard down laptop"],
    }
    original, copy = load_environment("laptop", data_folder), data_of(folder, "laptop")
    assert [tenant.tenant for tenant in copy.tenants] == ["globex"]
    theirs = {host: pool for host, pool in original.allocations.hosts.items() if cluster_of(pool) == "globex-lab"}
    assert copy.allocations.hosts == theirs
    assert {host.host for host in copy.hosts} == theirs.keys()
    assert list(copy.out_of_service) == ["a01-u07"]
    assert copy.allocations.vpcs == {"globex": original.allocations.vpcs["globex"]}
    assert copy.allocations.clusters == {"globex-lab": original.allocations.clusters["globex-lab"]}
    assert copy.allocations.public_ips == {}
    assert copy.allocations.quarantine == {}
    pins = {group: name for group, name in original.image_pins.groups.items() if cluster_of(group) == "globex-lab"}
    assert copy.image_pins.groups == pins
    assert not list(check(copy))


def test_the_copy_runs_as_a_repository_of_its_own(
    invoke: Invoke, data_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del data_folder
    folder = tmp_path / "trial"
    invoke("rehearse", "laptop", str(folder))
    monkeypatch.delenv("JACQUARD_ENVIRONMENTS")
    monkeypatch.delenv("JACQUARD_HOME")
    monkeypatch.chdir(folder)

    result = invoke("check")

    assert result.stdout.startswith("laptop: ok"), result.output
    assert paths.own() == folder
    assert (folder / ".venv").resolve() == paths.VENV
    assert {path.name for path in folder.iterdir()} == {
        *(".venv", MARK, "Pulumi.yaml", "environments", "policy-pack", "program"),
    }


def test_the_program_of_a_repository_is_copied(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    invoke("new", "edge-1", "--repository", str(tmp_path / "regions"))
    monkeypatch.delenv("JACQUARD_ENVIRONMENTS")
    monkeypatch.chdir(tmp_path / "regions")
    assert invoke("allocate", "edge-1").exit_code == 0
    note = tmp_path / "regions" / "extensions" / "components" / "region_note.py"
    note.write_text(note.read_text() + "# ours\n")

    result = invoke("rehearse", "edge-1", str(tmp_path / "trial"))

    assert result.exit_code == 0, result.output
    copied = tmp_path / "trial" / "extensions" / "components" / "region_note.py"
    assert copied.read_text().endswith("# ours\n")
    assert not (tmp_path / "trial" / ".github").exists()


def test_a_later_run_replaces_the_data_only(invoke: Invoke, data_folder: Path, tmp_path: Path, edit: EditFile) -> None:
    folder = tmp_path / "trial"
    invoke("rehearse", "laptop", str(folder))
    stack = folder / paths.DATA / "Pulumi.laptop.yaml"
    stack.write_text("encryptionsalt: v1:abc\n")
    edit(data_folder / "laptop" / "tenants" / "globex.yaml", "isolation: dpf-ovn", "isolation: dpf-ovn  # tried")

    result = invoke("rehearse", "laptop", str(folder), "--tenant", "globex")

    assert result.exit_code == 0, result.output
    assert stack.read_text() == "encryptionsalt: v1:abc\n"
    assert [path.name for path in (folder / paths.DATA / "laptop" / "tenants").iterdir()] == ["globex.yaml"]
    assert "# tried" in (folder / paths.DATA / "laptop" / "tenants" / "globex.yaml").read_text()
    assert json.loads((folder / MARK).read_text())["tenants"] == ["globex"]
    assert not [path for path in (folder / paths.DATA).iterdir() if path.name.startswith(".rehearse-")]


def test_unknown_tenants_are_reported_together(invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("rehearse", "laptop", str(tmp_path / "trial"), "--tenant", "acm", "--tenant", "x")

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr.splitlines() == [
        "error: tenant 'acm' is unknown (known: acme, globex); did you mean 'acme'?",
        "tenant 'x' is unknown (known: acme, globex); name one of them",
    ]
    assert not (tmp_path / "trial").exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("notes.txt", "mine", "exists and is not a rehearsal; name an empty folder"),
        (MARK, "[]", "exists and is not a rehearsal; name an empty folder"),
        (MARK, '{"region": "edge-1"}', "is a rehearsal of edge-1; name an empty folder for laptop"),
    ],
)
def test_a_folder_with_other_files_is_not_touched(
    name: str, text: str, message: str, invoke: Invoke, tmp_path: Path
) -> None:
    folder = tmp_path / "trial"
    folder.mkdir()
    (folder / name).write_text(text)

    result = invoke("rehearse", "laptop", str(folder))

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr == f"error: {folder}: {message}\n"
    assert [path.name for path in folder.iterdir()] == [name]


def test_a_region_is_not_copied_over_itself(invoke: Invoke, data_folder: Path) -> None:
    result = invoke("rehearse", "laptop", str(data_folder.parent))

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr == (
        f"error: {data_folder.parent}: contains the data of laptop; run the command in its repository, and name another"
        " folder\n"
    )
    assert not (data_folder.parent / MARK).exists()


def test_data_with_problems_are_not_copied(invoke: Invoke, data_folder: Path, tmp_path: Path, edit: EditFile) -> None:
    edit(data_folder / "laptop" / "region.yaml", "image_channel: stable", "image_channel: stabel")

    result = invoke("rehearse", "laptop", str(tmp_path / "trial"))

    assert result.exit_code == ExitCode.BAD_DATA
    assert "image_channel: must be " in result.stderr
    assert not (tmp_path / "trial").exists()


def test_a_part_that_needs_another_tenant_replaces_nothing(
    invoke: Invoke, data_folder: Path, tmp_path: Path, edit: EditFile
) -> None:
    home, folder = data_folder / "laptop", tmp_path / "trial"
    edit(
        home / "tenants" / "globex.yaml",
        "isolation: dpf-ovn",
        "isolation: dpf-hbn\n    peers: [{tenant: acme, vpc: acme}]",
    )
    edit(
        home / "tenants" / "acme.yaml",
        "isolation: dpf-hbn",
        "isolation: dpf-hbn\n    peers: [{tenant: globex, vpc: globex}]",
    )
    for lock in home.glob("*.lock.yaml"):
        lock.unlink()
    assert invoke("allocate", "laptop").exit_code == 0
    first_failure = invoke("rehearse", "laptop", str(folder), "--tenant", "globex")
    assert invoke("rehearse", "laptop", str(folder)).exit_code == 0

    result = invoke("rehearse", "laptop", str(folder), "--tenant", "globex")

    assert result.stderr == first_failure.stderr

    assert result.exit_code == ExitCode.BAD_DATA
    first, second, third = result.stderr.splitlines()[:3]
    assert first == "error: laptop: the copy has problems that the region has not; add tenants with --tenant:"
    assert second == "environments/laptop: 1 problem"
    assert "vpcs[0].peers[0].tenant: 'acme' is not a tenant" in third
    assert len(list((folder / paths.DATA / "laptop" / "tenants").iterdir())) == 2
    assert json.loads((folder / MARK).read_text())["tenants"] == []
