"""``jacquard allocate``: writes the numbers that the data leaves open into lock files."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from components.allocate import releases
from components.allocate.allocation import ACCEPT_EDITS
from components.allocate.allocation import allocate as allocation
from components.reports.contracts import unmet_contracts
from components.reports.lock_changes import sentences
from components.rules.checks import check_data
from components.specs.reading.problems import SpecError
from components.specs.reading.store import write_locks
from jacquard.cli import arguments, data
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.views.changes.lock_changes import changes, show_diff
from jacquard.machine import paths

_NOTHING = "everything is allocated, nothing to change"
_HostsOption = Annotated[
    str | None,
    typer.Option("--release-hosts", metavar="CLUSTER/POOL", help="Take hosts from a pool that it does not need."),
]
_ReplaceOption = Annotated[
    str | None,
    typer.Option("--replace-hosts", metavar="CLUSTER/POOL", help="Give a pool free hosts for those out of service."),
]
_CountOption = Annotated[
    int | None,
    typer.Option("--count", min=1, metavar="N", help="With --release-hosts: N hosts or racks. Default: all."),
]
_QuarantineOption = Annotated[
    str | None,
    typer.Option(
        "--release-quarantine",
        metavar="NAME",
        help="Let others have what a tenant, VPC, cluster or VM had, such as globex or globex/globex-lab; or all.",
    ),
]
_EditsOption = Annotated[
    bool,
    typer.Option(ACCEPT_EDITS, help="Take lock files that were edited or merged by hand as they are."),
]


def allocate(
    environment: arguments.Env,
    *,
    release_hosts: _HostsOption = None,
    count: _CountOption = None,
    replace_hosts: _ReplaceOption = None,
    release_quarantine: _QuarantineOption = None,
    accept_edits: _EditsOption = False,
    check: arguments.CheckOption = False,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Write the numbers that the data leaves open.

    Numbers are prefixes, addresses, host assignments and the first image pins of new rollout groups. What is
    allocated stays, what is missing is added, what belongs to nothing is freed; freed numbers stay in quarantine.
    Pins are never moved: that is what promote does. Review the change like any other.

    A pool that shrinks keeps its hosts as spares. --release-hosts takes them away; another cluster can have them
    from the next change on, after this one was applied.
    """
    _refuse_contradictions(release_hosts, count, replace_hosts)
    spec = data.load(environment)
    problems = check_data(spec, edits_meant=accept_edits)
    if problems:
        raise SpecError(environment, problems)
    wanted = spec if release_quarantine is None else releases.release_quarantine(spec, release_quarantine)
    if release_hosts is not None:
        locks = releases.release_hosts(wanted, release_hosts, count)
    elif replace_hosts is not None:
        locks = releases.replace_hosts(wanted, replace_hosts)
    else:
        locks = allocation(wanted)
    diff = changes(spec, *locks)
    after = spec.model_copy(update={"allocations": locks[0], "image_pins": locks[1]})
    told, unmet = sentences(spec, after), list(unmet_contracts(after))
    if output is Format.JSON:
        answer = {"environment": environment, "changed": bool(diff), "written": bool(diff) and not check, "diff": diff}
        print_json(answer | {"summary": told, "unmet_contracts": [asdict(item) for item in unmet]})
    else:
        show_diff(stdout(), diff, told)
        for line in [f"unmet: {item}" for item in unmet] + [_NOTHING] * (not diff):
            stdout().print(Text(f"{environment}: {line}"), soft_wrap=True)
    if diff and check:
        command = f"jacquard allocate {environment}" + (f" {ACCEPT_EDITS}" if accept_edits else "")
        msg = f"{environment}: lock files do not fit the data; run '{command}' and review it"
        raise Stop(msg)
    if diff:
        write_locks(spec, paths.environments(), *locks)


def _refuse_contradictions(release_hosts: str | None, count: int | None, replace_hosts: str | None) -> None:
    if release_hosts is not None and replace_hosts is not None:
        msg = "--release-hosts and --replace-hosts are two changes; run the one, then the other"
        raise Stop(msg, ExitCode.BAD_DATA)
    if count is not None and release_hosts is None:
        msg = "--count is how many hosts --release-hosts takes; add --release-hosts CLUSTER/POOL"
        raise Stop(msg, ExitCode.BAD_DATA)
