"""``jacquard host``: records that a host is out of service, or back in service."""

from typing import Annotated

import typer

from components.allocate.faults import Exchange, exchange, with_fault, with_faults_of, without_fault
from components.reports.host_release import release_steps
from components.specs.environment import Environment
from components.specs.hosts.out_of_service import HostState
from components.specs.reading.loader import OUT_OF_SERVICE
from components.specs.reading.problems import suggestion
from jacquard.cli import arguments, data, lock_edits
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.views.changes.lock_changes import changes, file_changes, show_diff
from jacquard.machine import paths, settings
from jacquard.machine.edits import Edit

_Host = Annotated[str, typer.Argument(metavar="HOST", help="Name of a host of the inventory.")]
_Out = Annotated[
    HostState | None,
    typer.Option("--out", metavar="STATE", help=f"Take the host out of service: {', '.join(HostState)}."),
]
_Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="With --out: reason.")]
_Ticket = Annotated[str | None, typer.Option("--ticket", metavar="TEXT", help="With --out: number or URL of a ticket.")]
_Back = Annotated[bool, typer.Option("--back", help="Return the host to service.")]


def host(
    environment: arguments.Env,
    name: _Host,
    *,
    out: _Out = None,
    reason: _Reason = None,
    ticket: _Ticket = None,
    back: _Back = False,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Record that a host is out of service, or back in service.

    Edits out_of_service.yaml. The pool of the host gets free hosts of the same failure domain for its missing nodes.
    Without free hosts, the pool uses its spares or stays short of nodes; the output reports the result. The host stays
    assigned to the pool, and is a surplus host after its return. Review the change like any other; 'up' applies it.
    A node keeps running on the host: the output lists the steps that remove exactly this node and then the host.
    """
    _refuse(out, reason, ticket, back=back)
    entry = {"state": out or "", "since": f"{settings.now():%Y-%m-%d}", "reason": reason or "", "ticket": ticket or ""}
    with data.editing("host", environment) as edit:
        spec = data.load(environment)
        done, diff = _edit(edit, spec, name, {key: value for key, value in entry.items() if value})
    steps = release_steps(spec, name, done.pool) if done.pool and out else ()
    if output is Format.JSON:
        result = {"environment": environment, "host": name, "out": out, "pool": done.pool, "stand_ins": done.stand_ins}
        print_json(result | {"why_none": done.why_none, "steps": steps, "diff": diff})
        return
    next_steps = [f"to remove {name} from {done.pool}:"] if steps else []
    next_steps += [f"  {number}. {step}" for number, step in enumerate(steps, start=1)]
    show_diff(stdout(), diff, [f"{name} {_sentence(environment, done, back=back)}", *next_steps])
    if done.why_none:
        show(done.why_none, "note")


def _edit(edit: Edit, spec: Environment, name: str, fields: dict[str, str]) -> tuple[Exchange, list[str]]:
    """Take a host out of service, or return it if ``fields`` has no state; return the effect and the diff of files."""
    back, environment = "state" not in fields, spec.name
    known = [item.host for item in spec.hosts]
    if name not in known:
        hint = suggestion(name, known) or f"; the inventory of {environment} lists its hosts"
        msg = f"host '{name}' is unknown{hint}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if back and name not in spec.out_of_service:
        msg = f"host {name} is already in service"
        raise Stop(msg, ExitCode.BAD_DATA)
    path = paths.environments() / environment / OUT_OF_SERVICE
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    after = without_fault(before, name) if back else with_fault(before, name, fields)
    changed, texts = with_faults_of(spec, after), {path: after}
    done = exchange(changed, name)
    diff = file_changes(f"{environment}/{OUT_OF_SERVICE}", before, after)
    if done.locks:
        diff += changes(spec, *done.locks)
        changed, lock_texts = lock_edits.with_locks(changed, *done.locks)
        texts |= lock_texts
    lock_edits.write(edit, spec, changed, texts)
    return done, diff


def _sentence(environment: str, done: Exchange, *, back: bool) -> str:
    if done.pool is None:
        return "is unassigned and available to pools again" if back else "is unassigned; no pool is affected"
    if back:
        release = f"jacquard allocate {environment} --release-hosts {done.pool}"
        return f"is a host of {done.pool} again; to release surplus hosts: {release}"
    if done.stand_ins:
        return f"is out of service in {done.pool}, which gets {', '.join(done.stand_ins)}"
    return f"is out of service in {done.pool}, which gets no other host"


def _refuse(out: HostState | None, reason: str | None, ticket: str | None, *, back: bool) -> None:
    wrong = []
    if back == (out is not None):
        wrong.append("write either --out STATE with --reason TEXT, or --back")
    if out is not None and not reason:
        wrong.append("--reason is required with --out; write the cause or the planned work")
    if back and (reason or ticket):
        wrong.append("--reason and --ticket require --out; omit them with --back")
    if wrong:
        raise Stop("\n".join(wrong), ExitCode.BAD_DATA)
