"""Import of foreign files to inventory rows; missing values come from options and are never guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.reading.inventory_csv import InventoryReader
from components.specs.reading.inventory_text import cells, inventory_text
from jacquard.exchange.importing import Change
from tests.support.data.environment_data import ENVIRONMENTS

URL = "redfish-virtualmedia+https://{}/redfish/v1/Systems/1"
NEW = tuple(
    HostSpec(
        rack="a09",
        slot=slot,
        host=f"a09-u0{slot}",
        instance_type="h100-ib-8",
        serial=f"G26A090{slot}",
        bmc=URL.format(f"10.1.9.{slot}"),
        bmc_secret="bmc-a09",
        boot_mac=mac,
        dpu_serial=f"MT26A090{slot}",
        leaf="leaf-a9",
        hall="a",
    )
    for slot, mac in ((1, "02:00:00:01:09:01"), (2, "02:00:00:01:09:0a"))
)
TYPE = {"DGX H100": "h100-ib-8"}
SECRET = {"bmc_secret": "bmc-{rack}"}
GOLDEN: dict[str, tuple[str, dict[str, Any]]] = {
    "hardware.csv": (
        "eks-a-csv",
        {
            "maps": {"labels.type": "instance_type"},
            "types": {"dgx": "h100-ib-8"},
            "fixed": {"rack": "a09", "slot": "1", "serial": "G26-{host}", "dpu_serial": "MT26-{host}", **SECRET},
            "only": {"hostname": "a09-u01"},
        },
    ),
    "devices.csv": (
        "netbox",
        {"maps": {"type": "instance_type"}, "types": TYPE, "fixed": SECRET, "only": {"role": "GPU node"}},
    ),
    "devices.json": ("netbox", {"maps": {"device_type": "instance_type"}, "types": TYPE, "fixed": SECRET}),
    "expected_machines.json": (
        "nico",
        {"maps": {"sku_id": "instance_type"}, "types": {"nvidia.dgx-h100.gpu.1": "h100-ib-8"}, "fixed": SECRET},
    ),
    "bare_metal_hosts.yaml": (
        "bare-metal-hosts",
        {"maps": {"labels.example.com/slot": "slot", "labels.example.com/dpu": "dpu_serial"}},
    ),
    "bare_metal_hosts.json": (
        "bare-metal-hosts",
        {"maps": {"labels.example.com/slot": "slot", "labels.example.com/dpu": "dpu_serial"}},
    ),
}


@pytest.mark.parametrize("file", [file for file in GOLDEN if file != "hardware.csv"])
def test_two_new_machines_are_the_same_hosts_in_every_format(read: Any, file: str) -> None:
    source, choices = GOLDEN[file]

    assert read(source, file, **choices).added == NEW


def test_a_hardware_csv_requires_values_that_eks_anywhere_lacks(read: Any) -> None:
    source, choices = GOLDEN["hardware.csv"]

    done = read(source, "hardware.csv", **choices)

    assert done.added == (NEW[0].model_copy(update={"serial": "G26-a09-u01", "dpu_serial": "MT26-a09-u01"}),)


@pytest.mark.parametrize("file", GOLDEN)
def test_no_password_is_read(read: Any, file: str) -> None:
    source, choices = GOLDEN[file]

    assert "hunter2" not in repr(read(source, file, **choices))


def test_unread_passwords_are_reported(read: Any) -> None:
    remedy = "not read: credentials are references; store them in the Secrets that bmc_secret names"
    left_out = "1 row excluded by --only: not read"
    addresses = (
        "ip_address, netmask, gateway, nameservers of 1 row not used: Jacquard assigns the networks and addresses"
    )
    disk = "disk of 1 row not used: root_device of the instance type selects the disk"
    assert {file: read(source, file, **choices).notes for file, (source, choices) in GOLDEN.items()} == {
        "hardware.csv": (f"bmc_username, bmc_password of 1 row {remedy}", f"{addresses} of nodes", disk, left_out),
        "devices.csv": (f"bmc_password of 2 rows {remedy}", left_out),
        "devices.json": (f"password of 1 row {remedy}",),
        "expected_machines.json": (f"bmc_username, bmc_password of 2 rows {remedy}",),
        "bare_metal_hosts.yaml": (),
        "bare_metal_hosts.json": (),
    }


def test_rows_keep_their_order_and_new_hosts_follow(read: Any, region: Environment) -> None:
    source, choices = GOLDEN["devices.json"]
    before = (ENVIRONMENTS / "laptop/inventory/hall-a.csv").read_text(encoding="utf-8")

    done = read(source, "devices.json", **choices)

    url = URL.format("10.1.9.{}")
    assert done.text == before + "".join(
        f'a09,{slot},a09-u0{slot},h100-ib-8,G26A090{slot},{url.format(slot)},bmc-a09,"{mac}",MT26A090{slot},leaf-a9\n'
        for slot, mac in ((1, "02:00:00:01:09:01"), (2, "02:00:00:01:09:0a"))
    )
    assert (done.file, done.changed, done.removed) == ("inventory/hall-a.csv", (), ())
    assert (done.kept, done.unchanged) == (tuple(host.host for host in region.hosts), 0)


def test_values_missing_in_the_file_are_kept_for_known_hosts(read: Any, region: Environment) -> None:
    known = region.hosts[1]
    text = f"name,serial,oob_ip,leaf\n{known.host},G26A0199,10.1.1.2/16,\n"

    done = read("netbox", text, fixed={"leaf": "leaf-a99"})

    assert done.changed == (Change(host=known.host, columns={"serial": (known.serial, "G26A0199")}),)
    assert done.text.splitlines()[2] == (
        f"{known.rack},{known.slot},{known.host},{known.instance_type},G26A0199,{known.bmc},{known.bmc_secret},"
        f'"{known.boot_mac}",{known.dpu_serial},{known.leaf}'
    )


def test_a_known_host_with_another_address_or_driver_gets_a_new_bmc_address(read: Any, region: Environment) -> None:
    known = region.hosts[1]
    moved = read("netbox", f"name,oob_ip\n{known.host},10.1.200.2/16\n")
    redfish = read("netbox", f"name,oob_ip\n{known.host},10.1.1.2/16\n", driver="redfish+http", system_path="/x")
    ipmi = read("netbox", f"name,oob_ip\n{known.host},10.1.1.2:6230\n", driver="ipmi")

    assert [done.changed[0].columns["bmc"] for done in (moved, redfish, ipmi)] == [
        (known.bmc, URL.format("10.1.200.2")),
        (known.bmc, "redfish+http://10.1.1.2/x"),
        (known.bmc, "ipmi://10.1.1.2:6230"),
    ]


def test_hosts_missing_in_the_file_are_only_removed_on_request(read: Any, region: Environment) -> None:
    names = tuple(host.host for host in region.hosts)
    text = f"name\n{names[2]}\n{names[0]}\n"

    kept, pruned = read("netbox", text), read("netbox", text, prune=True)

    assert (kept.kept, kept.removed, kept.unchanged) == ((names[1], *names[3:]), (), 2)
    assert (pruned.kept, pruned.removed, pruned.unchanged) == ((), (names[1], *names[3:]), 2)
    assert pruned.text == inventory_text([cells(region.hosts[0]), cells(region.hosts[2])])


def test_rows_of_another_hall_are_left_out_and_counted(read: Any) -> None:
    text = "name,location\na01-u01,a\nb01-u01,b\nc01-u01,c\nc01-u02,c\n"

    done = read("netbox", text)

    assert (done.added, done.unchanged, done.notes) == ((), 1, ("3 rows of halls b, c: not read",))


def test_a_hall_of_another_name_is_chosen_by_its_rows(read: Any) -> None:
    done = read("netbox", "name,location\na01-u01,Hall A\nb01-u01,Hall B\n", only={"location": "Hall A"})

    assert (done.added, done.unchanged, done.notes) == ((), 1, ("1 row excluded by --only: not read",))


@pytest.mark.parametrize(
    "path", sorted(ENVIRONMENTS.glob("*/inventory/hall-*.csv")), ids=lambda path: path.parts[-3] + path.stem
)
def test_an_inventory_is_written_as_it_was_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert inventory_text([cells(host) for host in InventoryReader(path.name, "a").read(text)]) == text
