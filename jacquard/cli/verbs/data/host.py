"""``jacquard host``: moves a host to another state of its life cycle."""

from pathlib import Path
from typing import Annotated

import typer

from components.allocate.faults import Exchange
from components.allocate.host_moves import Move, objections
from components.lookups.host_states.table import LifecycleState, state_of
from components.reports.hosts.release import release_steps
from components.specs.environment import Environment
from components.specs.hosts.host_report import ReportFile, read_report
from components.specs.hosts.inventory import HostSpec
from components.specs.reading.problems import suggestion
from jacquard.cli import arguments, data, lock_edits
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.views.changes.lock_changes import show_diff
from jacquard.machine import settings
from jacquard.machine.errors import explained

_Host = Annotated[str, typer.Argument(metavar="HOST", help="Name of a host of the inventory.")]
_To = Annotated[
    LifecycleState | None, typer.Option("--to", metavar="STATE", help=f"Next state: {', '.join(LifecycleState)}.")
]
_Reason = Annotated[
    str | None,
    typer.Option("--reason", metavar="TEXT", help="Reason; required when the host leaves production, then optional."),
]
_Ticket = Annotated[str | None, typer.Option("--ticket", metavar="TEXT", help="Number or URL of a ticket.")]
_By = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="NAME",
        help="Person or pipeline that moves the host; required for states in host_movers of policy.yaml.",
    ),
]
_Evidence = Annotated[
    Path | None,
    typer.Option("--evidence", metavar="FILE", help="With --to production: report of a passed test, as JSON."),
]
_Out = Annotated[str | None, typer.Option("--out", hidden=True)]
_Back = Annotated[bool, typer.Option("--back", hidden=True)]


def host(
    environment: arguments.Env,
    name: _Host,
    *,
    to: _To = None,
    reason: _Reason = None,
    ticket: _Ticket = None,
    by: _By = None,
    evidence: _Evidence = None,
    output: arguments.FormatOption = Format.TEXT,
    out: _Out = None,
    back: _Back = False,
) -> None:
    """Move a host to another state of its life cycle.

    Edits out_of_service.yaml, and host_tests.yaml for a host that returns to production: a return requires the report
    of a passed test. Only the transitions of the life cycle are accepted.

    If the host leaves production, its pool gets free hosts of the same failure domain for its missing nodes. Without
    free hosts, the pool uses its spares or stays short of nodes; the output reports the result. The host stays
    assigned to the pool, and is a surplus host after its return. Review the change like any other; 'up' applies it.
    A node keeps running on the host: the output lists the steps that remove exactly this node and then the host.
    """
    target = _required(to, out, back=back)
    proof = None if evidence is None else _read(environment, evidence)
    with data.editing("host", environment) as edit:
        spec = data.load(environment)
        move = Move(host=_known(spec, name), to=target, reason=reason, ticket=ticket, by=by, evidence=proof)
        if wrong := objections(spec, move, settings.now()):
            raise Stop("\n".join(wrong), ExitCode.BAD_DATA)
        _, done, diff = lock_edits.move_host(edit, spec, move)
    old, away = state_of(spec, name), target is not LifecycleState.PRODUCTION
    steps = release_steps(spec, name, done.pool) if done.pool and away else ()
    if output is Format.JSON:
        states = {"from": old, "to": target, "evidence": proof.digest if proof else None}
        result = {"environment": environment, "host": name, **states, "pool": done.pool, "stand_ins": done.stand_ins}
        print_json(result | {"why_none": done.why_none, "steps": steps, "diff": diff})
        return
    next_steps = [f"to remove {name} from {done.pool}:"] if steps else []
    next_steps += [f"  {number}. {step}" for number, step in enumerate(steps, start=1)]
    sentence = "is in production; its test is recorded" if old is target and not away else ""
    show_diff(stdout(), diff, [f"{name} {sentence or _sentence(environment, done, away=away)}", *next_steps])
    if done.why_none:
        show(done.why_none, "note")


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


def _known(environment: Environment, name: str) -> HostSpec:
    """Return the row of the host ``name``.

    Raises:
        Stop: the inventory has no such host.
    """
    hosts = {item.host: item for item in environment.hosts}
    if name not in hosts:
        in_rack = [item.host for item in environment.hosts if item.rack == name]
        hint = (
            f"; it is a rack, write one of its hosts, such as {in_rack[0]}"
            if in_rack
            else suggestion(name, list(hosts))
        )
        hint = hint or f"; the inventory of {environment.name} lists its hosts"
        msg = f"host '{name}' is unknown{hint}"
        raise Stop(msg, ExitCode.BAD_DATA)
    return hosts[name]


def _read(environment: str, path: Path) -> ReportFile:
    """Return the test report in ``path``.

    Raises:
        Stop: the file cannot be read.
        SpecError: the file is not a test report.
    """
    try:
        return read_report(environment, str(path), path.read_bytes())
    except OSError as error:
        msg = f"--evidence {explained(error)}; name a file with the report of a passed test"
        raise Stop(msg, ExitCode.BAD_DATA) from None


def _sentence(environment: str, done: Exchange, *, away: bool) -> str:
    if done.pool is None:
        return "is unassigned; no pool is affected" if away else "is unassigned and available to pools again"
    if not away:
        release = f"jacquard allocate {environment} --release-hosts {done.pool}"
        return f"is a host of {done.pool} again; to release surplus hosts: {release}"
    if done.stand_ins:
        return f"is out of service in {done.pool}, which gets {', '.join(done.stand_ins)}"
    return f"is out of service in {done.pool}, which gets no other host"
