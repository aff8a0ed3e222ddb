"""The region `laptop` with another number of hosts: full racks, and pools with the same shares of the hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import ceil, log2
from pathlib import Path
from typing import Any

import yaml
from environment_data import LAPTOP, copy_data, reference
from lock_files import write_locks

from components.allocate.allocation import allocate
from components.specs.reading.loader import load_environment

NAME = LAPTOP.name
FEWEST_HOSTS, MOST_HOSTS = 30, 480
"""Hosts of `laptop`, and racks of one bare-metal controller."""
_GPU, _CPU = "h100-ib-8", "cpu-gen4"
_RACKS = {_GPU: 8, _CPU: 6}
"""Hosts per rack of each instance type."""
_GPU_SHARE = 0.8
_ROOM = {"ovn": "10.16.0.0/21", "dpu_loopbacks": "10.16.8.0/21"}
"""Networks that are too small in `laptop`."""
_HEADER = "rack,slot,host,instance_type,serial,bmc,bmc_secret,boot_mac,dpu_serial,leaf"


def region_of(hosts: int, folder: Path) -> Path:
    """Write the catalogue and the region with new lock files into ``folder``, and return the folder.

    Raises:
        ValueError: The number of hosts is outside `FEWEST_HOSTS` to `MOST_HOSTS`.
    """
    if not FEWEST_HOSTS <= hosts <= MOST_HOSTS:
        msg = f"a region has {FEWEST_HOSTS} to {MOST_HOSTS} hosts, not {hosts}"
        raise ValueError(msg)
    copy_data(folder, NAME)
    home = folder / NAME
    for lock in home.glob("*.lock.yaml"):
        lock.unlink()
    of_types = list(_instance_types(hosts))
    (home / "inventory" / "hall-a.csv").write_text("\n".join([_HEADER, *_rows(of_types)]) + "\n")
    _rewrite(home / "region.yaml", lambda region: region["networks"].update(_ROOM))
    of_laptop = Counter(host.instance_type for host in reference(NAME).hosts)
    factors = {name: count / of_laptop[name] for name, count in Counter(of_types).items()}
    for tenant in (home / "tenants").glob("*.yaml"):
        _rewrite(tenant, lambda data: _scale(data, factors))
    environment = load_environment(NAME, folder)
    write_locks(environment, folder, *allocate(environment))
    return folder


def _instance_types(hosts: int) -> Iterator[str]:
    """Yield the instance type of each host, with full racks of GPU nodes."""
    gpus = round(hosts * _GPU_SHARE / _RACKS[_GPU]) * _RACKS[_GPU]
    yield from [_GPU] * gpus
    yield from [_CPU] * (hosts - gpus)


def _rows(of_types: list[str]) -> Iterator[str]:
    rack = 0
    for name, size in _RACKS.items():
        count = of_types.count(name)
        for first in range(0, count, size):
            rack += 1
            for slot in range(1, min(size, count - first) + 1):
                place = f"a{rack:02},{slot},a{rack:02}-u{slot:02},{name},{name[0].upper()}26A{rack:03}{slot:02}"
                bmc = f"redfish-virtualmedia+https://10.1.{rack}.{slot}/redfish/v1/Systems/1,bmc-a{rack:02}"
                yield f'{place},{bmc},"02:00:00:01:{rack:02x}:{slot:02x}",MT26A{rack:03}{slot:02},leaf-a{rack}'


def _scale(tenant: dict[str, Any], factors: dict[str, float]) -> None:
    """Scale the pools of a tenant, and its contract and networks accordingly."""
    sold: Counter[str] = Counter()
    for pool in (pool for cluster in tenant["clusters"] for pool in cluster["pools"]):
        pool["nodes"] = int(pool["nodes"] * factors[pool["instance_type"]])
        sold[pool["instance_type"]] += pool["nodes"]
    tenant["contract"] = [{"instance_type": name, "nodes": count} for name, count in sold.items()]
    doublings = max(0, ceil(log2(sum(sold.values()) / 40)))
    for vpc in tenant["vpcs"]:
        vpc |= {name: f"/{int(vpc[name][1:]) - doublings}" for name in ("hosts", "pods")}


def _rewrite(path: Path, change: Any) -> None:
    data = yaml.load(path.read_text(), yaml.CSafeLoader)
    change(data)
    path.write_text(yaml.safe_dump(data, sort_keys=False))
