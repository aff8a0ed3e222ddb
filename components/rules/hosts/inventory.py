"""Rules about hosts: each listed once, in a declared hall and rack, with a reachable BMC."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from components.lookups.intervals import bounds
from components.lookups.pools import inventory_file, place, problem
from components.rules.hosts.identities import duplicates, rows_of
from components.rules.references import host_problem
from components.rules.rule import Rules
from components.specs.base import Address
from components.specs.environment import Environment
from components.specs.hosts.bmc import parse_bmc
from components.specs.hosts.instance_types import Scale
from components.specs.hosts.inventory import HostSpec
from components.specs.reading.loader import ALLOCATIONS, INSTANCE_TYPES, OUT_OF_SERVICE, REGION
from components.specs.reading.problems import Problem, listed, nearest, suggestion

HARDWARE = ("serial", "boot_mac", "dpu_serial")
"""Columns that identify a machine independent of its location."""
_GROUP_BIT = 1
"""Bit of the first byte of a MAC address that marks multicast addresses (IEEE 802)."""
_MANY_ON_A_LEAF = 3
"""Minimum number of hosts of a rack on one leaf switch at which a different leaf of a single host is reported."""
_COPIED = 3
"""Minimum number of identities of another host by which a row counts as its copy."""
_MAX_RACKS = 3
_NUMBERED = re.compile(r"(.*?)([0-9]{1,3})")
"""Host name with a number at the end, such as the number of the slot."""
_NO_MAC = "00:00:00:00:00:00"


def host_duplicates(environment: Environment) -> Iterator[Problem]:
    """Report duplicate identities and slots, regardless of case and BMC driver. A copied row or file is one problem."""
    pairs: dict[tuple[int, int], list[Problem]] = defaultdict(list)
    for row, first, duplicate in duplicates(environment):
        pairs[row, first].append(duplicate)
    copies = {row: first for (row, first), same in pairs.items() if row != first and len(same) >= _COPIED}
    files = [inventory_file(host.hall) for host in environment.hosts]
    copied, rows = Counter(files[row] for row in copies), rows_of(environment) if copies else []
    whole = {file for file, count in Counter(files).items() if 1 < count == copied[file]}
    for file in sorted(whole):
        source = files[copies[files.index(file)]]
        text = f"each row is a copy of a row of {source}; write the hosts of this hall, or remove the rows"
        yield Problem(file, 0, "", text)
    for (row, first), same in pairs.items():
        if files[row] in whole:
            continue
        if copies.get(row) != first:
            yield from same
            continue
        columns, there = listed(problem.path for problem in same), place(environment, *rows[first])
        text = f"repeats {columns} of {environment.hosts[first].host} ({there})"
        yield Problem(files[row], same[0].line, "", f"{text}; write the values of this host, or remove the row")


def halls(environment: Environment) -> Iterator[Problem]:
    """Report inventory files of halls that belong to no site."""
    declared = [hall for site in environment.region.sites for hall in site.halls]
    for hall in dict.fromkeys(host.hall for host in environment.hosts):
        if hall not in declared:
            line = environment.positions.line(REGION, ("sites",))
            text = f"hall '{hall}' is in no site of {REGION}:{line} ({listed(declared)}); add it there or rename this"
            yield Problem(inventory_file(hall), 0, "", text)


def hall_files(environment: Environment) -> Iterator[Problem]:
    """Report halls without an inventory file, because a lost file is indistinguishable from removed hosts.

    Rule `halls` reports a renamed hall.
    """
    declared = {hall for site in environment.region.sites for hall in site.halls}
    if any(host.hall not in declared for host in environment.hosts):
        return
    for index, site in enumerate(environment.region.sites):
        for at, hall in enumerate(site.halls):
            file = inventory_file(hall)
            if not environment.positions.line(file):
                text = (
                    f"hall '{hall}' has no {file}; restore it (git checkout), create it with only its header line while"
                    " the hall is empty, or remove the hall here"
                )
                yield problem(environment, REGION, ("sites", index, "halls", at), text)


def racks(environment: Environment) -> Iterator[Problem]:
    """Report racks that are in two halls, or that mix a rack-scale type with other types."""
    hall_of: dict[str, str] = {}
    whole: dict[str, str] = {}
    kinds = environment.instance_types.by_name
    for host in environment.hosts:
        if hall_of.setdefault(host.rack, host.hall) != host.hall:
            other = inventory_file(hall_of[host.rack])
            text = f"'{host.rack}' is also a rack of {other}; rack names are unique in a region, rename one"
            yield host_problem(environment, host, "rack", text)
        kind = kinds.get(host.instance_type)
        if kind is None:
            continue
        first = whole.setdefault(host.rack, kind.name)
        if first != kind.name and Scale.RACK in {kind.scale, kinds[first].scale}:
            text = f"'{host.rack}' also has {first}, but a rack-scale type does not share racks; use another rack"
            yield host_problem(environment, host, "rack", text)


def rack_sizes(environment: Environment) -> Iterator[Problem]:
    """Report racks with more hosts than their type allows, at the host, or at the type if its limit was lowered.

    The limit is assumed to be lowered if pools have more hosts than allowed in most of their racks: a newly added host
    belongs to no pool.
    """
    racks: dict[str, dict[str, list[HostSpec]]] = defaultdict(lambda: defaultdict(list))
    for host in environment.hosts:
        racks[host.instance_type][host.rack].append(host)
    for index, kind in enumerate(environment.instance_types.instance_types):
        hosts_by_rack, allowed, path = (
            racks[kind.name],
            kind.nodes_per_rack,
            ("instance_types", index, "nodes_per_rack"),
        )
        over = {rack: hosts for rack, hosts in hosts_by_rack.items() if len(hosts) > allowed}
        assigned = [
            len({host.host for host in hosts} & environment.allocations.hosts.keys())
            for hosts in hosts_by_rack.values()
        ]
        if len(over) > 1 and 2 * sum(count > allowed for count in assigned) > sum(map(bool, assigned)):
            most = max(map(len, over.values()))
            first = next(iter(over.values()))[allowed]
            there = place(environment, inventory_file(first.hall), (first.host,))
            text = (
                f"{allowed} in a rack, but {listed(over, _MAX_RACKS)} have up to {most} {kind.name} ({there}); write"
                f" {most}, or move hosts to other racks first"
            )
            yield problem(environment, INSTANCE_TYPES, path, text)
            continue
        for rack, hosts in over.items():
            there = place(environment, INSTANCE_TYPES, path)
            text = f"'{rack}' has more than {allowed} {kind.name} (nodes_per_rack, {there}); use another rack"
            yield host_problem(environment, hosts[allowed], "rack", text)


def renamed_hosts(environment: Environment) -> Iterator[Problem]:
    """Report allocated hosts that were renamed; they are recognised by slot and by the numbering of the rack."""
    for name, host in renamed(environment).items():
        there = place(environment, ALLOCATIONS, ("hosts", name))
        text = (
            f"'{host.host}' has the slot of {name}, which is a host of {environment.allocations.hosts[name]} ({there})"
            f" and missing here; a host keeps its name while nodes may run on it, write {name}"
        )
        yield host_problem(environment, host, "host", text)


def renamed(environment: Environment) -> dict[str, HostSpec]:
    """Return hosts of the lock file without an inventory row, each with the row that now has the host's slot."""
    assigned = environment.allocations.hosts
    rows = {host.host for host in environment.hosts}
    missing = [(name, match) for name in assigned if name not in rows and (match := _NUMBERED.fullmatch(name))]
    if not missing:
        return {}
    new = {(host.rack, host.slot): host for host in environment.hosts if host.host not in assigned}
    racks = {
        match[1]: host.rack
        for host in environment.hosts
        if (match := _NUMBERED.fullmatch(host.host)) and int(match[2]) == host.slot
    }
    slots = {name: (racks.get(match[1], ""), int(match[2])) for name, match in missing}
    return {name: new[slot] for name, slot in slots.items() if slot in new}


