"""``jacquard reconcile-hosts``: edits of the data for changes that controllers made to hosts."""

from typing import Annotated

import typer

from components.allocate.host_moves import Move
from components.lookups.host_states.movers import mover_fault
from components.lookups.host_states.table import LifecycleState
from components.render.manifest import MANAGEMENT
from components.specs.environment import Environment
from components.specs.struct import asdict
from jacquard.cli import arguments, data, lock_edits
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.views.changes.lock_changes import show_diff
from jacquard.observe.nodes.failed_hosts import FailedHost, failed_hosts, management_kinds
from jacquard.observe.observation import observe

_By = Annotated[
    str | None,
    typer.Option("--by", metavar="NAME", help="Person or pipeline that moves the hosts (host_movers of policy.yaml)."),
]
_Write = Annotated[bool, typer.Option("--write", help="Edit the data as proposed, for a pull request.")]


def reconcile_hosts(
    environment: arguments.Env,
    *,
    write: _Write = False,
    by: _By = None,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Propose edits of the data for changes that controllers made to hosts.

    Hosts on which Metal3 has given up after the last reboot, hosts with too many repairs, and hosts that failed their
    burn-in go to triage. Nothing in a cluster is changed. Run the command periodically, and open a pull request with
    the result of --write; pools get free hosts as with 'jacquard host'. Exits with 0 if there is nothing to do or all
    edits are written, with 6 if edits are proposed, and with 7 if the management cluster cannot be read.
    """
    spec = data.load(environment)
    seen = observe(spec, management=management_kinds(spec), tenants=())
    if MANAGEMENT in seen.unreachable:
        msg = f"cluster {MANAGEMENT} cannot be read: {seen.unreachable[MANAGEMENT]}"
        raise Stop(msg, ExitCode.UNREACHABLE)
    found = list(failed_hosts(spec, seen))
    if write and found and (fault := mover_fault(spec.policy, LifecycleState.TRIAGE, by)):
        msg = f"--by: {fault}; add one of them, such as the name of the pipeline"
        raise Stop(msg, ExitCode.BAD_DATA)
    diff = _moved(environment, found, by) if write and found else []
    if output is Format.JSON:
        hosts = [asdict(item) | {"to": LifecycleState.TRIAGE} for item in found]
        print_json({"environment": environment, "hosts": hosts, "written": write, "diff": diff})
    elif write and found:
        show_diff(stdout(), diff, [f"{plural(len(found), 'host')} moved to triage"])
    elif found:
        for item in found:
            stdout().print(_proposal(spec, item), soft_wrap=True)
    else:
        stdout().print(f"{environment}: no host to move")
    if found and not write:
        msg = f"{environment}: {plural(len(found), 'host')} to move; add --write, or run the commands"
        raise Stop(msg, ExitCode.DRIFTED)


def _moved(environment: str, failed: list[FailedHost], by: str | None) -> list[str]:
    """Move hosts to triage; return the diff of files."""
    with data.editing("reconcile-hosts", environment) as edit:
        spec = data.load(environment)
        rows = {host.host: host for host in spec.hosts}
        moves = [Move(host=rows[item.host], to=LifecycleState.TRIAGE, reason=item.reason, by=by) for item in failed]
        _, diff = lock_edits.move_hosts(edit, spec, moves)
    return diff


def _proposal(environment: Environment, item: FailedHost) -> str:
    where = f"in {item.pool}" if item.pool else "unassigned"
    command = f'jacquard host {environment.name} {item.host} --to {LifecycleState.TRIAGE} --reason "{item.reason}"'
    return f"{item.host} ({where}): {item.reason}\n  {command}"
