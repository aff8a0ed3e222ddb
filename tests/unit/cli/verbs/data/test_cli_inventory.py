"""``jacquard inventory``: messages, written files, and passwords that never appear in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from jacquard.cli.command import build

TABLE = (
    "name,location,rack,serial,oob_ip,bmc_password,cf_slot,cf_boot_mac,cf_dpu_serial,cf_leaf,role\n"
    "a01-u01,a,a01,G26A0199,10.1.1.1/16,hunter2,1,02:00:00:01:01:01,MT26A0101,leaf-a1,dgx\n"
    "a09-u01,a,a09,G26A0901,10.1.9.1/16,hunter2,1,02:00:00:01:09:01,MT26A0901,leaf-a9,dgx\n"
)
OPTIONS = (
    *("--env", "laptop", "--hall", "a"),
    *("--map", "role=instance_type", "--type", "dgx=h100-ib-8", "--set", "bmc_secret=bmc-{rack}"),
)
NOTE = (
    "note: bmc_password of 2 rows not read: "
    "credentials are references; store them in the Secrets that bmc_secret names\n"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "devices.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.fixture
def hall(data_folder: Path) -> Path:
    return data_folder / "laptop/inventory/hall-a.csv"


def test_hosts_are_imported_and_each_change_is_shown(invoke: Any, table: Path, hall: Path) -> None:
    before = hall.read_text().splitlines()

    result = invoke("inventory", "import", "netbox", str(table), *OPTIONS)

    kept = ", ".join(line.split(",")[2] for line in before[2:22])
    assert (result.exit_code, result.stderr) == (0, NOTE)
    assert result.stdout.splitlines() == [
        "environments/laptop/inventory/hall-a.csv: 1 added, 1 changed",
        "+ a09-u01: rack a09, slot 1, h100-ib-8",
        "~ a01-u01: serial 'G26A0101' -> 'G26A0199'",
        f"not in {table} but kept: {kept} and {len(before) - 22} more; --prune removes them",
        "next: run 'jacquard allocate laptop' and review the change",
    ]
    new = 'a09,1,a09-u01,h100-ib-8,G26A0901,redfish-virtualmedia+https://10.1.9.1/redfish/v1/Systems/1,bmc-a09,"{}",{}'
    assert hall.read_text().splitlines() == [
        before[0],
        before[1].replace("G26A0101", "G26A0199"),
        *before[2:],
        new.format("02:00:00:01:09:01", "MT26A0901,leaf-a9"),
    ]


def test_the_first_inventory_of_a_hall_is_made(invoke: Any, table: Path, hall: Path) -> None:
    hall.unlink()
    hall.parent.rmdir()

    result = invoke("inventory", "import", "netbox", str(table), *OPTIONS)

    assert result.stdout.splitlines()[0] == "environments/laptop/inventory/hall-a.csv: 2 added"
    assert [line.split(",")[2] for line in hall.read_text().splitlines()] == ["host", "a01-u01", "a09-u01"]


def test_the_same_import_again_changes_nothing(invoke: Any, table: Path, hall: Path) -> None:
    invoke("inventory", "import", "netbox", str(table), *OPTIONS)
    before = hall.read_text()

    result = invoke("inventory", "import", "netbox", str(table), *OPTIONS)

    assert result.stdout.splitlines()[0] == "environments/laptop/inventory/hall-a.csv: nothing to change, 2 unchanged"
    assert hall.read_text() == before


def test_a_dry_run_writes_nothing(invoke: Any, table: Path, hall: Path) -> None:
    before = hall.read_bytes()

    result = invoke("inventory", "import", "netbox", str(table), *OPTIONS, "--prune", "--dry-run")

    gone = len(before.splitlines()) - 2
    assert result.exit_code == 0
    assert [line for line in result.stdout.splitlines() if line[0] not in "+~-"] == [
        f"environments/laptop/inventory/hall-a.csv: 1 added, 1 changed, {gone} removed",
        "nothing was written",
    ]
    assert hall.read_bytes() == before


def test_a_refused_file_changes_nothing_and_shows_no_password(invoke: Any, table: Path, hall: Path) -> None:
    before = hall.read_bytes()
    table.write_text(TABLE.replace("02:00:00:01:09:01", "02:00:00:01:09"), encoding="utf-8")

    result = invoke("inventory", "import", "netbox", str(table), *OPTIONS)

    rule = 'a MAC address must be six lower-case hex pairs with colons, in quotes, like "80:c1:00:00:01:01"'
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"environments/laptop: 1 problem\n  {table}:3  cf_boot_mac: {rule} (got '02:00:00:01:09')\n"
    )
    assert hall.read_bytes() == before


def test_json_names_everything(invoke: Any, table: Path) -> None:
    result = invoke("inventory", "import", "netbox", str(table), *OPTIONS, "--format", "json")

    answer = json.loads(result.stdout)
    assert "hunter2" not in result.output
    assert answer["changed"] == [
        {"host": "a01-u01", "columns": {"serial": {"before": "G26A0101", "after": "G26A0199"}}}
    ]
    assert [host["host"] for host in answer["added"]] == ["a09-u01"]
    assert (answer["environment"], answer["file"], answer["written"]) == ("laptop", "inventory/hall-a.csv", True)
    assert (answer["removed"], answer["unchanged"], len(answer["notes"])) == ([], 0, 1)


def test_a_file_can_be_read_from_standard_input(invoke: Any, hall: Path) -> None:
    del invoke, hall  # They point the command to copies.
    raw = b"\xef\xbb\xbfname,serial\r\na01-u01,G26A0199\r\n"

    result = CliRunner().invoke(
        build(), ["inventory", "import", "netbox", "-", "--env", "laptop", "--hall", "a", "--dry-run"], input=raw
    )

    assert result.stdout.splitlines()[1] == "~ a01-u01: serial 'G26A0101' -> 'G26A0199'"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_file_may_be_written_by_a_spreadsheet(invoke: Any, tmp_path: Path, hall: Path, encoding: str) -> None:
    del hall
    (tmp_path / "devices.csv").write_bytes("name,serial\r\na01-u01,G26A0199\r\n".encode(encoding))

    result = invoke("inventory", "import", "netbox", str(tmp_path / "devices.csv"), *OPTIONS[:4], "--dry-run")

    assert result.stdout.splitlines()[1] == "~ a01-u01: serial 'G26A0101' -> 'G26A0199'"


def test_racks_have_the_names_of_the_other_system(invoke: Any, tmp_path: Path, hall: Path) -> None:
    count = len(hall.read_text().splitlines()) - 1
    racks, out = tmp_path / "racks.csv", tmp_path / "out"
    racks.write_text("name,rack\nA01,a01\n", encoding="utf-8")
    names = ("--racks", str(racks), "--rack", "Hall-*=a*")

    invoke("inventory", "export", "netbox", "laptop", "--out", str(out), *names)
    again = invoke("inventory", "import", "netbox", str(out), "--env", "laptop", "--hall", "a", "--prune", *names)

    assert {line.split(",")[7] for line in out.read_text().splitlines()[1:]} >= {"A01", "Hall-02"}
    assert again.stdout == f"environments/laptop/inventory/hall-a.csv: nothing to change, {count} unchanged\n"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            ("--map", "role"),
            "--map role: both sides of = are required; write --map LEFT=RIGHT, quoted if it has spaces",
        ),
        (("--set", "leaf=a", "--set", "leaf=b"), "--set leaf=b: 'leaf' is already set to 'a'; set it once"),
    ],
)
def test_an_option_in_another_form_is_refused(invoke: Any, table: Path, options: tuple[str, ...], text: str) -> None:
    result = invoke("inventory", "import", "netbox", str(table), "--env", "laptop", "--hall", "a", *options)

    assert (result.exit_code, result.stderr) == (2, f"error: {text}\n")


def test_an_unreadable_file_is_reported(invoke: Any, tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes(b"name\n\xe4\n")
    (tmp_path / "wide.csv").write_bytes("name\n".encode("utf-16-le"))
    (tmp_path / "book.csv").write_bytes(b"PK\x03\x04\x14\x00")

    reports = [
        invoke("inventory", "import", "netbox", str(tmp_path / name), "--env", "laptop", "--hall", "a").stderr
        for name in ("latin.csv", "book.csv", "wide.csv", "none.csv")
    ]

    head = f"environments/laptop: 1 problem\n  {tmp_path}"
    assert reports == [
        f"{head}/latin.csv  is not UTF-8 (byte 0xe4); save the file as UTF-8\n",
        f"{head}/book.csv  is an Excel workbook or another ZIP archive; save the table as CSV in UTF-8\n",
        f"{head}/wide.csv  contains zero bytes, so it is not text, or UTF-16 without a mark; save the file as UTF-8\n",
        f"{head}/none.csv  cannot be read: no such file or directory; name another file\n",
    ]


@pytest.mark.parametrize("name", ["eks-a-csv", "netbox", "nico"])
def test_exported_hosts_are_imported_without_changes(invoke: Any, tmp_path: Path, hall: Path, name: str) -> None:
    count = len(hall.read_text().splitlines()) - 1
    out = tmp_path / "out"

    written = invoke("inventory", "export", name, "laptop", "--out", str(out))
    printed = invoke("inventory", "export", name, "laptop")
    again = invoke("inventory", "import", name, str(out), "--env", "laptop", "--hall", "a", "--prune")

    assert (written.stdout, printed.stdout) == (f"laptop: {count} hosts in {out}\n", out.read_text())
    assert again.stdout == f"environments/laptop/inventory/hall-a.csv: nothing to change, {count} unchanged\n"


def test_the_help_explains_passwords_and_addresses(invoke: Any) -> None:
    shown = {verb: " ".join(invoke("inventory", verb, "--help").stdout.split()) for verb in ("import", "export")}

    assert "Passwords and user names are never read, stored or shown" in shown["import"]
    assert "redfish-virtualmedia+https" in shown["import"]
    assert "/redfish/v1/Systems/1" in shown["import"]
    assert "The file contains no secrets" in shown["export"]
