"""``jacquard inventory diff``, and imports from the API of NetBox and Nautobot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import Result

from components.specs.environment import Environment
from jacquard.cli.errors import ExitCode
from tests.support.exchange.fake_inventory import TOKEN, Answer, FakeInventory, device, fake_inventory

Invoke = Callable[..., Result]
HALL = ("--env", "laptop", "--hall", "a")


@pytest.fixture
def hall(data_folder: Path) -> Path:
    return data_folder / "laptop/inventory/hall-a.csv"


@pytest.fixture
def netbox(laptop: Environment, hall: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeInventory]:
    """NetBox with all hosts of laptop, at the location of the test's inventory."""
    del hall
    monkeypatch.setenv("NETBOX_TOKEN", TOKEN)
    with fake_inventory("netbox", map(device, laptop.hosts)) as inventory:
        yield inventory


def differ(netbox: FakeInventory) -> None:
    """Change a serial, add a host and remove the last one."""
    new = json.loads(json.dumps(netbox.devices[0]))
    new |= {"name": "a09-u01", "serial": "G26A0901", "rack": {"id": "rack:a09", "name": "a09"}}
    new["custom_fields"] |= {
        "bmc": "10.1.9.1",
        "bmc_secret": "bmc-a09",
        "boot_mac": "02:00:00:01:09:01",
        "dpu_serial": "MT26A0901",
        "leaf": "leaf-a9",
    }
    netbox.devices[1]["serial"] = "G26A0199"
    netbox.devices[-1:] = [new]


def test_an_equal_inventory_has_no_differences(invoke: Invoke, netbox: FakeInventory, hall: Path) -> None:
    before = hall.read_bytes()

    result = invoke("inventory", "diff", "netbox", "--url", netbox.address, *HALL, "--filter", "site=desk")

    count = len(netbox.devices)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        f"environments/laptop/inventory/hall-a.csv, compared with {netbox.address}: no differences, {count} equal\n"
    )
    assert hall.read_bytes() == before
    query = "exclude=config_context&omit=config_context&limit=200&site=desk"
    assert [path for path, _ in netbox.requests] == [f"/api/dcim/devices/?{query}"]


def test_new_changed_and_missing_hosts_are_listed(
    invoke: Invoke, netbox: FakeInventory, hall: Path, laptop: Environment
) -> None:
    before, gone = hall.read_bytes(), laptop.hosts[-1].host
    differ(netbox)

    result = invoke("inventory", "diff", "netbox", "--url", netbox.address, *HALL)

    equal = len(netbox.devices) - 2
    file = "environments/laptop/inventory/hall-a.csv"
    assert result.exit_code == ExitCode.DRIFTED
    assert result.stdout.splitlines() == [
        f"{file}, compared with {netbox.address}: 1 new, 1 changed, 1 missing, {equal} equal",
        "+ a09-u01: rack a09, slot 1, h100-ib-8",
        "~ a01-u02: serial 'G26A0102' -> 'G26A0199'",
        f"- {gone}",
    ]
    assert result.stderr == (
        f"drift: laptop: hall a differs from {netbox.address}; 'jacquard inventory import' writes the changes\n"
    )
    assert hall.read_bytes() == before


def test_json_has_the_fields_of_each_difference(invoke: Invoke, netbox: FakeInventory, laptop: Environment) -> None:
    differ(netbox)

    result = invoke("inventory", "diff", "netbox", "--url", netbox.address, *HALL, "--format", "json")

    answer = json.loads(result.stdout)
    assert result.exit_code == ExitCode.DRIFTED
    assert (answer["environment"], answer["source"], answer["differs"]) == ("laptop", netbox.address, True)
    assert [host["host"] for host in answer["added"]] == ["a09-u01"]
    assert answer["changed"] == [
        {"host": "a01-u02", "columns": {"serial": {"before": "G26A0102", "after": "G26A0199"}}}
    ]
    assert answer["removed"] == [laptop.hosts[-1].host]
    assert TOKEN not in result.output


def test_an_import_writes_the_differences_and_none_is_left(invoke: Invoke, netbox: FakeInventory) -> None:
    differ(netbox)
    dry = invoke("inventory", "import", "netbox", "--url", netbox.address, *HALL, "--prune", "--dry-run")
    written = invoke("inventory", "import", "netbox", "--url", netbox.address, *HALL, "--prune")

    again = invoke("inventory", "diff", "netbox", "--url", netbox.address, *HALL)

    head = "environments/laptop/inventory/hall-a.csv: 1 added, 1 changed, 1 removed"
    assert [line.startswith(head) for line in (dry.stdout, written.stdout)] == [True, True]
    assert (dry.exit_code, written.exit_code, again.exit_code) == (0, 0, 0)


def test_a_file_is_compared_too(invoke: Invoke, tmp_path: Path, hall: Path) -> None:
    del hall
    out = tmp_path / "out.csv"
    invoke("inventory", "export", "netbox", "laptop", "--out", str(out))

    equal = invoke("inventory", "diff", "netbox", str(out), *HALL)
    out.write_text(out.read_text().replace("G26A0101", "G26A0199"))
    changed = invoke("inventory", "diff", "netbox", str(out), *HALL)

    assert (equal.exit_code, changed.exit_code) == (0, ExitCode.DRIFTED)
    assert "~ a01-u01: serial 'G26A0101' -> 'G26A0199'" in changed.stdout


