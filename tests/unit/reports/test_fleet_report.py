"""The fleet report agrees with the reports of its regions, and shows the capacity for orders."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from components.reports.capacity import capacity
from components.reports.fleet.fleet import COLUMNS, fleet_report
from components.reports.fleet.room import rooms
from components.specs.fleet.fleet import FleetSpec
from components.specs.hosts.instance_types import Scale
from components.specs.reading.fleet import Fleet
from components.specs.reading.positions import Positions
from components.specs.region.tenant import ContractSpec
from tests.support.data.environment_data import reference

DAY = dt.date(2026, 11, 28)


def fleet(*names: str) -> Fleet:
    entry = {"status": "open", "jurisdictions": ["us"], "latency_group": "desk", "capabilities": ["soc-2"]}
    spec = FleetSpec.model_validate_json(json.dumps({"schema_version": 1, "regions": dict.fromkeys(names, entry)}))
    return Fleet(spec=spec, folders=names, positions=Positions())


def test_figures_are_those_of_each_region() -> None:
    environments = [reference("eu-south-03a"), reference("lab")]

    report = fleet_report(fleet("lab", "eu-south-03a"), environments, DAY)

    assert [region.region for region in report.regions] == ["eu-south-03a", "lab"]
    for region, environment in zip(report.regions, environments, strict=True):
        for shown, kind in zip(region.types, capacity(environment).types, strict=True):
            figures = shown.nodes
            assert (figures.installed, figures.contracted, figures.planned, figures.free) == (
                kind.total.installed,
                kind.total.contracted or 0,
                kind.total.planned,
                kind.total.free,
            )
            assert figures.orderable == rooms(environment)[kind.instance_type].nodes
    kinds = [kind for region in report.regions for kind in region.types]
    for column in COLUMNS:
        assert sum(getattr(row, column) for row in report.totals.values()) == sum(
            getattr(kind.nodes, column) for kind in kinds
        )
        assert getattr(report.gpus, column) == sum(getattr(kind.nodes, column) * kind.gpus_per_node for kind in kinds)


def test_a_region_has_its_entry_and_the_values_of_its_data() -> None:
    [region] = fleet_report(fleet("lab"), [reference("lab"), reference("laptop")], DAY).regions

    assert (region.status, region.jurisdictions, region.latency_group) == ("open", ("us",), "desk")
    assert region.capabilities == ("soc-2", "storage-nfs", "storage-topolvm", "vms")
    assert region.images == {"cpu-2026.12.0": 2, "gpu-2026.12.0": 3}


def test_without_the_file_all_environments_are_listed_and_open_rollouts_are_named() -> None:
    known = Fleet(spec=None, folders=("laptop",), positions=Positions())

    [region] = fleet_report(known, [reference("laptop")], DAY).regions

    assert (region.status, region.jurisdictions, region.latency_group) == (None, (), None)
    assert region.out_of_date == ("acme-train/train", "acme-train/infer")
    assert region.rollouts == ()


def test_room_is_without_spares_and_without_nodes_that_are_contracted_and_not_requested_yet() -> None:
    south = reference("eu-south-03a")
    before = rooms(south)["l40s-8"]
    more = {"contract": (ContractSpec(instance_type="l40s-8", nodes=70),)}
    tenants = tuple(item.model_copy(update=more) if item.tenant == "tessera" else item for item in south.tenants)

    after = rooms(south.model_copy(update={"tenants": tenants}))["l40s-8"]

    assert before.free == 33
    assert before.spare == before.free - sum(before.domains.values()) == 2  # One in each hall
    assert (before.reserved, before.nodes) == (0, 31)
    assert (after.reserved, after.nodes) == (10, 21)


def test_hosts_out_of_service_and_incomplete_nvlink_domains_are_no_room(laptop: Any) -> None:
    environment = laptop.load()
    types = environment.instance_types.instance_types
    racks = tuple(kind.model_copy(update={"scale": Scale.RACK}) if kind.name == "h100-ib-8" else kind for kind in types)
    scaled = environment.model_copy(
        update={
            "instance_types": environment.instance_types.model_copy(update={"instance_types": racks}),
            "tenants": (),
            "allocations": environment.allocations.model_copy(update={"hosts": {}, "groups": {}}),
        }
    )
    [kind] = [kind for kind in racks if kind.name == "h100-ib-8"]
    host = next(host for host in scaled.hosts if host.instance_type == kind.name)
    rack = [item for item in scaled.hosts if item.rack == host.rack and item.instance_type == kind.name]

    assert len(rack) == kind.nodes_per_rack
    less = scaled.model_copy(update={"out_of_service": {host.host: None}})
    assert host.rack in rooms(scaled)[kind.name].domains
    assert host.rack not in rooms(less)[kind.name].domains