def leaves(environment: Environment) -> Iterator[Problem]:
    """Report a host on a separate leaf switch if all other hosts of the rack are on a leaf with a similar name."""
    racks: dict[str, list[HostSpec]] = defaultdict(list)
    hosts_of = Counter(host.leaf for host in environment.hosts)
    for host in environment.hosts:
        racks[host.rack].append(host)
    for rack, hosts in racks.items():
        leaves = Counter(host.leaf for host in hosts)
        (usual, most), *others = leaves.most_common()
        if len(others) != 1 or most < _MANY_ON_A_LEAF:
            continue
        for host in hosts:
            if host.leaf != usual and hosts_of[host.leaf] == 1 and nearest(host.leaf, [usual]):
                text = (
                    f"'{host.leaf}' has only this host, but the other {most} of rack {rack} are on {usual}; did you"
                    f" mean '{usual}'?"
                )
                yield host_problem(environment, host, "leaf", text, host.host)


def bmc_addresses(environment: Environment) -> Iterator[Problem]:
    """Report BMCs of hosts and DPUs with addresses outside the BMC network or with duplicate addresses.

    Host names are not checked.
    """
    network = environment.region.networks.bmc
    first, last = bounds(network)
    addresses = [
        (host, "bmc", int(given)) for host in environment.hosts if (given := parse_bmc(host.bmc).address) is not None
    ]
    outside = [(host, number) for host, _, number in addresses if not first <= number <= last]
    if len(outside) > 1 and len(outside) == len(addresses):
        host, number = outside[0]
        there = place(environment, inventory_file(host.hall), (host.host,))
        text = (
            f"{network} contains none of the {len(addresses)} BMCs, such as {Address(number)} ({there}); write the"
            " network of the BMCs"
        )
        yield problem(environment, REGION, ("networks", "bmc"), text)
        return
    hosts = {number: host for host, _, number in addresses}
    addresses += [(host, "dpu_bmc", int(host.dpu_bmc)) for host in environment.hosts if host.dpu_bmc is not None]
    for host, column, number in addresses:
        other = hosts.get(number) if column == "dpu_bmc" else None
        if other:
            there = place(environment, inventory_file(other.hall), (other.host,))
            text = f"{host.dpu_bmc} is also the BMC of {other.host} ({there}); correct one of the two"
            yield host_problem(environment, host, column, text)
        if not first < number < last:
            address = Address(number)
            rule = "is not a host address in" if address in network else "is outside"
            there = place(environment, REGION, ("networks", "bmc"))
            text = f"{address} {rule} networks.bmc ({network}, {there}); correct the address"
            yield host_problem(environment, host, column, text)


