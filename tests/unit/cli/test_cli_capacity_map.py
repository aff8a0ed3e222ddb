"""The map of a region: every host drawn once in the way of its use, the same text for the same data."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from xml.etree import ElementTree as ET

from processor_time import cost

from cli.views.capacity_map import capacity_map
from components.plan.report.capacity import HostUse, capacity, counted_hosts
from components.specs.environment import Environment
from components.specs.inventory import HostSpec
from components.specs.out_of_service import HostState, OutOfServiceSpec

SVG = "{http://www.w3.org/2000/svg}"


def broken(region: Environment, *hosts: str) -> Environment:
    why = OutOfServiceSpec(state=HostState.TRIAGE, since=dt.date(2026, 11, 3), reason="no link")
    return region.model_copy(update={"out_of_service": dict.fromkeys(hosts, why)})


def cells(svg: str) -> Counter[str]:
    """Return how many hosts are drawn in each way, the legend aside."""
    groups = ET.fromstring(svg).iter(f"{SVG}g")  # noqa: S314 - our own output
    racks = [group for group in groups if group.find(f"{SVG}text[@class='r']") is not None]
    return Counter(shape.get("class", "") for rack in racks for shape in rack if shape.tag != f"{SVG}text")


def test_the_map_draws_every_host_once_in_the_way_of_its_use(laptop: Environment) -> None:
    spoilt = broken(laptop, "a02-u01", "a04-u06")
    uses = Counter(placed.use for placed in counted_hosts(spoilt))

    drawn = cells(capacity_map(spoilt))

    assert drawn["free"] == uses[HostUse.FREE] == 2
    assert drawn["out"] == uses[HostUse.OUT_OF_SERVICE] == 2
    assert sum(count for name, count in drawn.items() if name.endswith(" spare")) == uses[HostUse.SPARE] == 6
    assert (drawn["p0"], drawn["p1"], drawn["p2"], drawn["p3"]) == (2, 10, 4, 4)
    assert drawn.total() == len(laptop.hosts)


def test_the_map_tells_each_host_by_a_tooltip(laptop: Environment) -> None:
    svg = capacity_map(broken(laptop, "a02-u01"))

    assert "<title>a01-u01 · h100-ib-8 · acme-train/train</title>" in svg
    assert "<title>a02-u01 · h100-ib-8 · acme-train/train · out of service</title>" in svg
    assert "<title>a04-u06 · cpu-gen4 · no pool · free</title>" in svg


def test_the_map_is_the_same_for_the_same_data_in_any_order_of_the_inventory(laptop: Environment) -> None:
    rack = [host for host in laptop.hosts if host.rack == "a04"]
    reordered = laptop.model_copy(update={"hosts": (*rack, *(host for host in laptop.hosts if host.rack != "a04"))})

    assert capacity_map(reordered) == capacity_map(laptop)


def test_no_two_of_many_pools_share_a_colour(laptop: Environment) -> None:
    acme, _ = laptop.tenants
    [cluster] = acme.clusters
    names = [f"p{number}" for number in range(12)]
    many = cluster.model_copy(
        update={"pools": tuple(cluster.pools[0].model_copy(update={"name": name}) for name in names)}
    )
    tenants = tuple(
        acme.model_copy(update={"tenant": name, "clusters": (many.model_copy(update={"name": name}),)})
        for name in (f"t{number}" for number in range(16))
    )

    svg = capacity_map(laptop.model_copy(update={"tenants": tenants}))

    colours = [line.split("fill:")[1].rstrip("}") for line in svg.splitlines() if line.startswith(".p")]
    assert len(colours) == len(set(colours)) == 16 * 12


def test_six_thousand_hosts_are_counted_and_drawn_at_a_few_times_the_cost_of_making_them(laptop: Environment) -> None:
    def made() -> tuple[HostSpec, ...]:
        return tuple(
            host.model_copy(update={"host": f"h{number}-{host.host}", "rack": f"r{number}-{host.rack}"})
            for number in range(200)
            for host in laptop.hosts
        )

    large = laptop.model_copy(update={"hosts": made()})

    assert capacity(large).nodes.installed == 6000
    assert cells(capacity_map(large)).total() == 6000
    assert cost(lambda: (capacity(large), capacity_map(large))) < 25 * cost(made)  # it takes three times as long
