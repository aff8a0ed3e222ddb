"""What a region can carry: every host counted once, what is missing said, the map the same for the same data."""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from xml.etree import ElementTree as ET

from components.plan.capacity import COLUMNS, Capacity, Figures, HostUse, capacity, counted_hosts
from components.plan.capacity_map import capacity_map
from components.specs.environment import Environment
from components.specs.locks import GroupAllocation
from components.specs.out_of_service import HostState, OutOfServiceSpec

SVG = "{http://www.w3.org/2000/svg}"


def broken(region: Environment, *hosts: str) -> Environment:
    why = OutOfServiceSpec(state=HostState.TRIAGE, since=dt.date(2026, 11, 3), reason="no link")
    return region.model_copy(update={"out_of_service": dict.fromkeys(hosts, why)})


def locked(region: Environment, **changes: object) -> Environment:
    return region.model_copy(update={"allocations": region.allocations.model_copy(update=changes)})


def domain(table: Capacity, instance_type: str, name: str) -> Figures:
    [kind] = (kind for kind in table.types if kind.instance_type == instance_type)
    return kind.domains[name]


def total(table: Capacity, instance_type: str) -> Figures:
    return next(kind.total for kind in table.types if kind.instance_type == instance_type)


def test_every_host_is_counted_once(region: Environment) -> None:
    spoilt = broken(region, "a01-u01", "a04-u06")

    for figures in [figures for kind in capacity(spoilt).types for figures in kind.domains.values()]:
        serving = figures.installed - figures.out_of_service - figures.free - figures.spare
        assert serving == figures.planned
    assert capacity(spoilt).nodes.installed == len(region.hosts)


def test_the_figures_of_the_example_are_those_of_its_files(region: Environment) -> None:
    table = capacity(region)

    assert domain(table, "h100-ib-8", "a01") == Figures(installed=8, planned=6, spare=2)
    assert total(table, "h100-ib-8") == Figures(installed=24, contracted=18, planned=18, spare=6)
    assert total(table, "cpu-gen4") == Figures(installed=6, contracted=2, planned=2, spare=1, free=3)
    assert table.nodes == Figures(installed=30, contracted=20, planned=20, spare=7, free=3)
    assert table.gpus == Figures(installed=192, contracted=144, planned=144, spare=48)


def test_a_broken_host_takes_a_spare_and_the_missing_spare_is_short(region: Environment) -> None:
    before, after = capacity(region), capacity(broken(region, "a01-u01"))

    assert domain(before, "h100-ib-8", "a01").short == 0
    assert domain(after, "h100-ib-8", "a01") == Figures(installed=8, planned=6, spare=1, out_of_service=1, short=1)


def test_a_broken_host_that_is_free_is_not_free(region: Environment) -> None:
    assert domain(capacity(broken(region, "a04-u06")), "cpu-gen4", "a04") == Figures(
        installed=6, planned=2, spare=1, out_of_service=1, free=2
    )


def test_nodes_that_no_group_has_are_planned_and_short_without_a_failure_domain(region: Environment) -> None:
    groups = {key: group for key, group in region.allocations.groups.items() if key != "acme-train/train/a01"}

    table = capacity(locked(region, groups=groups))

    assert domain(table, "h100-ib-8", "") == Figures(planned=5, short=5)
    assert total(table, "h100-ib-8").short == 5


def test_a_group_with_too_few_hosts_is_short_of_nodes_and_their_spares(region: Environment) -> None:
    groups = {**region.allocations.groups, "acme-train/infer/a03": GroupAllocation(nodes=6)}

    # Five hosts are assigned, six nodes and one spare are wanted.
    assert domain(capacity(locked(region, groups=groups)), "h100-ib-8", "a03").short == 2


def test_a_contract_that_cannot_be_served_is_short(region: Environment) -> None:
    [acme, globex] = region.tenants
    contract = tuple(item.model_copy(update={"nodes": 25}) for item in globex.contract)
    sold = region.model_copy(update={"tenants": (acme, globex.model_copy(update={"contract": contract}))})

    assert total(capacity(sold), "h100-ib-8") == Figures(installed=24, contracted=39, planned=18, spare=6, short=15)


