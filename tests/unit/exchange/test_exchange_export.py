"""Hosts in the formats of other systems: exact files, missing values, and no secrets."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from components.specs.base import Address
from components.specs.environment import Environment
from components.specs.hosts.out_of_service import HostState, OutOfServiceSpec
from components.specs.reading.problems import SpecError
from jacquard.exchange.exporting import Export, export_hosts
from jacquard.exchange.formats import TARGETS, TargetFormat
from jacquard.exchange.netbox import read_netbox
from tests.support.checks.places import resolved
from tests.support.data.environment_data import LAPTOP

FILES = Path(__file__).parent / "files"
OWN = {
    "eks-a-csv": {
        "netmask": "255.255.0.0",
        "gateway": "10.0.0.1",
        "nameservers": "10.0.0.2|10.0.0.3",
        "disk": "/dev/sda",
    },
    "netbox": {"role": "gpu-node", "manufacturer": "NVIDIA"},
    "nico": {"sku_id": "nvidia.dgx-h100.gpu.1"},
}
TABLE = {
    "eks-a-csv": "host,ip_address,disk\na01-u01,10.0.1.1,\na01-u02,10.0.1.2,/dev/nvme0n1\n",
    "netbox": "host,device_type,position\na01-u01,DGX H100,1\n",
    "nico": "host,bmc_mac_address\na01-u01,02:00:00:01:01:f1\na01-u02,02:00:00:01:01:f2\n",
}


@pytest.fixture
def two(region: Environment) -> Environment:
    first, second = region.hosts[:2]
    return region.model_copy(update={"hosts": (first.model_copy(update={"dpu_bmc": Address("10.1.2.1")}), second)})


def exported(region: Environment, name: str, *, own: bool = True, **more: Any) -> Export:
    table = ("table.csv", TABLE[name]) if own else None
    return export_hosts(region, more.get("hall"), TARGETS[TargetFormat(name)], OWN[name] if own else {}, table)


@pytest.mark.parametrize(
    ("name", "file"), [("eks-a-csv", "exported.csv"), ("netbox", "netbox.csv"), ("nico", "exported.json")]
)
def test_the_file_is_as_the_other_system_reads_it(two: Environment, name: str, file: str) -> None:
    assert exported(two, name).text == (FILES / file).read_text(encoding="utf-8")


def test_ports_are_only_exported_if_some_are_known(two: Environment) -> None:
    guids = tuple(f"0x946dae03000001{port:02x}" for port in range(8))
    first, second = two.hosts
    known = two.model_copy(update={"hosts": (first.model_copy(update={"port_guids": guids}), second)})

    for name in OWN:
        before, after = exported(two, name).text, exported(known, name).text
        assert "port_guids" not in before
        assert (after.count("port_guids"), after.count(" ".join(guids))) == (1, 1)


def test_values_missing_in_the_other_system_are_reported(two: Environment) -> None:
    empty = "user names and passwords of BMCs are empty: the inventory only names their Secrets (bmc_secret)"
    columns = ("ip_address", "netmask", "gateway", "nameservers", "disk")
    why = "rejects empty values, and the inventory lacks"

    assert {name: exported(two, name, own=False).notes for name in OWN} == {
        "eks-a-csv": (
            f"EKS Anywhere {why} {', '.join(f'{name} of 2' for name in columns)}: add --set or --with",
            empty,
        ),
        "netbox": (f"NetBox {why} role of 2, manufacturer of 2: add --set or --with",),
        "nico": (f"NICo {why} bmc_mac_address of 2: add --set or --with", empty),
    }
    assert {name: exported(two, name).notes for name in OWN} == {"eks-a-csv": (empty,), "netbox": (), "nico": (empty,)}


def test_a_bmc_with_a_host_name_is_reported_to_systems_that_only_accept_addresses(two: Environment) -> None:
    named = two.hosts[0].model_copy(update={"bmc": "redfish+https://bmc-1.example/redfish/v1/Systems/1"})
    region = two.model_copy(update={"hosts": (named, two.hosts[1])})

    assert [exported(region, name).notes[0] for name in ("eks-a-csv", "nico")] == [
        f"{title} requires IP addresses of BMCs; the BMC is a host name in the row of a01-u01"
        for title in ("EKS Anywhere", "NICo")
    ]


def test_a_bmc_with_another_port_is_reported_to_systems_without_ports(two: Environment) -> None:
    moved = two.hosts[0].model_copy(update={"bmc": "redfish+https://10.1.1.1:8443/redfish/v1/Systems/1"})
    region = two.model_copy(update={"hosts": (moved, two.hosts[1])})

    assert [exported(region, name).notes[0] for name in ("eks-a-csv", "nico")] == [
        f"{title} uses the default port of BMCs; bmc has another port in the row of a01-u01"
        for title in ("EKS Anywhere", "NICo")
    ]


@pytest.mark.parametrize(
    ("state", "status"),
    [
        (None, "active"),
        ("onboard", "staged"),
        ("seatrial", "staged"),
        ("zap", "staged"),
        ("test", "staged"),
        ("triage", "failed"),
        ("rma", "failed"),
        ("debug", "failed"),
        ("reserved", "offline"),
    ],
)
def test_netbox_gets_the_status_for_the_state_of_the_host(two: Environment, state: str | None, status: str) -> None:
    entry = state and OutOfServiceSpec(state=HostState(state), since=dt.date(2026, 11, 20), reason="fan")
    region = two.model_copy(update={"out_of_service": {"a01-u01": entry} if entry else {}})
    netbox = TARGETS[TargetFormat.NETBOX]

    exported_rows = read_netbox("netbox.csv", export_hosts(region, None, netbox, {}, None).text)[0]
    chosen_rows = read_netbox("netbox.csv", export_hosts(region, None, netbox, {"status": "planned"}, None).text)[0]

    assert [row.fact("status") for row in exported_rows] == [status, "active"]
    assert [row.fact("status") for row in chosen_rows] == ["planned", "planned"]


def test_one_hall_may_be_exported(region: Environment) -> None:
    moved = region.hosts[0].model_copy(update={"hall": "b"})
    both = region.model_copy(update={"hosts": (moved, *region.hosts[1:])})

    assert exported(both, "nico", own=False, hall="b").hosts == 1


def test_all_invalid_options_are_reported_together(two: Environment) -> None:
    login = two.hosts[0].model_copy(update={"bmc": "redfish+https://root:hunter2@10.1.1.1/redfish/v1/Systems/1"})
    region = two.model_copy(update={"hosts": (login, two.hosts[1])})
    table = "host,bmc_password,dsk\na01-u01,x,\na01-u1,x,\na01-u01,y,\nb,hunter2\n"

    with pytest.raises(SpecError) as caught:
        export_hosts(region, "b", TARGETS[TargetFormat.EKS_A_CSV], {"gatway": "1"}, ("t.csv", table))

    rule = "is not an additional column of EKS Anywhere (ip_address, netmask, gateway, nameservers, disk, vlan_id)"
    counts = "1 in --hall b, 1 in --set gatway=1, 1 in inventory/hall-a.csv, 5 in t.csv"
    expected = [
        f"environments/laptop: 8 problems ({counts})",
        "  --hall b                has no hosts in laptop (a); choose a listed hall",
        f"  --set gatway=1          'gatway' {rule}; did you mean 'gateway'?",
        "  inventory/hall-a.csv:<a01-u01>  bmc: contains credentials; remove them and store them in Secret bmc-a01",
        "  t.csv:1                 'bmc_password' is a credential, which is never exported; enter it in EKS Anywhere",
        f"  t.csv:1                 'dsk' {rule}; did you mean 'disk'?",
        "  t.csv:3                 host: 'a01-u1' is in no inventory/hall-*.csv; did you mean 'a01-u01'?",
        "  t.csv:4                 host: 'a01-u01' has two rows; remove one of them",
        "  t.csv:5                 has 2 values, the header has 3; write a value for each column",
    ]
    assert str(caught.value) == resolved("\n".join(expected), LAPTOP)


def test_a_table_names_its_hosts(two: Environment) -> None:
    with pytest.raises(SpecError) as caught:
        export_hosts(two, None, TARGETS[TargetFormat.NICO], {}, ("t.csv", "name,sku_id\na,b\n"))

    assert str(caught.value).splitlines()[1:] == [
        "  t.csv:1  'name' is not an additional column of NICo (bmc_mac_address, sku_id); choose a listed column",
        "  t.csv:1  has no column 'host' (name, sku_id); add it with the host of each row",
    ]
