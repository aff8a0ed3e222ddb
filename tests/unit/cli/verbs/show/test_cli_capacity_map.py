"""The map of a region draws every host once, by its use, and is identical for equal data."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import pytest

from components.lookups.host_use import HostUse, counted_hosts
from components.reports.capacity import capacity
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.hosts.out_of_service import HostState, OutOfServiceSpec
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.loader import load_environment
from jacquard.cli.views.region.capacity_map import capacity_map
from jacquard.cli.views.region.pictures import marks
from jacquard.cli.views.region.region_map import region_map
from jacquard.machine import paths
from tests.support.machine.processor_time import cost

SVG = "{http://www.w3.org/2000/svg}"


def broken(region: Environment, *hosts: str) -> Environment:
    why = OutOfServiceSpec(state=HostState.TRIAGE, since=dt.date(2026, 11, 3), reason="no link")
    return region.model_copy(update={"out_of_service": dict.fromkeys(hosts, why)})


def cells(svg: str) -> Counter[str]:
    """Return the number of hosts drawn for each use, without the legend."""
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


def test_the_map_describes_each_host_by_a_tooltip(laptop: Environment) -> None:
    svg = capacity_map(broken(laptop, "a02-u01"))

    assert "<title>a01-u01 · h100-ib-8 · acme-train/train</title>" in svg
    assert "<title>a02-u01 · h100-ib-8 · acme-train/train · out of service</title>" in svg
    assert "<title>a04-u06 · cpu-gen4 · no pool · free</title>" in svg


def _boxes(svg: str) -> Iterator[tuple[float, str]]:
    """Yield each text of a map with the position of its end, with an upper bound of the width of characters."""
    root = ET.fromstring(svg)  # noqa: S314 - our own output
    groups = list(root.iter(f"{SVG}g"))
    left = {child: float(group.get("transform", "")[10:].split()[0]) for group in groups for child in group}
    for text in root.iter(f"{SVG}text"):
        kind = text.get("class", "")
        size = {"h": 8.0, "": 6.4}.get(kind, 4.4)
        share = 0.5 if kind[:1] in {"r", "m"} else 1
        words = text.text or ""
        yield left.get(text, 0) + float(text.get("x", 0)) + share * size * len(words), words


@pytest.mark.parametrize("name", ["laptop", "lab", "us-east-04a"])
def test_the_map_fits_its_content_without_clipping(name: str) -> None:
    svg = capacity_map(load_environment(name, paths.ROOT / "environments"))

    width = int(svg.split('viewBox="0 0 ')[1].split()[0])

    assert [text for right, text in _boxes(svg) if right > width] == []
    assert width < 1.6 * max(right for right, _ in _boxes(svg))


def test_the_map_names_instance_types_and_fabrics() -> None:
    svg = capacity_map(load_environment("us-east-04a", paths.ROOT / "environments"))

    assert ">hall a · site ewr2 · fabric ib-east-1 · 135 racks · 1164 hosts</text>" in svg
    assert '<text class="k" x="12" y="64">D h100-ib-8</text>' in svg
    assert ">D h100-ib-8 · 1280 hosts</text>" in svg


def test_a_rack_of_two_instance_types_has_the_letters_of_both() -> None:
    svg = capacity_map(load_environment("lab", paths.ROOT / "environments"))

    assert re.findall(r'<text class="k"[^>]*>([^<]*)<', svg) == ["B+A"]


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

    region = laptop.model_copy(update={"tenants": tenants})
    svg = capacity_map(region)

    colours = [line.split("fill:")[1].rstrip("}") for line in svg.splitlines() if line.startswith(".p")]
    assert len(colours) == len(set(colours)) == 16 * 12
    assert set(marks(region).values()) == {str(number + 1) for number in range(16 * 12)}


def test_marks_are_letters_of_names_while_letters_last(laptop: Environment) -> None:
    assert marks(laptop) == {
        "acme-train/system": "s",
        "acme-train/train": "t",
        "acme-train/infer": "i",
        "globex-lab/lab": "l",
    }
    assert re.findall(r'<text class="m (?:on|off)"[^>]*>([^<]*)<', capacity_map(laptop))[:3] == ["t", "l", "t"]


def test_the_text_draws_every_host_once_too(laptop: Environment) -> None:
    spoilt = broken(laptop, "a02-u01", "a04-u06")
    drawn = region_map(spoilt)
    racks = [line.split()[1:] for line in drawn.splitlines() if re.match("  a0", line)]

    assert Counter(cell for rack in racks for cell in rack if len(cell) == 1) == {
        "t": 10, "i": 4, "s": 2, "l": 4, "+": 6, ".": 2, "!": 2,
    }  # fmt: skip
    assert "+ spare   . free   ! out of service\n" in drawn


def test_racks_that_look_alike_share_a_line_from_three_on(laptop: Environment) -> None:
    rack = [host for host in laptop.hosts if host.rack == "a04"]
    more = [
        host.model_copy(update={"host": f"{host.host}-{number}", "rack": f"a{number:02}"})
        for number in range(5, 9)
        for host in rack
    ]

    drawn = region_map(laptop.model_copy(update={"hosts": (*laptop.hosts, *more)}))

    assert "  a05  . . . . . .        cpu-gen4\n       and 3 identical racks, up to a08\n" in drawn


def test_a_region_that_has_no_numbers_yet_is_drawn_too(laptop: Environment) -> None:
    fresh = laptop.model_copy(
        update={"allocations": AllocationsLock(schema_version=1), "image_pins": ImagesLock(schema_version=1)}
    )

    assert region_map(fresh).count("not allocated\n") == 4


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
    assert cost(lambda: (capacity(large), capacity_map(large))) < 25 * cost(made)  # It takes three times as long.