def test_the_table_is_data(region: Environment) -> None:
    table = capacity(region)

    answer = table.to_json()["instance_types"][1]

    assert answer == {
        "instance_type": "cpu-gen4",
        "gpus_per_node": 0,
        "hardware": region.instance_types.by_name["cpu-gen4"].model_dump(mode="json", exclude={"name"}),
        "failure_domain": "rack",
        "nodes": dict(zip(COLUMNS, (6, 2, 2, 1, 0, 3, 0), strict=True)),
        "gpus": dict.fromkeys(COLUMNS, 0),
        "failure_domains": {"a04": dict(zip(COLUMNS, (6, None, 2, 1, 0, 3, 0), strict=True))},
    }


def cells(svg: str) -> Counter[str]:
    """Return how many hosts are drawn in each way, the legend aside."""
    groups = ET.fromstring(svg).iter(f"{SVG}g")  # noqa: S314 - our own output
    racks = [group for group in groups if group.find(f"{SVG}text[@class='r']") is not None]
    return Counter(shape.get("class", "") for rack in racks for shape in rack if shape.tag != f"{SVG}text")


def test_the_map_draws_every_host_once_in_the_way_of_its_use(region: Environment) -> None:
    spoilt = broken(region, "a02-u01", "a04-u06")
    uses = Counter(placed.use for placed in counted_hosts(spoilt))

    drawn = cells(capacity_map(spoilt))

    assert drawn["free"] == uses[HostUse.FREE] == 2
    assert drawn["out"] == uses[HostUse.OUT_OF_SERVICE] == 2
    assert sum(count for name, count in drawn.items() if name.endswith(" spare")) == uses[HostUse.SPARE] == 6
    assert (drawn["p0"], drawn["p1"], drawn["p2"], drawn["p3"]) == (2, 10, 4, 4)
    assert drawn.total() == len(region.hosts)


def test_the_map_tells_each_host_by_a_tooltip(region: Environment) -> None:
    svg = capacity_map(broken(region, "a02-u01"))

    assert "<title>a01-u01 · h100-ib-8 · acme-train/train</title>" in svg
    assert "<title>a02-u01 · h100-ib-8 · acme-train/train · out of service</title>" in svg
    assert "<title>a04-u06 · cpu-gen4 · no pool · free</title>" in svg


def test_the_map_is_the_same_for_the_same_data_in_any_order_of_the_inventory(region: Environment) -> None:
    rack = [host for host in region.hosts if host.rack == "a04"]
    reordered = region.model_copy(update={"hosts": (*rack, *(host for host in region.hosts if host.rack != "a04"))})

    assert capacity_map(reordered) == capacity_map(region)


def test_no_two_of_many_pools_share_a_colour(region: Environment) -> None:
    acme, _ = region.tenants
    [cluster] = acme.clusters
    names = [f"p{number}" for number in range(12)]
    many = cluster.model_copy(
        update={"pools": tuple(cluster.pools[0].model_copy(update={"name": name}) for name in names)}
    )
    tenants = tuple(
        acme.model_copy(update={"tenant": name, "clusters": (many.model_copy(update={"name": name}),)})
        for name in (f"t{number}" for number in range(16))
    )

    svg = capacity_map(region.model_copy(update={"tenants": tenants}))

    colours = [line.split("fill:")[1].rstrip("}") for line in svg.splitlines() if line.startswith(".p")]
    assert len(colours) == len(set(colours)) == 16 * 12


def test_six_thousand_hosts_are_counted_and_drawn_in_two_seconds(region: Environment) -> None:
    hosts = tuple(
        host.model_copy(update={"host": f"h{number}-{host.host}", "rack": f"r{number}-{host.rack}"})
        for number in range(200)
        for host in region.hosts
    )
    large = region.model_copy(update={"hosts": hosts})
    started = time.process_time()

    assert capacity(large).nodes.installed == 6000
    assert cells(capacity_map(large)).total() == 6000
    assert time.process_time() - started < 2
