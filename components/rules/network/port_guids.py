"""Rules about GUIDs of InfiniBand ports: one per port, unique, and outside the ranges of virtual functions."""

from collections.abc import Iterator

from components.lookups.pools import inventory_file, place
from components.rules.references import host_problem
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.reading.loader import INSTANCE_TYPES, REGION
from components.specs.reading.problems import Problem

COLUMN = "port_guids"
_NONE = f"{0:#018x}"


def all_ports(environment: Environment) -> Iterator[Problem]:
    """Report hosts with more or fewer GUIDs than InfiniBand ports: a port without a GUID is in no partition."""
    kinds = {kind.name: (at, kind) for at, kind in enumerate(environment.instance_types.instance_types)}
    for host in environment.hosts:
        if not host.port_guids or host.instance_type not in kinds:
            continue
        at, kind = kinds[host.instance_type]
        if len(host.port_guids) != kind.infiniband_ports:
            there = place(environment, INSTANCE_TYPES, ("instance_types", at, "infiniband_ports"))
            remedy = "write one for each port, in the order of ports" if kind.infiniband_ports else "leave it empty"
            text = f"has {len(host.port_guids)}, but {kind.name} has {kind.infiniband_ports} ports ({there}); {remedy}"
            yield host_problem(environment, host, COLUMN, text)


def one_port(environment: Environment) -> Iterator[Problem]:
    """Report duplicate and invalid GUIDs of ports."""
    first: dict[str, HostSpec] = {}
    for host in environment.hosts:
        for at, guid in enumerate(host.port_guids):
            if guid == _NONE:
                yield host_problem(environment, host, COLUMN, f"{guid} is not a valid GUID of a port; correct it")
            elif guid in host.port_guids[:at]:
                yield host_problem(environment, host, COLUMN, f"{guid} is duplicated; correct one of the two")
            elif (other := first.setdefault(guid, host)) is not host:
                there = place(environment, inventory_file(other.hall), (other.host,))
                text = f"{guid} is also a port of {other.host} ({there}); correct one of the two"
                yield host_problem(environment, host, COLUMN, text)


def no_function(environment: Environment) -> Iterator[Problem]:
    """Report GUIDs of ports inside the range of a fabric's virtual functions: partitions would mix both."""
    ranges = [(index, fabric) for index, fabric in enumerate(environment.region.fabrics) if fabric.guids]
    for host in environment.hosts if ranges else ():
        for guid in host.port_guids:
            for index, fabric in ranges:
                if fabric.guids and int(guid, 16) in fabric.guids:
                    there = place(environment, REGION, ("fabrics", index, "guids"))
                    text = (
                        f"{guid} is in the range of virtual functions on {fabric.name} ({fabric.guids}, {there});"
                        " correct it, or move the range while no cluster uses it"
                    )
                    yield host_problem(environment, host, COLUMN, text)


RULES = Rules(data=(all_ports, one_port, no_function))