def test_devices_of_nautobot_are_read_by_name(
    invoke: Invoke, laptop: Environment, hall: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del hall
    monkeypatch.setenv("INVENTORY", TOKEN)
    with fake_inventory("nautobot", map(device, laptop.hosts)) as nautobot:
        options = ("--url", nautobot.address, "--token-env", "INVENTORY", "--filter", "location=a")
        result = invoke("inventory", "diff", "nautobot", *options, *HALL)

    assert (result.exit_code, result.stderr) == (0, "")
    assert [path for path, _ in nautobot.requests] == ["/api/dcim/devices/?depth=1&limit=200&location=a"]


def test_an_api_that_does_not_answer_is_no_difference(invoke: Invoke, netbox: FakeInventory, hall: Path) -> None:
    before = hall.read_bytes()
    for verb in ("diff", "import"):
        netbox.answer(Answer(403, json.dumps({"detail": f"Invalid token {TOKEN}"})))
        result = invoke("inventory", verb, "netbox", "--url", netbox.address, *HALL)

        assert (result.exit_code, result.stdout) == (ExitCode.UNREACHABLE, "")
        assert result.stderr == (
            f"unreachable: NetBox at {netbox.address} answered 403 (Invalid token ***); set NETBOX_TOKEN to a valid"
            " token that may view devices\n"
        )
    assert hall.read_bytes() == before


def test_wrong_data_of_the_api_name_the_page_of_the_device(invoke: Invoke, netbox: FakeInventory) -> None:
    netbox.devices[2]["custom_fields"]["boot_mac"] = "02:00:00:01:09"

    result = invoke("inventory", "diff", "netbox", "--url", netbox.address, *HALL)

    rule = 'a MAC address must be six lower-case hex pairs with colons, in quotes, like "80:c1:00:00:01:01"'
    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr == (
        "environments/laptop: 1 problem\n"
        f"  {netbox.address}/dcim/devices/3/  cf_boot_mac: {rule} (got '02:00:00:01:09')\n"
    )


USAGE = {
    "neither file nor address": ((), "name either a FILE or the address of an API by --url"),
    "both": (("hosts.csv", "--url", "https://netbox.example"), "name either a FILE or the address of an API by --url"),
    "a filter of a file": (
        ("hosts.csv", "--filter", "site=desk"),
        "--filter, --token-env and --ca-file are about an API; add --url, or select rows with --only",
    ),
    "all wrong options at once": (
        (
            *("--url", "http://netbox.example", "--ca-file", "/does/not/exist.pem"),
            *("--token-env", "INVENTORY", "--filter", "sites=desk"),
        ),
        (
            "--filter sites=desk: 'sites' is not a filter of NetBox (site, location, rack, role, status, tag, region,"
            " site_group, tenant, manufacturer); did you mean 'site'?\n"
            "--url would send the token without encryption (got 'http://netbox.example'); write https://\n"
            "--ca-file /does/not/exist.pem cannot be read: no such file or directory; name another file\n"
            "INVENTORY is not set; set it to an API token that may view devices"
        ),
    ),
    "a filter without a value": (
        ("--url", "https://netbox.example", "--filter", "site"),
        "--filter site: is not NAME=VALUE\nNETBOX_TOKEN is not set; set it to an API token that may view devices",
    ),
}


@pytest.mark.parametrize("case", USAGE)
def test_wrong_options_are_reported_together(
    invoke: Invoke, hall: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    del hall
    monkeypatch.delenv("NETBOX_TOKEN", raising=False)
    options, text = USAGE[case]

    result = invoke("inventory", "diff", "netbox", *options, *HALL)

    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, f"error: {text}\n")


def test_a_token_instead_of_the_name_of_its_variable_is_not_shown(invoke: Invoke, hall: Path) -> None:
    del hall

    result = invoke("inventory", "diff", "netbox", "--url", "https://netbox.example", "--token-env", TOKEN, *HALL)

    text = "--token-env must be the upper-case name of a variable that contains the token, not a token"
    assert (result.exit_code, result.output) == (ExitCode.BAD_DATA, f"error: {text}\n")


def test_a_token_with_blanks_is_not_sent_and_not_shown(
    invoke: Invoke, netbox: FakeInventory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETBOX_TOKEN", "hunter2 hunter2")

    result = invoke("inventory", "diff", "netbox", "--url", netbox.address, *HALL)

    text = "NETBOX_TOKEN contains characters that no token has; set it to an API token that may view devices"
    assert (result.exit_code, result.output) == (ExitCode.BAD_DATA, f"error: {text}\n")
    assert netbox.requests == []


def test_other_formats_are_read_from_files_only(invoke: Invoke, hall: Path) -> None:
    del hall

    result = invoke("inventory", "diff", "nico", "--url", "https://nico.example", *HALL)

    text = "--url reads netbox and nautobot only; name a FILE for nico"
    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, f"error: {text}\n")
