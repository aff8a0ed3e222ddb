"""Exports hosts in the format of another system, with additional values for that system."""

import ipaddress
from collections.abc import Collection, Iterator, Mapping, Sequence

from components.lookups.host_states.table import host_states, state_of
from components.rules.hosts.inventory import bmc_logins
from components.specs.environment import Environment
from components.specs.hosts.bmc import parse_bmc
from components.specs.hosts.inventory import HostSpec
from components.specs.reading.problems import Problem, SpecError, listed, suggestion
from components.specs.struct import Struct
from jacquard.exchange.choices import MAX_LISTED
from jacquard.exchange.formats import Target
from jacquard.exchange.records import is_credential
from jacquard.exchange.renames import Renames
from jacquard.exchange.tables import read_table

HOST = "host"
"""Column of the host name in a table of additional values."""


class Export(Struct):
    """A file for another system."""

    text: str
    hosts: int
    notes: tuple[str, ...]
    """Reasons why the other system may reject the file."""


def export_hosts(
    environment: Environment,
    hall: str | None,
    target: Target,
    fixed: Mapping[str, str],
    table: tuple[str, str] | None,
    racks: Renames | None = None,
) -> Export:
    """Return the hosts of ``environment``, or of one hall, for ``target``.

    ``fixed`` contains values of the target's own columns for all hosts, ``table`` the name and text of a CSV file with
    values for each host; neither may contain credentials. ``racks`` are the racks by their name in the other system.

    Raises:
        SpecError: with all problems of the arguments and of the hosts.
    """
    racks = racks or Renames()
    halls = list(dict.fromkeys(host.hall for host in environment.hosts))
    hosts = [host for host in environment.hosts if hall in {None, host.hall}]
    problems = [*bmc_logins(environment), *racks.problems()]
    if hall is not None and hall not in halls:
        near = suggestion(hall, halls) or "; choose a listed hall"
        problems.append(Problem(f"--hall {hall}", 0, "", f"has no hosts in {environment.name} ({listed(halls)}){near}"))
    problems += [item for key, value in fixed.items() for item in _unknown(f"--set {key}={value}", 0, key, target)]
    rows: dict[str, Mapping[str, str]] = {}
    if table is not None:
        rows, errors = _rows(*table, target, {host.host for host in environment.hosts})
        problems += errors
    if problems:
        raise SpecError(environment.name, problems)
    own = {host.host: {**_known(environment, host, target), **fixed, **rows.get(host.host, {})} for host in hosts}
    named = [host.model_copy(update={"rack": racks.name(host.rack)}) for host in hosts]
    return Export(text=target.write(named, own), hosts=len(hosts), notes=tuple(_notes(target, hosts, own)))


def _known(environment: Environment, host: HostSpec, target: Target) -> dict[str, str]:
    """Return site and status of ``host`` if the other system has columns for them."""
    site = next((site.name for site in environment.region.sites if host.hall in site.halls), "")
    status = host_states()[state_of(environment, host.host)].netbox
    values = {"site": site, "status": str(status)}
    return {column: value for column, value in values.items() if value and column in target.own}


def _rows(
    file: str, text: str, target: Target, hosts: Collection[str]
) -> tuple[dict[str, Mapping[str, str]], list[Problem]]:
    rows, problems = read_table(file, text)
    names = list(rows[0][1]) if rows else []
    if rows and HOST not in names:
        problems.append(
            Problem(file, 1, "", f"has no column '{HOST}' ({listed(names)}); add it with the host of each row")
        )
    for name in names:
        problems += [] if name == HOST else _unknown(file, 1, name, target)
    by_host: dict[str, Mapping[str, str]] = {}
    for line, row in rows:
        host = row.pop(HOST, None)
        if host is not None and host not in hosts:
            near = suggestion(host, hosts) or "; remove the row"
            problems.append(Problem(file, line, HOST, f"'{host}' is in no inventory/hall-*.csv{near}"))
        elif host is not None and host in by_host:
            problems.append(Problem(file, line, HOST, f"'{host}' has two rows; remove one of them"))
        elif host is not None:
            by_host[host] = {column: value for column, value in row.items() if value}
    return by_host, problems


def _unknown(file: str, line: int, column: str, target: Target) -> list[Problem]:
    if column in target.own:
        return []
    if is_credential(column):
        text = f"'{column}' is a credential, which is never exported; enter it in {target.title}"
    else:
        near = suggestion(column, target.own) or "; choose a listed column"
        text = f"'{column}' is not an additional column of {target.title} ({listed(target.own)}){near}"
    return [Problem(file, line, "", text)]


def _notes(target: Target, hosts: Sequence[HostSpec], own: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    missing = {
        column: sum(not own[host.host].get(column) for host in hosts)
        for column in target.required
        if column not in target.defaults
    }
    empty = [f"{column} of {count}" for column, count in missing.items() if count]
    if empty:
        yield f"{target.title} rejects empty values, and the inventory lacks {listed(empty)}: add --set or --with"
    if not target.drives_bmcs:
        return
    ports = [host.host for host in hosts if parse_bmc(host.bmc).written_port]
    if ports:
        rows = listed(ports, MAX_LISTED)
        yield f"{target.title} uses the default port of BMCs; bmc has another port in the row of {rows}"
    names = [host.host for host in hosts if not _is_address(parse_bmc(host.bmc).host)]
    if names:
        rows = listed(names, MAX_LISTED)
        yield f"{target.title} requires IP addresses of BMCs; the BMC is a host name in the row of {rows}"
    yield "user names and passwords of BMCs are empty: the inventory only names their Secrets (bmc_secret)"


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