def bmc_logins(environment: Environment) -> Iterator[Problem]:
    """Report BMC addresses that contain credentials."""
    for host in environment.hosts:
        if parse_bmc(host.bmc).has_login:  # The value is not shown, because it may contain a password.
            text = f"contains credentials; remove them and store them in Secret {host.bmc_secret}"
            yield host_problem(environment, host, "bmc", text)


def mac_addresses(environment: Environment) -> Iterator[Problem]:
    """Report multicast and zero MAC addresses."""
    for host in environment.hosts:
        if int(host.boot_mac[:2], 16) & _GROUP_BIT:
            text = f"'{host.boot_mac}' is a multicast MAC address; use the port's unicast address"
            yield host_problem(environment, host, "boot_mac", text)
        elif host.boot_mac == _NO_MAC:
            yield host_problem(
                environment, host, "boot_mac", (f"'{host.boot_mac}' is not a valid MAC address of a port; correct it")
            )


def out_of_service(environment: Environment) -> Iterator[Problem]:
    """Report out-of-service hosts that are missing from the inventory."""
    known = {host.host for host in environment.hosts}
    others = [host.host for host in environment.hosts if host.host not in environment.out_of_service]
    for name in environment.out_of_service:
        if name not in known:
            text = f"'{name}' is not in any inventory/hall-*.csv; remove it{suggestion(name, others)}"
            yield problem(environment, OUT_OF_SERVICE, ("hosts", name), text)


RULES = Rules(
    references=(host_duplicates, out_of_service),
    data=(halls, hall_files, racks, rack_sizes, leaves, renamed_hosts, bmc_addresses, mac_addresses, bmc_logins),
    waivable=(leaves,),
)
