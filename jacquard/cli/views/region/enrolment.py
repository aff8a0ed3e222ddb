"""Enrolment of the hosts of a region as text."""

from collections.abc import Iterator

from rich.text import Text

from components.reports.enrolment.report import EnrolledHost, Enrolment, Result
from jacquard.cli.console import plural

_STYLES = {
    Result.DIFFERS: "bold red",
    Result.OUT_OF_DATE: "yellow",
    Result.NOT_INSPECTED: "yellow",
    Result.ABSENT: "yellow",
}
"""Results whose hosts are listed, in this order, with their colours."""
_SHOWN = 20


def lines(report: Enrolment) -> Iterator[Text]:
    """Yield the number of hosts by result, the hosts that are not as declared, and unknown hosts."""
    results = (f"{report.count[result]} {_words(result)}" for result in Result if report.count[result])
    total = plural(len(report.hosts), "host")
    yield Text.assemble((report.environment, "bold"), f": {total} in the inventory: {', '.join(results) or 'none'}")
    for result, style in _STYLES.items():
        hosts = [host for host in report.hosts if host.result is result]
        for host in hosts[:_SHOWN]:
            yield from _host(host, style)
        if len(hosts) > _SHOWN:
            yield Text(f"and {len(hosts) - _SHOWN} more {_words(result)}; --format json lists all", "dim")
    if report.unknown:
        yield Text("not in the inventory:", "bold")
    for stranger in report.unknown:
        bmc = f", BMC {stranger.bmc}" if stranger.bmc else ""
        same = f", the BMC of {stranger.same_bmc_as}" if stranger.same_bmc_as else ""
        yield Text(f"  {stranger.object}{bmc}{same}", "yellow")
    inspected = [host for host in report.hosts if host.result not in {Result.NOT_INSPECTED, Result.ABSENT}]
    silent = sorted(set.intersection(*(set(host.not_reported) for host in inspected))) if inspected else []
    if silent:
        yield Text(f"not reported by any host, so not compared: {', '.join(silent)}", "dim")


def _host(host: EnrolledHost, style: str) -> Iterator[Text]:
    state = f", {host.state}" if host.state else ""
    yield Text.assemble(
        (host.host, "bold"), f" ({host.instance_type}, {host.lifecycle}{state}): ", (_words(host.result), style)
    )
    for item in host.differences:
        yield Text(f"  {item.field}: {item.found} instead of {item.declared}", "yellow")
    if host.error:
        yield Text(f"  {host.error}", "yellow")
    if host.next_action:
        yield Text(f"  next: {host.next_action}")


def _words(result: Result) -> str:
    return str(result).replace("-", " ")
