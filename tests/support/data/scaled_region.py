"""The region `laptop` with another number of hosts, in full racks.

Up to 480 hosts, the region has one hall and pools with the same shares of the hosts. A larger region has several halls,
as `us-east-04a`: the hosts boot from the network, each hall has a bare-metal controller, a cluster of DPUs and a
cluster of the first tenant, and each slice has its own stack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from ipaddress import ip_address
from math import ceil, log2
from pathlib import Path
from typing import Any

import yaml

from components.allocate.allocation import allocate
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import LAPTOP, copy_data, reference
from tests.support.data.lock_files import write_locks

NAME = LAPTOP.name
FEWEST_HOSTS, MOST_HOSTS = 30, 6000
_ONE_HALL = 480
"""Maximum number of hosts of a region with one hall; a bare-metal controller without network boot may have 500."""
_PER_HALL = 1000
"""Maximum number of hosts in each hall of a larger region; a cluster of DPUs may have 1,000."""
_GPU, _CPU = "h100-ib-8", "cpu-gen4"
_RACKS = {_GPU: 8, _CPU: 6}
"""Hosts per rack of each instance type."""
_GPU_SHARE = 0.8
_FIRST = "acme"
"""Tenant with the pools of a larger region; other tenants keep theirs."""
_SOLD = {_GPU: 0.9, _CPU: 0.8}
"""Shares of the hosts that the first tenant has in a larger region; one controller has all free hosts."""
_OVN, _LOOPBACKS, _BOOT = "10.16.0.0", "10.17.0.0", "10.18.0.0"
"""First addresses of networks that are too small in `laptop`, or absent."""
_HEADER = "rack,slot,host,instance_type,serial,bmc,bmc_secret,boot_mac,dpu_serial,leaf"

Data = dict[str, Any]


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
    for path in (*home.glob("*.lock.yaml"), *(home / "inventory").glob("*.csv")):
        path.unlink()
    halls = ceil(hosts / (_ONE_HALL if hosts <= _ONE_HALL else _PER_HALL))
    is_large = hosts > _ONE_HALL
    counts: Counter[str] = Counter()
    for hall in range(halls):
        of_types = list(_instance_types(hosts // halls + (hall < hosts % halls)))
        counts.update(of_types)
        rows = _rows(hall, of_types, "redfish" if is_large else "redfish-virtualmedia")
        (home / "inventory" / f"hall-{_letter(hall)}.csv").write_text("\n".join([_HEADER, *rows]) + "\n")
    _rewrite(home / "region.yaml", _widen)
    if is_large:
        _rewrite(home / "region.yaml", lambda region: _grow(region, halls))
        _leave_ovn(home)
    factors = _factors(counts, _SOLD if is_large else {})
    for tenant in (home / "tenants").glob(f"{_FIRST}.yaml" if is_large else "*.yaml"):
        _rewrite(tenant, lambda data: _scale(data, factors, clusters=halls))
    environment = load_environment(NAME, folder)
    write_locks(environment, folder, *allocate(environment))
    return folder


def _instance_types(hosts: int) -> Iterator[str]:
    """Yield the instance type of each host of a hall, with full racks of GPU nodes."""
    gpus = round(hosts * _GPU_SHARE / _RACKS[_GPU]) * _RACKS[_GPU]
    yield from [_GPU] * gpus
    yield from [_CPU] * (hosts - gpus)


def _letter(hall: int) -> str:
    return chr(ord("a") + hall)


def _rows(hall: int, of_types: list[str], scheme: str) -> Iterator[str]:
    """Yield the rows of a hall; racks have numbers of the hall, but addresses of the region."""
    letter, rack = _letter(hall), 0
    for name, size in _RACKS.items():
        count = of_types.count(name)
        for first in range(0, count, size):
            rack += 1
            for slot in range(1, min(size, count - first) + 1):
                place = f"{letter}{rack:03}"
                serial = f"26{letter.upper()}{rack:03}{slot:02}"
                address = ip_address("10.1.0.0") + 16 * (_PER_HALL // min(_RACKS.values()) * hall + rack) + slot
                bmc = f"{scheme}+https://{address}/redfish/v1/Systems/1,bmc-{place}"
                host = f"{place},{slot},{place}-u{slot:02},{name},{name[0].upper()}{serial},{bmc}"
                yield f'{host},"02:00:00:{hall:02x}:{rack:02x}:{slot:02x}",MT{serial},leaf-{place}'


def _widen(region: Data) -> None:
    region["networks"] |= {"ovn": f"{_OVN}/17", "dpu_loopbacks": f"{_LOOPBACKS}/19"}


def _grow(region: Data, halls: int) -> None:
    """Give a region its halls, and the controllers, clusters of DPUs and limits that so many hosts require."""
    letters = [_letter(hall) for hall in range(halls)]
    region |= {"stacks": "sliced", "failure_domain": "hall"}
    region["sites"][0]["halls"] = letters
    region["networks"]["boot"] = f"{_BOOT}/16"
    region["control_planes"] |= {"dedicated_above_nodes": 5000, "max_clusters": 2 * halls + 2}
    for store in region["control_planes"]["data_stores"]:
        store |= {"max_clusters": 2 * halls + 2, "max_nodes": MOST_HOSTS}
    # One more controller has the clusters of other tenants, and the free hosts.
    names = [f"boot-{letter}" for letter in [*letters, "z"]]
    region["bare_metal"] |= {
        "free_hosts": names[-1],
        "controllers": [_controller(name, ip_address(_BOOT) + number * 2048) for number, name in enumerate(names)],
    }
    dpus = region["dpus"]
    vip, router = ip_address(dpus.pop("vip")), dpus.pop("virtual_router_id")
    dpus["clusters"] = [
        {
            "name": letter,
            "vip": str(vip + hall),
            "virtual_router_id": router + hall,
            "loopbacks": f"{ip_address(_LOOPBACKS) + hall * 1024}/22",
            "halls": [letter],
        }
        for hall, letter in enumerate(letters)
    ]


def _controller(name: str, network: Any) -> Data:
    leases = {"network": f"{network}/21", "gateway": str(network + 1)}
    leases |= {"first": str(network + 16), "last": str(network + 2046)}
    return {"name": name, "boot": "network-boot", "max_hosts": 1500, "dhcp": leases}


def _leave_ovn(home: Path) -> None:
    """Move a VPC to HBN, because OVN on DPUs supports only one cluster of DPUs."""
    _rewrite(home / "tenants" / "globex.yaml", lambda tenant: tenant["vpcs"][0].update(isolation="dpf-hbn"))
    _rewrite(home / "region.yaml", _without_ovn)
    (home / "waivers.yaml").unlink()


def _without_ovn(region: Data) -> None:
    del region["networks"]["ovn"], region["dpus"]["ovn_central"], region["dpus"]["ovn_replicated"]


def _factors(counts: Counter[str], sold: dict[str, float]) -> dict[str, float]:
    """Return by how much pools grow: to shares of the hosts for the first tenant, else with the number of hosts."""
    laptop = reference(NAME)
    before = Counter(host.instance_type for host in laptop.hosts)
    if sold:
        (first,) = (tenant for tenant in laptop.tenants if tenant.tenant == _FIRST)
        before.clear()
        for pool in (pool for cluster in first.clusters for pool in cluster.pools):
            before[pool.instance_type] += pool.nodes or 0
    return {name: count * sold.get(name, 1) / before[name] for name, count in counts.items()}


def _scale(tenant: Data, factors: dict[str, float], clusters: int) -> None:
    """Scale the pools of a tenant in so many copies of its cluster, and its contract and networks accordingly."""
    sold: Counter[str] = Counter()
    for pool in (pool for cluster in tenant["clusters"] for pool in cluster["pools"]):
        pool["nodes"] = int(pool["nodes"] * factors[pool["instance_type"]] / clusters)
        sold[pool["instance_type"]] += pool["nodes"]
    tenant["contract"] = [{"instance_type": name, "nodes": count * clusters} for name, count in sold.items()]
    # A node has a /30 of the hosts' network and a /24 of the pods'; a rollout needs some more.
    doublings = ceil(log2(1.25 * sold.total()))
    for vpc in tenant["vpcs"]:
        for name, of_node in (("hosts", 30), ("pods", 24)):
            vpc[name] = f"/{min(int(vpc[name][1:]), of_node - doublings)}"
    for kind in ("vpcs", "clusters"):
        (first,) = tenant[kind]
        tenant[kind] += [_copy(first, f"-{number}") for number in range(2, clusters + 1)]


def _copy(first: Data, suffix: str) -> Data:
    """Return a copy of a VPC or cluster with another name; a cluster is in the VPC with the same suffix."""
    return {key: value + suffix if key in ("name", "vpc") else deepcopy(value) for key, value in first.items()}


def _rewrite(path: Path, change: Callable[[Data], None]) -> None:
    data = yaml.load(path.read_text(), yaml.CSafeLoader)
    change(data)
    path.write_text(yaml.safe_dump(data, sort_keys=False))
