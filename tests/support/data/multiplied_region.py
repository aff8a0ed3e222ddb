"""A large region: several copies of a reference environment in one region, as files with lock files."""

from __future__ import annotations

import csv
import ipaddress
import re
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from components.allocate.allocation import allocate
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.data.lock_files import write_locks

_ROOM = {
    "management": "10.0.0.0/16",
    "bmc": "11.0.0.0/8",
    "boot": "10.32.0.0/11",
    "storage": "10.2.0.0/17",
    "control_plane_vips": "10.3.0.0/22",
    "dpu_loopbacks": "10.20.0.0/14",
    "tenants": "64.0.0.0/3",
    "public": ["198.51.96.0/20"],
    "asn": "4200000000-4200499999",
}
"""Networks and number ranges for ten copies."""


def multiply(name: str, copies: int, folder: Path) -> Path:
    """Write ``copies`` of the environment ``name`` into ``folder`` as one region, and return the folder.

    Each copy has its own halls, racks, hosts, tenants and clusters. Waivers, contracts, broken hosts, and free hosts of
    all copies except the first are left out.
    """
    shutil.copytree(ENVIRONMENTS / "catalog", folder / "catalog")
    home, source = folder / name, ENVIRONMENTS / name
    (home / "inventory").mkdir(parents=True)
    (home / "tenants").mkdir()
    assigned = load_environment(name, ENVIRONMENTS).allocations.hosts
    for copy in range(copies):
        for path in sorted((source / "inventory").glob("*.csv")):
            # Free hosts share a controller, which can manage those of one copy only.
            kept = None if copy == 0 else assigned
            (home / "inventory" / f"{path.stem}{copy}.csv").write_text(_inventory(path, copy, kept))
        for path in sorted((source / "tenants").glob("*.yaml")):
            text = re.sub(r"^contract:\n(  .*\n)+", "", path.read_text(), flags=re.MULTILINE)
            text = re.sub(rf"\b{path.stem}(?=\b|-)", f"{path.stem}{copy}", text)
            (home / "tenants" / f"{path.stem}{copy}.yaml").write_text(_fabrics(text, copy))
    (home / "region.yaml").write_text(_region(source / "region.yaml", copies))
    environment = load_environment(name, folder)
    write_locks(environment, folder, *allocate(environment))
    return folder


def _fabrics(text: str, copy: int) -> str:
    return re.sub(r"\b(ib-[a-z]+-[0-9]+)\b", rf"\1-{copy}", text)


def _inventory(path: Path, copy: int, kept: Collection[str] | None) -> str:
    header, *rows = csv.reader(path.read_text().splitlines())
    mac, host = header.index("boot_mac"), header.index("host")
    lines = [",".join(header)]
    for row in (row for row in rows if kept is None or row[host] in kept):
        cells = [_cell(column, value, copy) for column, value in zip(header, row, strict=True)]
        cells[mac] = f'"{cells[mac]}"'
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def _cell(column: str, value: str, copy: int) -> str:
    if column in {"instance_type", "slot"}:
        return value
    if column == "boot_mac":
        first, second, *rest = value.split(":")
        return ":".join([first, f"{int(second, 16) + 16 * copy:02x}", *rest])
    if column in {"bmc", "dpu_bmc"}:
        return re.sub(r"[0-9]+(\.[0-9]+){3}", lambda found: _moved(found[0], (1 << 24) + (copy << 16)), value)
    rack, separator, rest = value.partition("-u")
    return f"{rack}-{copy}{separator}{rest}"


def _moved(address: str, by: int) -> str:
    return str(ipaddress.IPv4Address(address) + by)


def _region(path: Path, copies: int) -> str:
    region = yaml.load(path.read_text(), yaml.CSafeLoader)
    numbers = range(copies)
    site, planes, metal = region["sites"][0], region["control_planes"], region["bare_metal"]
    site["halls"] = [f"{hall}{copy}" for copy in numbers for hall in site["halls"]]
    region["networks"] |= _ROOM
    region["fabrics"] = [_fabric(fabric, copy) for copy in numbers for fabric in region["fabrics"]]
    planes["max_clusters"] *= copies
    for store in planes["data_stores"]:
        store["max_clusters"] *= copies
        store["max_nodes"] = 50_000
    metal["controllers"] = [_controller(one, copy) for copy in numbers for one in metal["controllers"]]
    metal["free_hosts"] += "-0"
    for store in ("metrics", "logs"):
        size = region["observability"][store]["size"]
        region["observability"][store]["size"] = f"{int(size.removesuffix('Ti')) * copies}Ti"
    region["dpus"]["clusters"] = [_dpu_cluster(one, copy) for copy in numbers for one in region["dpus"]["clusters"]]
    return yaml.safe_dump(region, sort_keys=False)


def _controller(controller: dict[str, Any], copy: int) -> dict[str, Any]:
    dhcp = {key: _moved(value, (27 + copy) << 16) for key, value in controller["dhcp"].items() if key != "network"}
    address, _, size = controller["dhcp"]["network"].partition("/")
    moved = {"network": f"{_moved(address, (27 + copy) << 16)}/{size}", **dhcp}
    return controller | {"name": f"{controller['name']}-{copy}", "dhcp": moved}


def _fabric(fabric: dict[str, Any], copy: int) -> dict[str, Any]:
    first, last = (f"0x{int(end, 16) + (copy << 32):016x}" for end in fabric["guids"].split("-"))
    halls = [f"{hall}{copy}" for hall in fabric["halls"]]
    return fabric | {"name": f"{fabric['name']}-{copy}", "halls": halls, "guids": f"{first}-{last}"}


def _dpu_cluster(cluster: dict[str, Any], copy: int) -> dict[str, Any]:
    address, _, size = cluster["loopbacks"].partition("/")
    moved = {
        "name": f"{cluster['name']}{copy}",
        "vip": _moved(cluster["vip"], copy << 8),
        "virtual_router_id": cluster["virtual_router_id"] + 10 * copy,
        "loopbacks": f"{_moved(address, (1 << 20) + (copy << 13))}/{size}",
        "halls": [f"{hall}{copy}" for hall in cluster["halls"]],
    }
    return cluster | moved | ({"from_rack": f"{cluster['from_rack']}-{copy}"} if "from_rack" in cluster else {})
