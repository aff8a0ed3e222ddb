"""Results about live hosts that differ from the inventory, and about nodes with faults, in the form of all rules."""

from collections.abc import Iterable, Iterator

from components.lookups.pools import inventory_file, pools
from components.reports.enrolment.report import Enrolment
from components.reports.enrolment.report import Result as Compared
from components.reports.health import NodeFault
from components.specs.environment import Environment
from components.specs.keys import pool_key
from components.specs.reading.loader import REGION
from components.specs.region.policy import Enforcement
from policies.results import Result, Source

ENROLMENT, HEALTH = "enrolment", "health"
"""Rules about live facts, named after the reports of ``jacquard show``."""


def enrolment_results(environment: Environment, report: Enrolment) -> Iterator[Result]:
    """Yield a result for each difference of a host, and for each host and BMC that is not in the inventory.

    Firmware that the bare-metal controller updates is not a difference, nor is a known fault. No result blocks.
    """
    rows = {host.host: host for host in environment.hosts}
    for host in report.hosts:
        if host.result is Compared.DIFFERS and not host.has_known_fault:
            file = inventory_file(rows[host.host].hall)
            for item in host.differences:
                if not item.updated:
                    value = f"{item.field} is {item.found}, but the data require {item.declared}"
                    text = f"{host.host}: {value}; {host.next_action}"
                    yield _advice(environment, ENROLMENT, host.host, text, file, (host.host,))
    for unknown in report.unknown:
        where = f", whose BMC is that of {unknown.same_bmc_as}" if unknown.same_bmc_as else ""
        text = f"{unknown.object} is not in the inventory{where}; add its row, or delete the object"
        yield _advice(environment, ENROLMENT, unknown.object, text, REGION, ())


def health_results(environment: Environment, faults: Iterable[NodeFault]) -> Iterator[Result]:
    """Yield a result for each fault of a node; none of them blocks."""
    places = {placed.key: placed for placed in pools(environment)}
    for fault in faults:
        placed = places.get(pool_key(fault.cluster, fault.pool))
        subject = f"{fault.cluster}/{fault.node}"
        host = f" on host {fault.host}" if fault.host else ""
        since = f" since {fault.since.isoformat()}" if fault.since else ""
        text = f"{subject}{host}: {fault.condition}{since}: {fault.message}; next: {fault.next_action}"
        file, path = (placed.file, placed.path) if placed else (REGION, ())
        yield _advice(environment, HEALTH, subject, text, file, path, f"{subject} {fault.condition}")


def _advice(
    environment: Environment,
    rule: str,
    subject: str,
    text: str,
    file: str,
    path: tuple[str | int, ...],
    identity: str = "",
) -> Result:
    return Result(
        environment=environment.name,
        rule=rule,
        source=Source.LIVE,
        subject=subject,
        text=text,
        level=Enforcement.ADVISORY,
        file=file,
        line=max(1, environment.positions.line(file, path)) if path else 1,
        identity=identity,
    )
