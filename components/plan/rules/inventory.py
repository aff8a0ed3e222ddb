"""Hosts: each is there once, in a hall and rack that exist, behind a BMC that can be reached."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Iterator

from components.plan.pools import inventory_file, problem
from components.plan.rules.references import REGION, host_problem
from components.specs.environment import Environment
from components.specs.problems import Problem, listed

_UNIQUE = ("host", "serial", "boot_mac", "dpu_serial")
_BMC_HOST = re.compile(r"://(?:[^/@]*@)?([^/:]+)")


def host_duplicates(environment: Environment) -> Iterator[Problem]:
    """Report identities and slots that two hosts share."""
    first: dict[tuple[str, object], str] = {}
    rows: Counter[str] = Counter()  # every row is a host here: a file with a wrong row was not loaded
    for host in environment.hosts:
        file = inventory_file(host.hall)
        rows[file] += 1
        line = environment.positions.line(file, (rows[file] + 1,))
        values = [(column, getattr(host, column), f"'{getattr(host, column)}'") for column in _UNIQUE]
        values.append(("bmc", host.bmc.partition("://")[2], f"'{host.bmc}'"))  # whatever the driver
        values.append(("slot", (host.hall, host.rack, host.slot), f"slot {host.slot} of rack {host.rack}"))
        for column, value, got in values:
            if (column, value) in first:
                text = f"{got} stands twice, first in {first[column, value]}; correct one of the two"
                yield Problem(file, line, column, text)
            first.setdefault((column, value), f"{file}:{line}")


def halls(environment: Environment) -> Iterator[Problem]:
    """Report inventory of halls that no site has."""
    declared = [hall for site in environment.region.sites for hall in site.halls]
    for hall in dict.fromkeys(host.hall for host in environment.hosts):
        if hall not in declared:
            line = environment.positions.line(REGION, ("sites",))
            text = f"hall '{hall}' is in no site of {REGION}:{line} ({listed(declared)}); add it there or rename this"
            yield Problem(inventory_file(hall), 0, "", text)


def racks(environment: Environment) -> Iterator[Problem]:
    """Report racks that stand in two halls or hold more hosts than their instance type allows."""
    hall_of: dict[str, str] = {}
    hosts: Counter[tuple[str, str]] = Counter()
    most = {entry.name: entry.nodes_per_rack for entry in environment.instance_types.instance_types}
    for host in environment.hosts:
        if hall_of.setdefault(host.rack, host.hall) != host.hall:
            other = inventory_file(hall_of[host.rack])
            text = f"'{host.rack}' is also a rack of {other}; a rack's name is unique in a region, rename one"
            yield host_problem(environment, host, "rack", text)
        hosts[host.rack, host.instance_type] += 1
        allowed = most.get(host.instance_type, 0)
        if allowed and hosts[host.rack, host.instance_type] == allowed + 1:
            text = f"'{host.rack}' has more than {allowed} {host.instance_type} (nodes_per_rack); use another rack"
            yield host_problem(environment, host, "rack", text)


def bmc_addresses(environment: Environment) -> Iterator[Problem]:
    """Report BMCs outside the BMC network. A name instead of an address is taken as it is."""
    network = environment.region.networks.bmc
    for host in environment.hosts:
        if "@" in host.bmc:  # not shown: it may hold a password
            text = f"carries a login; remove it and keep it in Secret {host.bmc_secret}"
            yield host_problem(environment, host, "bmc", text)
        found = _BMC_HOST.search(host.bmc)
        try:
            address = ipaddress.IPv4Address(found[1] if found else "")
        except ValueError:
            continue
        if address not in network:
            text = f"{address} is outside networks.bmc ({network}); correct the address"
            yield host_problem(environment, host, "bmc", text)


def controller_capacity(environment: Environment) -> Iterator[Problem]:
    """Report more hosts than one bare-metal controller or one DPU cluster holds."""
    count = len(environment.hosts)
    limit = environment.region.bare_metal.hosts_per_controller
    if count > limit:
        text = (
            f"{count} hosts are more than one controller holds ({limit}); raise it as far as your controller is proven"
        )
        yield problem(environment, REGION, ("bare_metal", "hosts_per_controller"), text)
    limit = environment.region.dpus.max_dpus
    if count > limit:
        text = f"{count} DPUs are more than one DPU cluster holds ({limit}); raise it, at most to 1000"
        yield problem(environment, REGION, ("dpus", "max_dpus"), text)
