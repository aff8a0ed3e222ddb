"""Hosts written for another system and read again are unchanged, for arbitrary hosts; nothing written is secret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from components.specs.base import Address
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec, Serial
from components.specs.reading.loader import load_environment
from jacquard.exchange.choices import Choices
from jacquard.exchange.conversion import serials
from jacquard.exchange.exporting import export_hosts
from jacquard.exchange.formats import SOURCES, TARGETS, SourceFormat, TargetFormat
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.exchange.foreign_files import import_hosts

LAPTOP = load_environment("laptop", ENVIRONMENTS)
BMC = LAPTOP.region.networks.bmc
KINDS = [kind.name for kind in LAPTOP.instance_types.instance_types]
DRIVERS = (
    *("redfish", "redfish-virtualmedia", "redfish-uefihttp", "idrac-redfish", "idrac-virtualmedia"),
    *("ilo5-redfish", "ilo5-virtualmedia", "ipmi"),
)


def is_own(serial: str) -> bool:
    """Return whether an inventory accepts ``serial`` as the serial number of a single machine."""
    try:
        TypeAdapter(Serial).validate_python(serial)
    except ValidationError:
        return False
    return len(serials(serial)) == 1


LABELS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True)
SERIALS = st.from_regex(r"[!#-*,./0-9:;<>?A-Z\\^_`{|}~\[\]][!-~]{0,29}", fullmatch=True).filter(is_own)
PATHS = st.from_regex(r"(/[A-Za-z0-9_.,\"-]{1,10}){0,3}", fullmatch=True)


@st.composite
def regions(draw: st.DrawFn) -> Environment:
    """Return a region with hosts that differ in all fields that must be unique."""
    count = draw(st.integers(1, 5))

    def several(strategy: st.SearchStrategy[str], *, each: int = 1) -> list[str]:
        return draw(st.lists(strategy, min_size=count * each, max_size=count * each, unique_by=str.upper))

    names, racks, serials = several(LABELS), several(LABELS), several(SERIALS, each=2)
    numbers = draw(st.lists(st.integers(1, BMC.num_addresses - 2), min_size=2 * count, max_size=2 * count, unique=True))
    addresses = [str(Address(int(BMC.network_address) + number)) for number in numbers]
    macs = draw(st.lists(st.integers(1, 2**40 - 1), min_size=count, max_size=count, unique=True))
    hosts = []
    for at in range(count):
        driver = draw(st.sampled_from(DRIVERS))
        scheme = "" if driver == "ipmi" else draw(st.sampled_from(("", "+http", "+https")))
        port = draw(st.sampled_from(("", ":8443")))
        kind = draw(st.sampled_from(KINDS))
        ports = draw(st.sampled_from((0, LAPTOP.instance_types.by_name[kind].infiniband_ports)))
        hosts.append(
            HostSpec(
                rack=racks[at],
                slot=draw(st.integers(1, 60)),
                host=names[at],
                instance_type=kind,
                serial=serials[at],
                bmc=f"{driver}{scheme}://{addresses[at]}{port}{draw(PATHS)}",
                bmc_secret=f"bmc-{racks[at]}",
                boot_mac=":".join(f"{byte:02x}" for byte in (0x02, *macs[at].to_bytes(5, "big"))),
                dpu_serial=serials[count + at],
                leaf=draw(LABELS),
                port_guids=tuple(f"0x946dae03{at:04x}{number:04x}" for number in range(ports)),
                dpu_bmc=draw(st.sampled_from((None, Address(addresses[count + at])))),
                hall="a",
            )
        )
    return LAPTOP.model_copy(update={"hosts": tuple(hosts)})


@pytest.mark.parametrize("name", [target.value for target in TargetFormat])
@given(region=regions())
def test_exported_hosts_are_imported_as_they_were(name: str, region: Environment) -> None:
    text = export_hosts(region, None, TARGETS[TargetFormat(name)], {}, None).text
    empty = region.model_copy(update={"hosts": ()})
    source = SOURCES[SourceFormat(name)]

    assert import_hosts(empty, "a", "file", text, source, Choices(), prune=False).added == region.hosts
    again = import_hosts(region, "a", "file", text, source, Choices(), prune=True)
    assert (again.added, again.changed, again.removed, again.unchanged) == ((), (), (), len(region.hosts))
