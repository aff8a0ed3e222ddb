"""``jacquard allocate``: releases on request, and rejected requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from tests.support.checks.places import resolved

Invoke = Callable[..., Result]


def _edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def _load(data_folder: Path) -> Environment:
    return load_environment("laptop", data_folder)


def test_hosts_of_a_smaller_pool_are_released_on_request(invoke: Invoke, data_folder: Path) -> None:
    before = _load(data_folder).allocations.hosts
    _edit(data_folder / "laptop" / "tenants" / "acme.yaml", "nodes: 10", "nodes: 7")
    options = ("allocate", "laptop", "--release-hosts", "acme-train/train", "--format", "json")

    checked = invoke(*options, "--count", "1", "--check")
    assert checked.exit_code == 1
    assert _load(data_folder).allocations.hosts == before

    released = json.loads(invoke(*options, "--count", "1").stdout)
    assert [line for line in released["diff"] if line.startswith("-  a0")] == [
        "-  a02-u06: acme-train/train",
        "-  a02-u06: 10.65.16.46",
    ]
    assert invoke(*options).exit_code == 0
    after = _load(data_folder).allocations
    assert before.keys() - after.hosts.keys() == {"a01-u06", "a02-u05", "a02-u06"}
    assert invoke("check", "laptop").exit_code == 0


def test_a_pool_without_surplus_is_refused_with_the_line_to_edit(invoke: Invoke, data_folder: Path) -> None:
    before = (data_folder / "laptop" / "allocations.lock.yaml").read_text(encoding="utf-8")
    result = invoke("allocate", "laptop", "--release-hosts", "acme-train/train")

    assert result.exit_code == 2
    assert "acme-train/train has no hosts beyond its nodes and spares; lower nodes here first" in result.stderr
    assert (data_folder / "laptop" / "allocations.lock.yaml").read_text(encoding="utf-8") == before


def test_a_count_without_hosts_to_release_is_wrong_usage(invoke: Invoke) -> None:
    result = invoke("allocate", "laptop", "--count", "2")

    assert (result.exit_code, result.stderr) == (
        2,
        "error: --count requires --release-hosts; add --release-hosts CLUSTER/POOL\n",
    )


def test_a_broken_host_is_replaced_on_request(invoke: Invoke, data_folder: Path) -> None:
    broken = "schema_version: 1\nhosts:\n  a04-u01: {state: rma, since: 2026-11-01, reason: fans}\n"
    (data_folder / "laptop" / "out_of_service.yaml").write_text(broken, encoding="utf-8")
    before = _load(data_folder).allocations.hosts
    assert invoke("allocate", "laptop", "--check").exit_code == 0

    assert invoke("allocate", "laptop", "--replace-hosts", "acme-train/system").exit_code == 0
    assert _load(data_folder).allocations.hosts == before | {"a04-u04": "acme-train/system"}
    assert invoke("check", "laptop").exit_code == 0


def test_a_fault_that_leaves_a_contract_unmet_is_recorded_and_reported(invoke: Invoke, data_folder: Path) -> None:
    hosts = "".join(f"  a03-u0{slot}: {{state: rma, since: 2026-11-01, reason: fans}}\n" for slot in range(1, 8))
    (data_folder / "laptop" / "out_of_service.yaml").write_text(f"schema_version: 1\nhosts:\n{hosts}")
    unmet = resolved(
        "tenants/acme.yaml:<contract[0]>: 14 h100-ib-8 are contracted, 10 can run, as many as hosts in service and"
        " their spares allow; out of service: a03-u01, a03-u02, a03-u03, a03-u04, a03-u05",
        data_folder / "laptop",
    )

    checked, allocated = invoke("check", "laptop"), invoke("allocate", "laptop")
    assert (checked.exit_code, allocated.exit_code) == (0, 0), checked.output
    assert f"  unmet: {unmet}" in checked.stdout.splitlines()
    assert f"laptop: unmet: {unmet}" in allocated.stdout.splitlines()
    [first, second] = json.loads(invoke("allocate", "laptop", "--format", "json").stdout)["unmet_contracts"]
    assert (first["tenant"], first["contracted"], first["running"]) == ("acme", 14, 10)
    assert json.loads(invoke("check", "laptop", "--format", "json").stdout)[0]["unmet_contracts"] == [first, second]


def test_allocate_ends_with_a_sentence_for_each_cluster_it_touches(invoke: Invoke, data_folder: Path) -> None:
    _edit(data_folder / "laptop" / "tenants" / "acme.yaml", "nodes: 10", "nodes: 7")
    change = "acme-train: train has 7 nodes instead of 10"

    assert json.loads(invoke("allocate", "laptop", "--check", "--format", "json").stdout)["summary"] == [change]
    assert invoke("allocate", "laptop").stdout.splitlines()[-1] == change
    assert json.loads(invoke("allocate", "laptop", "--format", "json").stdout)["summary"] == []


def test_two_requests_for_hosts_are_two_changes(invoke: Invoke) -> None:
    result = invoke("allocate", "laptop", "--replace-hosts", "acme-train/train", "--release-hosts", "acme-train/infer")

    assert (result.exit_code, result.stderr) == (
        2,
        "error: --release-hosts and --replace-hosts are separate changes; run one after the other\n",
    )


def test_numbers_are_in_quarantine_until_they_are_released(invoke: Invoke, data_folder: Path) -> None:
    _edit(data_folder / "laptop" / "tenants" / "acme.yaml", "public_ip: true", "public_ip: false")
    assert invoke("allocate", "laptop").exit_code == 0
    assert [*_load(data_folder).allocations.quarantine] == ["acme/acme-train/bastion"]
    assert invoke("allocate", "laptop", "--check").exit_code == 0

    assert invoke("allocate", "laptop", "--release-quarantine", "acme").exit_code == 0
    assert _load(data_folder).allocations.quarantine == {}


def test_allocate_does_not_resolve_a_duplicate_number(invoke: Invoke, data_folder: Path) -> None:
    lock = data_folder / "laptop" / "allocations.lock.yaml"
    _edit(lock, "vni: 10001", "vni: 10000")
    before = lock.read_text(encoding="utf-8")
    result = invoke("allocate", "laptop")

    assert result.exit_code == 2
    assert (
        "10000 is also assigned to acme; restore the file with git checkout, because 4 nodes run with vpcs.globex"
        in result.stderr
    )
    assert lock.read_text(encoding="utf-8") == before


def test_allocate_check_shows_the_difference_and_writes_nothing(invoke: Invoke, data_folder: Path) -> None:
    _edit(data_folder / "laptop" / "tenants" / "globex.yaml", "nodes: 4}\n    storage", "nodes: 3}\n    storage")
    lock = data_folder / "laptop" / "allocations.lock.yaml"
    before = lock.read_text(encoding="utf-8")

    result = invoke("allocate", "laptop", "--check")

    assert result.exit_code == 1
    assert "+  globex-lab/lab/a03: {nodes: 1}\n" in result.stdout
    assert result.stderr == (
        "error: laptop: lock files do not match the data; run 'jacquard allocate laptop' and review the change\n"
    )
    assert lock.read_text(encoding="utf-8") == before
    assert invoke("allocate", "laptop").exit_code == 0
    assert invoke("allocate", "laptop", "--check").exit_code == 0


def test_allocate_check_names_the_confirmation_of_an_intended_edit(invoke: Invoke, data_folder: Path) -> None:
    lock = data_folder / "laptop" / "allocations.lock.yaml"
    whole = lock.read_text(encoding="utf-8")
    _edit(lock, "public_ips:\n  acme-train/bastion: 203.0.113.1\n", "")
    before = lock.read_text(encoding="utf-8")

    result = invoke("allocate", "laptop", "--check", "--accept-edits")

    assert (result.exit_code, result.stderr) == (
        1,
        (
            "error: laptop: lock files do not match the data; run 'jacquard allocate laptop --accept-edits' and review"
            " the change\n"
        ),
    )
    assert lock.read_text(encoding="utf-8") == before
    assert invoke("allocate", "laptop", "--accept-edits").exit_code == 0
    assert lock.read_text(encoding="utf-8") == whole


def test_a_manual_edit_is_rejected_until_it_is_confirmed(invoke: Invoke, data_folder: Path) -> None:
    lock = data_folder / "laptop" / "allocations.lock.yaml"
    _edit(lock, "10.65.17.64/27", "10.65.17.96/27")
    before = lock.read_text(encoding="utf-8")
    result = invoke("allocate", "laptop")

    assert result.exit_code == 2
    assert "it was edited or merged by hand; undo that with git checkout" in result.stderr
    assert lock.read_text(encoding="utf-8") == before

    assert invoke("allocate", "laptop", "--accept-edits").exit_code == 0
    assert invoke("check", "laptop").exit_code == 0
    assert str(_load(data_folder).allocations.vpcs["globex"].load_balancers) == "10.65.17.96/27"
