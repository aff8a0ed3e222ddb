"""A local region with the backends of environment eu-south-03a, two of its tenants, and a few of its hosts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.support.local_regions.local_region import LocalRegion

ENVIRONMENT = "eu-south-03a"
NODES = {
    "solstice-lab": {"system": 2, "h100": 2},
    "solstice-eval": {"system": 2, "l40s": 1},
    "vireo-train": {"system": 2, "h100": 6},
}
"""Number of nodes by cluster and pool; other tenants, VPCs and pools are left out."""
_RACKS = {"a01": 4, "a02": 4, "a20": 2, "a22": 5, "b01": 4, "b22": 5}
"""Number of hosts to keep of each rack."""
_OF_PRODUCTION = ("state", "context")
_VAULT = {"server": "https://vault.example:8200", "path": "regions", "role": ENVIRONMENT}


def second_region(folder: Path) -> LocalRegion:
    """Return the region in ``folder`` with its numbers allocated again, not started."""
    region = LocalRegion(folder, ENVIRONMENT)
    data = region.environments / ENVIRONMENT
    _edit(data / "region.yaml", _rehearsed)
    for path in sorted((data / "tenants").glob("*.yaml")):
        if not _edit(path, _shrunk):
            path.unlink()
    there = {path.stem for path in (data / "tenants").glob("*.yaml")}
    _edit(data / "waivers.yaml", lambda file: {**file, "waivers": _of_subjects(file["waivers"], there)})
    for path in sorted((data / "inventory").glob("*.csv")):
        path.write_text("".join(_kept(path)))
    for path in data.glob("*.lock.yaml"):
        path.unlink()
    allocated = region.jacquard("allocate", ENVIRONMENT)
    assert allocated.code == 0, allocated.text
    return region


def _edit(path: Path, change: Any) -> bool:
    """Replace a file by the result of ``change``, and return whether any content is left."""
    header, _, text = path.read_text().partition("\n")
    changed = change(yaml.safe_load(text))
    path.write_text(f"{header}\n{yaml.safe_dump(changed, sort_keys=False)}")
    return bool(changed)


def _of_subjects(waivers: list[dict[str, Any]], subjects: set[str]) -> list[dict[str, Any]]:
    return [one for one in waivers if one["subject"] in subjects]


def _rehearsed(region: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in region.items() if key not in _OF_PRODUCTION}
    # The platform's store does not exist locally, so the region creates one with its operator.
    secrets = {**region["secrets"], "vault": _VAULT}
    return kept | {"stage": "rehearsal", "stacks": "whole", "secrets": secrets}


def _shrunk(tenant: dict[str, Any]) -> dict[str, Any]:
    clusters = [cluster for cluster in tenant["clusters"] if cluster["name"] in NODES]
    for cluster in clusters:
        nodes = NODES[cluster["name"]]
        cluster["pools"] = [_pool(pool, nodes[pool["name"]]) for pool in cluster["pools"] if pool["name"] in nodes]
    if not clusters:
        return {}
    used = {cluster["vpc"] for cluster in clusters}
    vpcs = [vpc for vpc in tenant["vpcs"] if vpc["name"] in used]
    # Remove approvals, maintenance windows and contracts for hosts that do not exist locally.
    return {**tenant, "vpcs": vpcs, "clusters": clusters, "changes": {"approval": "not-required"}, "contract": []}


def _pool(pool: dict[str, Any], nodes: int) -> dict[str, Any]:
    return {key: value for key, value in pool.items() if key != "rollout"} | {"nodes": nodes}


def _kept(inventory: Path) -> list[str]:
    header, *hosts = inventory.read_text().splitlines(keepends=True)
    kept = [header]
    for rack, number in _RACKS.items():
        kept += [host for host in hosts if host.startswith(f"{rack},")][:number]
    return kept
