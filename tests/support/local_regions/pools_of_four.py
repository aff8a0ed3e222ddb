"""A local region of one tenant with about twenty pools of four nodes, one for each way to replace nodes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion

CLUSTER = "acme-train"
NODES = 4
PAST, NEXT = "gpu-2026.10.2", "gpu-2026.11.1"
_HOSTS_A_RACK = 7
_BY_MEDIA = "redfish-virtualmedia"
_NETWORK = {
    "  bmc: 10.1.0.0/16\n": "  bmc: 10.1.0.0/16\n  boot: 10.5.0.0/24\n",
    "  backend: metal3\n": """  backend: metal3
  free_hosts: boot
  controllers:
    - name: boot
      boot: network-boot
      max_hosts: 200
      dhcp: {network: 10.5.0.0/24, first: 10.5.0.16, last: 10.5.0.254}
""",
}
"""Network data of the region, and the same with a controller whose hosts boot from the network."""
_ADDRESSES = "  addresses: {dns: [10.2.0.53], ntp: [10.2.0.123]}"
_COLUMNS = "rack,slot,host,instance_type,serial,bmc,bmc_secret,boot_mac,dpu_serial,leaf"


def region_of(
    folder: Path,
    pools: Mapping[str, Mapping[str, Any]],
    *,
    racks: int | None = None,
    network_boot: bool = False,
    addresses: bool = False,
) -> LocalRegion:
    """Return the region in ``folder`` with its numbers allocated, not started.

    Args:
        folder: Folder used by this region only.
        pools: Values of each pool beyond its four nodes with the previous image, by name.
        racks: Number of racks with seven hosts each; None for one per pool.
        network_boot: Whether hosts boot from the network, a limited number at a time; otherwise by virtual media.
        addresses: Whether nodes get the addresses that the lock file has for their hosts.
    """
    region = LocalRegion(folder)
    data = region.environments / ENVIRONMENT
    (data / "tenants" / "globex.yaml").unlink()
    inventory = _inventory(len(pools) if racks is None else racks)
    if network_boot:
        inventory = inventory.replace(_BY_MEDIA, "redfish")
        for old, new in _NETWORK.items():
            region.edit(f"{ENVIRONMENT}/region.yaml", old, new)
    if not addresses:
        region.edit(f"{ENVIRONMENT}/region.yaml", _ADDRESSES, "")
    (data / "inventory" / "hall-a.csv").write_text(inventory)
    for path in data.glob("*.lock.yaml"):
        path.unlink()
    edit(region, lambda tenant: _with_pools(tenant, pools))
    allocated = region.jacquard("allocate", ENVIRONMENT)
    assert allocated.code == 0, allocated.text
    return region


def edit(region: LocalRegion, change: Any) -> None:
    """Replace the tenant's file by the result of ``change``."""
    path = region.environments / ENVIRONMENT / "tenants" / "acme.yaml"
    header, _, text = path.read_text().partition("\n")
    path.write_text(f"{header}\n{yaml.safe_dump(change(yaml.safe_load(text)), sort_keys=False)}")


def edit_pools(region: LocalRegion, changes: Mapping[str, Mapping[str, Any]]) -> None:
    """Merge ``changes`` into the values of pools, by pool name; mappings are merged too."""

    def changed(tenant: dict[str, Any]) -> dict[str, Any]:
        [cluster] = tenant["clusters"]
        pools = {pool["name"]: pool for pool in cluster["pools"]}
        for name, more in changes.items():
            for key, value in more.items():
                pools[name][key] = {**pools[name].get(key, {}), **value} if isinstance(value, dict) else value
        return tenant

    edit(region, changed)


def _with_pools(tenant: dict[str, Any], pools: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a tenant of one cluster with these pools, without contacts or contracts."""
    [cluster], [vpc] = tenant["clusters"], tenant["vpcs"]
    vpc["hosts"] = "/22"
    one = {"instance_type": "h100-ib-8", "nodes": NODES, "image": PAST}
    cluster |= {"pools": [{"name": name, **one, **pool} for name, pool in pools.items()], "storage": []}
    cluster["add_ons"] = ["cilium"]  # Without a network no node is ready, and no other add-on may add jobs.
    kept = {key: value for key, value in tenant.items() if key not in ("vms", "contract")}
    return kept | {"changes": {"approval": "not-required"}, "clusters": [cluster]}


def _inventory(racks: int) -> str:
    rows = [_row(rack, slot) for rack in range(1, racks + 1) for slot in range(1, _HOSTS_A_RACK + 1)]
    return "\n".join([_COLUMNS, *rows, ""])


def _row(rack: int, slot: int) -> str:
    name, number = f"a{rack:02d}", f"{rack:02d}{slot:02d}"
    bmc = f"{_BY_MEDIA}+https://10.1.{rack}.{slot}/redfish/v1/Systems/1"
    mac = f'"02:00:00:01:{rack:02x}:{slot:02x}"'
    return f"{name},{slot},{name}-u{slot:02d},h100-ib-8,G26A{number},{bmc},bmc-{name},{mac},MT26A{number},leaf-a{rack}"
