"""``jacquard host``: moves hosts to another state of their life cycle."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from components.allocate.host_moves import Move, objections
from components.lookups.host_states.table import LifecycleState
from components.specs.environment import Environment
from components.specs.hosts.host_report import ReportFile, read_report
from components.specs.hosts.inventory import HostSpec
from components.specs.reading.problems import suggestion
from jacquard.cli import arguments, data, lock_edits
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.views.changes import moved_hosts
from jacquard.cli.views.changes.lock_changes import show_diff
from jacquard.machine import settings
from jacquard.machine.errors import explained

_MOST_REASONS = 10
_Hosts = Annotated[list[str] | None, typer.Argument(metavar="HOST", help="Names of hosts of the inventory.")]
_Rack = Annotated[
    str | None, typer.Option("--rack", metavar="RACK", help="Instead of HOST: all hosts of this rack in production.")
]
_Hall = Annotated[
    str | None, typer.Option("--hall", metavar="HALL", help="Instead of HOST: all hosts of this hall in production.")
]
_To = Annotated[
    LifecycleState | None, typer.Option("--to", metavar="STATE", help=f"Next state: {', '.join(LifecycleState)}.")
]
_Reason = Annotated[
    str | None,
    typer.Option("--reason", metavar="TEXT", help="Reason; required when hosts leave production, otherwise optional."),
]
_Ticket = Annotated[str | None, typer.Option("--ticket", metavar="TEXT", help="Number or URL of a ticket.")]
_By = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="NAME",
        help="Person or pipeline that moves the hosts; required for states in host_movers of policy.yaml.",
    ),
]
_Evidence = Annotated[
    Path | None,
    typer.Option(
        "--evidence",
        metavar="FILE",
        help="With --to production: report of a passed test, as JSON; a folder with HOST.json for several hosts.",
    ),
]
_Out = Annotated[str | None, typer.Option("--out", hidden=True)]
_Back = Annotated[bool, typer.Option("--back", hidden=True)]


def host(
    environment: arguments.Env,
    names: _Hosts = None,
    *,
    to: _To = None,
    reason: _Reason = None,
    ticket: _Ticket = None,
    rack: _Rack = None,
    hall: _Hall = None,
    by: _By = None,
    evidence: _Evidence = None,
    output: arguments.FormatOption = Format.TEXT,
    out: _Out = None,
    back: _Back = False,
) -> None:
    """Move hosts to another state of their life cycle.

    Edits out_of_service.yaml, and host_tests.yaml for hosts that return to production: a return requires the report
    of a passed test. Only the transitions of the life cycle are accepted. With several hosts, either all of them are
    moved or none.

    If hosts leave production, their pools get free hosts of the same failure domain for the missing nodes. Without
    free hosts, a pool uses its spares or stays short of nodes; the output reports the result. The hosts stay
    assigned to the pool, and are surplus hosts after their return. Review the change like any other; 'up' applies it.
    Nodes keep running on the hosts: for one host, the output lists the steps that remove exactly its node and then
    the host.
    """
    target = _required(to, out, back=back)
    with data.editing("host", environment) as edit:
        spec = data.load(environment)
        hosts = _selected(spec, names or [], rack, hall, target)
        moves = [
            Move(host=row, to=target, reason=reason, ticket=ticket, by=by, evidence=proof)
            for row, proof in zip(hosts, _reports(environment, evidence, hosts), strict=True)
        ]
        now = settings.now()
        _require_none(text for move in moves for text in objections(spec, move, now))
        done, diff = lock_edits.move_hosts(edit, spec, moves)
    if output is Format.JSON:
        print_json({"environment": environment, **moved_hosts.to_json(spec, moves, done), "diff": diff})
        return
    show_diff(stdout(), diff, moved_hosts.lines(spec, moves, done))
    for item in done:
        if item.why_none:
            show(item.why_none, "note")


def _require_none(reasons: Iterable[str]) -> None:
    """Pass if there are no reasons against the moves.

    Raises:
        Stop: with the first reasons.
    """
    if wrong := list(dict.fromkeys(reasons)):
        more = [f"... and {len(wrong) - _MOST_REASONS} more"] if len(wrong) > _MOST_REASONS else []
        raise Stop("\n".join([*wrong[:_MOST_REASONS], *more]), ExitCode.BAD_DATA)


def _required(to: LifecycleState | None, out: str | None, *, back: bool) -> LifecycleState:
    """Return the requested state.

    Raises:
        Stop: there is none, or an option of an earlier release is used.
    """
    wrong = []
    if out is not None:
        wrong.append(f"--out was replaced; write --to {out}")
    if back:
        wrong.append("--back was replaced; write --to production --evidence FILE with the report of a passed test")
    if to is None and not wrong:
        wrong.append(f"--to is required; write one of {', '.join(LifecycleState)}")
    if to is None or wrong:
        raise Stop("\n".join(wrong), ExitCode.BAD_DATA)
    return to


def _selected(
    environment: Environment, names: list[str], rack: str | None, hall: str | None, to: LifecycleState
) -> list[HostSpec]:
    """Return the rows of the hosts to move. A rack or a hall selects its hosts in production.

    Raises:
        Stop: the arguments name no host, or something else than hosts.
    """
    if [bool(names), rack is not None, hall is not None].count(True) != 1:
        msg = "write either names of hosts, --rack RACK or --hall HALL"
        raise Stop(msg, ExitCode.BAD_DATA)
    if names:
        rows = {row.host: row for row in environment.hosts}
        _require_none(_unknown(environment, name, rows) for name in names if name not in rows)
        return [rows[name] for name in dict.fromkeys(names)]
    if to is LifecycleState.PRODUCTION:
        msg = "--rack and --hall select hosts in production; name the hosts that return"
        raise Stop(msg, ExitCode.BAD_DATA)
    return _in_production(environment, "rack", rack) if rack is not None else _in_production(environment, "hall", hall)


def _in_production(environment: Environment, where: str, name: str | None) -> list[HostSpec]:
    """Return the rows of the hosts in production in a rack or a hall; report the number of its other hosts.

    Raises:
        Stop: there are none.
    """
    inside = [row for row in environment.hosts if getattr(row, where) == name]
    selected = [row for row in inside if row.host not in environment.out_of_service]
    if not selected:
        names = sorted({getattr(row, where) for row in environment.hosts})
        hint = suggestion(str(name), names) or f"; the inventory of {environment.name} lists its hosts"
        known = f"no host of '{name}' is in production; to move its hosts on, name them"
        none = f"'{name}' has no hosts{hint}"
        msg = f"--{where}: {known if inside else none}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if others := len(inside) - len(selected):
        show(f"{where} {name}: not moved because already out of service: {plural(others, 'host')}", "note")
    return selected


def _unknown(environment: Environment, name: str, rows: Mapping[str, HostSpec]) -> str:
    """Return the error about a name that no host has."""
    if any(row.rack == name for row in rows.values()):
        hint = f"; it is a rack, write --rack {name}"
    else:
        hint = suggestion(name, list(rows)) or f"; the inventory of {environment.name} lists its hosts"
    return f"host '{name}' is unknown{hint}"


def _reports(environment: str, path: Path | None, hosts: list[HostSpec]) -> list[ReportFile | None]:
    """Return the test report of each host in ``path``: a file, or a folder with the files of several hosts.

    Raises:
        Stop: a file cannot be read; contains the first reasons.
        SpecError: a file is not a test report.
    """
    if path is None:
        return [None for _ in hosts]
    if len(hosts) > 1 and not path.is_dir():
        msg = f"--evidence must be a folder with HOST.json for each of several hosts (got '{path}')"
        raise Stop(msg, ExitCode.BAD_DATA)
    files = [path / f"{row.host}.json" if path.is_dir() else path for row in hosts]
    texts, wrong = [], []
    for file in files:
        try:
            texts.append(file.read_bytes())
        except OSError as error:
            wrong.append(f"--evidence {explained(error)}; name a file with the report of a passed test")
    _require_none(wrong)
    return [read_report(environment, str(file), raw) for file, raw in zip(files, texts, strict=True)]
