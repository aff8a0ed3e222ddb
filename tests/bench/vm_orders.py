"""Benchmark: checking and rendering 1,000 VMs that a tenant ordered as data, compared with a plain reader.

They are fleets of five, since more than 240 single VMs are rejected, each with a name, users, a persistent root disk
and a volume. The baseline is PyYAML's C parser over the file of their tenant, in the same rounds. The same region
without them is measured too, since most of a check is the rest of it.

python tests/bench/vm_orders.py [--environment us-east-04a] [--orders 1000] [--rounds 5] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from region_model import largest, seconds, shown, work
from support import ENVIRONMENTS

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import objects
from components.specs.reading.loader import load_environment

BARS = {"check and render, seconds": 3.0, "more than without orders, over floor": 10.0}
_FLEET = 5
_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICNPZccfq2Qc8plKIZmAmY48pZ1x8O9oQs7K52SutrN7 somebody@cloud.example"


def order(name: str, orders: int, folder: Path) -> Path:
    """Write environment ``name`` into ``folder`` with ``orders`` VMs of one tenant; return its file, as JSON."""
    for part in ("catalog", name):
        shutil.copytree(ENVIRONMENTS / part, folder / part)
    for file in sorted((folder / name / "tenants").glob("*.yaml")):
        tenant = yaml.load(file.read_text(), yaml.CSafeLoader)
        if vms := tenant.get("vms"):
            vms["instances"] = [_order(number, vms) for number in range(orders // _FLEET)]
            vms.pop("snapshots", None)  # None of these orders requests any.
            tenant.pop("quotas", None)
            file.write_text(json.dumps(tenant, indent=1))
            return file
    raise LookupError(name)


def _order(number: int, vms: Mapping[str, Any]) -> dict[str, Any]:
    storage_class = vms["image_storage_class"]
    return {
        "name": f"vm-{number}",
        "count": _FLEET,
        "size": vms["offerings"][0],
        "image": vms["images"][0],
        "root": {"size": "500Gi", "storage_class": storage_class},
        "volumes": [{"name": "data", "size": "100Gi", "storage_class": storage_class, "scratch": True}],
        "users": [{"name": "somebody", "ssh_keys": [_KEY]}],
    }


def floor(file: Path) -> None:
    """Read the file of the tenant with a parser only."""
    yaml.load(file.read_text(), yaml.CSafeLoader)


def whole(name: str, folder: Path, cluster: str) -> None:
    """Check the region, and render all objects in the cluster of the VMs."""
    work(name, folder)
    environment = load_environment(name, folder)
    for piece in slices(environment):
        if piece.name == f"cluster-{cluster}":
            for _ in objects(manifests(environment, piece)):
                pass


def main() -> int:
    """Run the rounds, and print medians with their limits; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", default=largest(), help="which environment (default: the one with most data)")
    parser.add_argument("--orders", type=int, default=1000, help="how many VMs are ordered (default 1000)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--json", type=Path, help="also write the figures of all rounds here")
    chosen = parser.parse_args()
    name, rounds = chosen.environment, []
    with tempfile.TemporaryDirectory(prefix="jacquard-bench-") as scratch:
        without, ordered = Path(scratch) / "without", Path(scratch) / "ordered"
        order(name, 0, without)
        file = order(name, chosen.orders, ordered)
        cluster = yaml.load(file.read_text(), yaml.CSafeLoader)["vms"]["cluster"]
        print(f"{chosen.orders} VMs in {cluster}, {file.stat().st_size / 1e3:.0f} kB")
        for _ in range(chosen.rounds):
            base = seconds(partial(lambda path, _: floor(path), file), lambda: None)
            few = seconds(lambda folder: whole(name, folder, cluster), lambda: without)
            many = seconds(lambda folder: whole(name, folder, cluster), lambda: ordered)
            rounds.append(
                {
                    "check and render, seconds": many,
                    "more than without orders, over floor": (many - few) / base,
                    "without orders, seconds": few,
                    "floor, seconds": base,
                }
            )
    if chosen.json:
        chosen.json.write_text(json.dumps({"rounds": rounds}, indent=2) + "\n")
    return int(shown(rounds, BARS))


if __name__ == "__main__":
    sys.exit(main())
