"""Optional files of an environment, and optional inventory columns."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.specs.base import Address
from components.specs.hosts.host_tests import HostTestSpec
from components.specs.hosts.out_of_service import HostState, OutOfServiceSpec
from components.specs.region.policy import Enforcement

NONE = {"schema_version": 1}
FILES = {
    "../catalog/firmware.yaml": (
        "firmware_baselines:\n"
        "  - name: h100-2026.11\n"
        "    instance_types: [h100-ib-8]\n"
        "    bios: {ProcVirtualization: Enabled, NumaNodesPerSocket: 1}\n"
        "    components:\n"
        "      bmc: {version: 24.10.1, url: https://firmware.example/bmc.bin}\n"
        "      nic: {version: 28.45.1020}\n"
    ),
    "../catalog/add_ons.yaml": (
        "add_ons:\n"
        "  - {name: gpu-operator, chart: cert-manager, namespace: gpu-operator, default: true,"
        " needs: [cert-manager], gpu_only: true}\n"
        "  - {name: cert-manager, chart: cert-manager, namespace: cert-manager}\n"
    ),
    "out_of_service.yaml": "hosts:\n  a01-u01: {state: rma, since: 2026-11-03, reason: GPU 3 gone}\n",
    "host_tests.yaml": f'hosts:\n  a01-u02: {{passed: 2026-11-03T10:00:00Z, digest: "sha256:{"1" * 64}"}}\n',
    "policy.yaml": "rules: {unpinned-image: advisory}\n",
    "waivers.yaml": (
        "waivers:\n"
        "  - {rule: unpinned-image, subject: acme-train/infer, reason: vendor test, owner: ops, ticket: OPS-7,"
        " expires: 2027-01-31}\n"
    ),
}
"""A non-empty file of each optional kind."""
READ = {
    "firmware": {
        **NONE,
        "firmware_baselines": (
            {
                "name": "h100-2026.11",
                "instance_types": ("h100-ib-8",),
                "bios": {"ProcVirtualization": "Enabled", "NumaNodesPerSocket": 1},
                "components": {
                    "bmc": {"version": "24.10.1", "url": "https://firmware.example/bmc.bin"},
                    "nic": {"version": "28.45.1020"},
                },
            },
        ),
    },
    "add_ons": {
        **NONE,
        "add_ons": (
            {
                "name": "gpu-operator",
                "chart": "cert-manager",
                "namespace": "gpu-operator",
                "default": True,
                "needs": ("cert-manager",),
                "gpu_only": True,
            },
            {"name": "cert-manager", "chart": "cert-manager", "namespace": "cert-manager"},
        ),
    },
    "policy": {**NONE, "rules": {"unpinned-image": Enforcement.ADVISORY}},
    "waivers": {
        **NONE,
        "waivers": (
            {
                "rule": "unpinned-image",
                "subject": "acme-train/infer",
                "reason": "vendor test",
                "owner": "ops",
                "ticket": "OPS-7",
                "expires": dt.date(2027, 1, 31),
            },
        ),
    },
}
"""Values of the models for those files, except the file of hosts out of service."""


def _optional(environment: Any) -> dict[str, Any]:
    names = ("firmware", "add_ons", "policy", "waivers")
    return {name: getattr(environment, name).model_dump(exclude_defaults=True) for name in names}


def test_missing_optional_files_are_no_problem(laptop: Any) -> None:
    for file in ("../catalog/firmware.yaml", "../catalog/add_ons.yaml", "waivers.yaml"):
        (laptop.folder / file).unlink(missing_ok=True)

    environment = laptop.load()

    assert _optional(environment) == dict.fromkeys(("firmware", "add_ons", "policy", "waivers"), NONE)
    assert (environment.out_of_service, environment.host_tests) == ({}, {})


def test_existing_optional_files_are_read(laptop: Any) -> None:
    for file, text in FILES.items():
        (laptop.folder / file).write_text(f"schema_version: 1\n{text}", encoding="utf-8")

    environment = laptop.load()

    assert environment.out_of_service == {
        "a01-u01": OutOfServiceSpec(state=HostState.RMA, since=dt.date(2026, 11, 3), reason="GPU 3 gone")
    }
    assert environment.host_tests == {
        "a01-u02": HostTestSpec(passed=dt.datetime(2026, 11, 3, 10, tzinfo=dt.UTC), digest=f"sha256:{'1' * 64}")
    }
    assert _optional(environment) == READ


def _add_column(laptop: Any, name: str, *cells: str) -> None:
    path = laptop.folder / "inventory/hall-a.csv"
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    values = [*cells, *[""] * (len(rows) - len(cells))]
    lines = [f"{header},{name}", *(f"{row},{value}" for row, value in zip(rows, values, strict=True))]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_the_last_column_may_hold_the_bmc_of_the_dpu(laptop: Any) -> None:
    without = laptop.load().hosts
    _add_column(laptop, "dpu_bmc", "10.1.128.1")

    hosts = laptop.load().hosts

    assert hosts[0].dpu_bmc == Address("10.1.128.1")
    assert [host.dpu_bmc for host in hosts[1:]] == [host.dpu_bmc for host in without[1:]] == [None] * (len(hosts) - 1)


def test_a_wrong_bmc_of_a_dpu_is_named(laptop: Any) -> None:
    _add_column(laptop, "dpu_bmc", "", "10.1.128")

    assert laptop.report() == laptop.resolved(
        "environments/laptop: 1 problem\n"
        "  inventory/hall-a.csv:<a01-u02>  dpu_bmc: must be an address like 10.0.0.20 (got '10.1.128')"
    )


def test_the_last_column_may_hold_the_guids_of_ports(laptop: Any) -> None:
    _add_column(laptop, "dpu_bmc", "10.1.128.1")
    _add_column(laptop, "port_guids", "", " ".join(f"0x946dae03000001{port:02x}" for port in range(8)))

    first, second, *others = laptop.load().hosts

    assert (first.port_guids, len(second.port_guids)) == ((), 8)
    assert (second.port_guids[0], second.port_guids[-1]) == ("0x946dae0300000100", "0x946dae0300000107")
    assert not any(host.port_guids for host in others)


@pytest.mark.parametrize(
    "given",
    ["946dae0300000100", "0x946DAE0300000100", "946d:ae03:0000:0100", "94:6d:ae:03:00:00:01:00"],
)
def test_a_guid_of_a_port_in_another_form_is_written_plainly(laptop: Any, given: str) -> None:
    _add_column(laptop, "port_guids", f"{given}; 0x946dae0300000101")

    assert laptop.report() == laptop.resolved(
        "environments/laptop: 1 problem\n"
        "  inventory/hall-a.csv:<a01-u01>  port_guids: each port GUID must be 0x and 16 lower-case hex digits,"
        f" separated by single spaces (got '{given}; 0x946dae0300000101'); write 0x946dae0300000100 0x946dae0300000101"
    )


def test_an_invalid_port_guid_is_reported_with_a_valid_one(laptop: Any) -> None:
    _add_column(laptop, "port_guids", "0x946dae03")

    assert laptop.report() == laptop.resolved(
        "environments/laptop: 1 problem\n"
        "  inventory/hall-a.csv:<a01-u01>  port_guids: each port GUID must be 0x and 16 lower-case hex digits,"
        " separated by single spaces, like 0x946dae0300a10000 (got '0x946dae03')"
    )
