"""Fleets and orders; the regions are copies of laptop without tenants, so that all hosts are free."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from components.allocate.allocation import allocate
from components.specs.environment import Environment
from components.specs.fleet.fleet import FleetSpec
from components.specs.fleet.order import OrderSpec
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.fleet import Fleet, load_fleet
from components.specs.reading.positions import Positions
from components.specs.reading.problems import SpecError
from tests.support.data.environment_data import reference

OPEN: dict[str, Any] = {"status": "open", "jurisdictions": ["us"]}
GPUS, PLAIN = "h100-ib-8", "cpu-gen4"
"""Instance types of the hosts of laptop."""


def fleet(*orders: OrderSpec, **entries: dict[str, Any]) -> Fleet:
    """Return a fleet with ``entries`` by region name; underscores in names stand for hyphens."""
    regions = {name.replace("_", "-"): entry for name, entry in entries.items()}
    spec = FleetSpec.model_validate_json(json.dumps({"schema_version": 1, "regions": regions}))
    return Fleet(spec=spec, orders=orders, folders=tuple(regions), positions=Positions())


def order(kind: str = GPUS, nodes: int = 4, **fields: Any) -> OrderSpec:
    """Return an order of nodes of one instance type."""
    values: dict[str, Any] = {
        "schema_version": 1,
        "order": "heron-train",
        "tenant": "heron",
        "contacts": {"alerts": "oncall@heron.example", "changes": "platform@heron.example"},
        "from": "2027-01-15",
        "cluster": "heron-train",
        "version": "v1.35.2",
        "egress": "public",
        "items": [{"instance_type": kind, "nodes": nodes, "within": "region"}],
    }
    return OrderSpec.model_validate_json(json.dumps(values | fields))


@cache
def empty_region(name: str, gpus: int = 24) -> Environment:
    """Return laptop under another name, without tenants, and with the first ``gpus`` GPU hosts only."""
    laptop = reference("laptop")
    kept = [host.host for host in laptop.hosts if host.instance_type == GPUS][:gpus]
    empty = laptop.model_copy(
        update={
            "name": name,
            "region": laptop.region.model_copy(update={"region": name}),
            "tenants": (),
            "hosts": tuple(host for host in laptop.hosts if host.instance_type == PLAIN or host.host in kept),
            "allocations": AllocationsLock(schema_version=AllocationsLock.FORMAT),
            "image_pins": ImagesLock(schema_version=ImagesLock.FORMAT),
        }
    )
    numbers, pins = allocate(empty)
    return empty.model_copy(update={"allocations": numbers, "image_pins": pins})


def only_problem(folder: Path) -> str:
    """Return the line of the only problem of the fleet in ``folder``."""
    with pytest.raises(SpecError) as error:
        load_fleet(folder)
    headline, line = str(error.value).splitlines()
    assert headline == "environments/fleet: 1 problem"
    return line.strip().replace("  ", " ")
