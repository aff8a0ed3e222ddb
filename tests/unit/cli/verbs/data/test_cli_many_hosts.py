"""``jacquard host`` for several hosts, a rack or a hall: all of them move together, or none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.specs.reading.loader import load_environment
from tests.support.objects.burn_in import digest_of, written

Invoke = Callable[..., Result]
DAY = "2026-11-21"
POWER = "rack lost power"
TRIAGE = ("--to", "triage", "--reason", POWER, "--ticket", "INC-1")
BACK = ("--to", "production", "--evidence", "reports")


@pytest.fixture(autouse=True)
def day(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JACQUARD_NOW", f"{DAY}T12:00:00Z")
    monkeypatch.chdir(tmp_path)


def listed(faults: Path) -> list[str]:
    """Return the entries of the file, without its first lines."""
    return faults.read_text().splitlines()[3:]


def rack(folder: Path, name: str) -> list[str]:
    return [row.host for row in load_environment("laptop", folder).hosts if row.rack == name]


def test_a_rack_leaves_production_and_each_of_its_pools_gets_one_sentence(
    invoke: Invoke, faults: Path, data_folder: Path
) -> None:
    hosts = rack(data_folder, "a04")

    result = invoke("host", "laptop", "--rack", "a04", *TRIAGE)

    assert result.exit_code == 0, result.output
    assert listed(faults) == [
        f'  {host}: {{state: triage, since: {DAY}, reason: "{POWER}", ticket: INC-1}}' for host in hosts
    ]
    sentences = [line for line in result.stdout.splitlines() if line[:1] not in "+-@"]
    assert sentences == [
        "3 hosts are out of service in acme-train/system, which gets no other host",
        "3 hosts are unassigned; no pool is affected",
    ]
    assert "acme-train/system needs 3 hosts in a04, where no host is free" in result.stderr
    assert invoke("check", "laptop").exit_code == 0


def test_a_free_host_of_the_rack_is_no_replacement_if_it_fails_too(invoke: Invoke, data_folder: Path) -> None:
    """The pool of one lost host gets a free host of its rack (`test_cli_host.py`)."""
    before = load_environment("laptop", data_folder).allocations.hosts

    invoke("host", "laptop", "--rack", "a04", *TRIAGE)

    assert load_environment("laptop", data_folder).allocations.hosts == before


def test_two_pools_get_free_hosts_in_one_move(invoke: Invoke, faults: Path) -> None:
    result = invoke("host", "laptop", "a04-u01", "a01-u01", "a04-u06", *TRIAGE, "--format", "json")

    answer = json.loads(result.stdout)
    assert answer["hosts"] == [
        {"host": host, "from": "production", "to": "triage", "evidence": None}
        for host in ("a04-u01", "a01-u01", "a04-u06")
    ]
    [system, train, free] = answer["pools"]
    assert (system["pool"], system["hosts"], system["stand_ins"]) == ("acme-train/system", ["a04-u01"], ["a04-u04"])
    assert (train["pool"], train["hosts"], train["stand_ins"]) == ("acme-train/train", ["a01-u01"], [])
    assert "10 of 10 nodes can run" in train["why_none"]
    assert free == {"pool": None, "hosts": ["a04-u06"], "stand_ins": [], "why_none": ""}
    assert len(listed(faults)) == 3


def test_a_hall_moves_without_the_hosts_that_were_out_of_service(
    invoke: Invoke, faults: Path, data_folder: Path
) -> None:
    earlier = "  a01-u01: {state: rma, since: 2026-11-01, reason: fan, ticket: HW-1}"
    faults.write_text(f"schema_version: 1\nhosts:\n{earlier}\n")
    number = len(load_environment("laptop", data_folder).hosts)

    result = invoke("host", "laptop", "--hall", "a", *TRIAGE)

    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("note: hall a: not moved because already out of service: 1 host\n")
    lines = faults.read_text().splitlines()[2:]
    assert (lines[0], len(lines)) == (earlier, number)
    assert invoke("check", "laptop").exit_code == 0


def test_hosts_return_together_with_one_report_each(invoke: Invoke, faults: Path, tests: Path, tmp_path: Path) -> None:
    invoke("host", "laptop", "a04-u01", "a04-u06", *TRIAGE)
    text = faults.read_text().replace("triage", "test").replace(DAY, "2026-11-20")
    faults.write_text(text)
    (tmp_path / "reports").mkdir()
    reports = [written(tmp_path / "reports" / f"{host}.json", host) for host in ("a04-u01", "a04-u06")]

    result = invoke("host", "laptop", "a04-u01", "a04-u06", *BACK)

    assert result.stdout.splitlines()[-2:] == [
        (
            "a04-u01 is a host of acme-train/system again; to release surplus hosts: jacquard allocate laptop"
            " --release-hosts acme-train/system"
        ),
        "a04-u06 is unassigned and available to pools again",
    ]
    assert listed(faults) == []
    assert [
        digest_of(report) in line for report, line in zip(reports, tests.read_text().splitlines()[-2:], strict=True)
    ]
    newer = invoke("host", "laptop", "a04-u01", "a04-u06", *BACK)
    assert newer.stdout == "2 hosts are in production; their tests are recorded\n"


def nodes(folder: Path) -> dict[str, int]:
    """Return the number of nodes of each rollout group of pool train."""
    groups = load_environment("edge-1", folder).allocations.groups
    return {key: group.nodes for key, group in groups.items() if "/train/" in key}


def test_nodes_of_a_lost_hall_get_hosts_in_another_one_and_leave_the_lost_hall_first(
    invoke: Invoke, data_folder: Path
) -> None:
    tenant = data_folder / "edge-1" / "tenants" / "first.yaml"
    for arguments in (("new", "edge-1", "--halls", "a,b"), ("allocate", "edge-1")):
        assert invoke(*arguments).exit_code == 0
    assert nodes(data_folder) == {"first-train/train/a01": 4}

    assert invoke("host", "edge-1", "--hall", "a", *TRIAGE).exit_code == 0
    tenant.write_text(tenant.read_text().replace("nodes: 4}", "nodes: 8}"))
    grown = invoke("allocate", "edge-1")
    assert (grown.exit_code, nodes(data_folder)) == (0, {"first-train/train/a01": 4, "first-train/train/b01": 4})
    tenant.write_text(tenant.read_text().replace("nodes: 8}", "nodes: 4}"))
    shrunk = invoke("allocate", "edge-1")

    assert (shrunk.exit_code, nodes(data_folder)) == (0, {"first-train/train/a01": 0, "first-train/train/b01": 4})
    assert invoke("check", "edge-1").exit_code == 0


FEW = "--rack and --hall select hosts in production; name the hosts that return"
WRONG: dict[tuple[str, ...], str] = {
    TRIAGE: "write either names of hosts, --rack RACK or --hall HALL",
    ("a01-u01", "--rack", "a01", *TRIAGE): "write either names of hosts, --rack RACK or --hall HALL",
    ("--rack", "a01", "--hall", "a", *TRIAGE): "write either names of hosts, --rack RACK or --hall HALL",
    ("--rack", "a001", *TRIAGE): "--rack: 'a001' has no hosts; did you mean 'a01'?",
    ("--hall", "nowhere", *TRIAGE): "--hall: 'nowhere' has no hosts; the inventory of laptop lists its hosts",
    ("a01", *TRIAGE): "host 'a01' is unknown; it is a rack, write --rack a01",
    ("a01-u1", "a01-u01", "nowhere", *TRIAGE): (
        "host 'a01-u1' is unknown; did you mean 'a01-u01'?\n"
        "host 'nowhere' is unknown; the inventory of laptop lists its hosts"
    ),
    ("--rack", "a01", "--to", "production"): FEW,
    ("--rack", "a01", "--to", "triage"): "--reason is required with --to triage; write the cause or the planned work",
    ("a01-u01", "a01-u02", "--to", "production", "--evidence", "report.json"): (
        "--evidence must be a folder with HOST.json for each of several hosts (got 'report.json')"
    ),
    ("a01-u01", "a01-u02", "--to", "production", "--evidence", "."): (
        "--evidence a01-u01.json: no such file or directory; name a file with the report of a passed test\n"
        "--evidence a01-u02.json: no such file or directory; name a file with the report of a passed test"
    ),
}


@pytest.mark.parametrize(("arguments", "text"), WRONG.items(), ids=" ".join)
def test_invalid_hosts_are_rejected_without_changes(
    invoke: Invoke, faults: Path, arguments: tuple[str, ...], text: str
) -> None:
    result = invoke("host", "laptop", *arguments)

    assert (result.exit_code, result.stderr) == (2, f"error: {text}\n")
    assert not faults.exists()


def test_one_host_that_cannot_move_keeps_all_hosts_in_their_state(invoke: Invoke, faults: Path) -> None:
    invoke("host", "laptop", "a04-u06", *TRIAGE)
    before = faults.read_text()

    result = invoke("host", "laptop", "a04-u05", "a04-u06", "--to", "reserved", "--reason", "loan")

    assert result.exit_code == 2
    assert result.stderr.startswith("error: host a04-u06: reserved does not follow triage")
    assert faults.read_text() == before


def test_only_the_first_reasons_are_listed(invoke: Invoke, data_folder: Path) -> None:
    hosts = [row.host for row in load_environment("laptop", data_folder).hosts]

    result = invoke("host", "laptop", *hosts, "--to", "rma", "--reason", "fire")

    lines = result.stderr.splitlines()
    assert (len(lines), lines[-1]) == (11, f"... and {len(hosts) - 10} more")


def test_a_rack_that_is_out_of_service_is_moved_on_by_name(invoke: Invoke, data_folder: Path) -> None:
    invoke("host", "laptop", "--rack", "a04", *TRIAGE)

    again = invoke("host", "laptop", "--rack", "a04", "--to", "test")
    named = invoke("host", "laptop", *rack(data_folder, "a04"), "--to", "test")

    assert (again.exit_code, named.exit_code) == (2, 0)
    assert again.stderr == "error: --rack: no host of 'a04' is in production; to move its hosts on, name them\n"
