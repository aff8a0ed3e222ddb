"""``jacquard allocate``: writes allocated numbers and hosts into lock files."""

from typing import Annotated

import typer
from rich.text import Text

from components.allocate import releases
from components.allocate.allocation import ACCEPT_EDITS
from components.allocate.allocation import allocate as allocation
from components.reports.contracts import unmet_contracts
from components.reports.lock_changes import sentences
from components.rules.checks import check_data, errors
from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.problems import SpecError
from components.specs.struct import asdict
from jacquard.cli import arguments, data, lock_edits
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.views.changes.lock_changes import changes, show_diff
from jacquard.machine import settings

_NOTHING = "everything is allocated, nothing to change"
_HostsOption = Annotated[
    str | None,
    typer.Option("--release-hosts", metavar="CLUSTER/POOL", help="Release hosts that the pool does not need."),
]
_ReplaceOption = Annotated[
    str | None,
    typer.Option(
        "--replace-hosts",
        metavar="CLUSTER/POOL",
        help="Assign free hosts to the pool in place of those out of service.",
    ),
]
_CountOption = Annotated[
    int | None,
    typer.Option("--count", min=1, metavar="N", help="With --release-hosts: number of hosts or racks. Default: all."),
]
_QuarantineOption = Annotated[
    str | None,
    typer.Option(
        "--release-quarantine",
        metavar="NAME",
        help="Release quarantined numbers of a tenant, VPC, cluster or VM, such as globex/globex-lab; or all.",
    ),
]
_EditsOption = Annotated[
    bool,
    typer.Option(ACCEPT_EDITS, help="Accept lock files that were edited or merged by hand."),
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
    """Allocate the numbers and hosts that the data leave open.

    Allocates prefixes, addresses, hosts and the first pins of new rollout groups, and writes them into lock files.
    Existing allocations stay, missing ones are added, and unused numbers are freed and quarantined. Pins of existing
    rollout groups change only with 'jacquard promote'. Review the change like any other.

    A pool that shrinks keeps its hosts as spares. --release-hosts releases these hosts. Another cluster can get
    released hosts with the next change, after the release is applied.
    """
    _refuse_contradictions(release_hosts, count, replace_hosts)
    with data.editing("allocate", environment, dry_run=check) as edit:
        spec = data.load(environment)
        problems = errors(check_data(spec, edits_meant=accept_edits), settings.today())
        if problems:
            raise SpecError(environment, problems)
        locks = _locks(spec, release_hosts, count, replace_hosts, release_quarantine)
        diff = changes(spec, *locks)
        after, texts = lock_edits.with_locks(spec, *locks)
        if diff and not check:
            lock_edits.write(edit, spec, after, texts)
    summary, unmet = sentences(spec, after), list(unmet_contracts(after, settings.today()))
    if output is Format.JSON:
        answer = {"environment": environment, "changed": bool(diff), "written": bool(diff) and not check, "diff": diff}
        print_json(answer | {"summary": summary, "unmet_contracts": [asdict(item) for item in unmet]})
    else:
        show_diff(stdout(), diff, summary)
        for line in [f"unmet: {item}" for item in unmet] + [_NOTHING] * (not diff):
            stdout().print(Text(f"{environment}: {line}"), soft_wrap=True)
    if diff and check:
        command = f"jacquard allocate {environment}" + (f" {ACCEPT_EDITS}" if accept_edits else "")
        msg = f"{environment}: lock files do not match the data; run '{command}' and review the change"
        raise Stop(msg)


def _locks(
    spec: Environment,
    release_hosts: str | None,
    count: int | None,
    replace_hosts: str | None,
    release_quarantine: str | None,
) -> tuple[AllocationsLock, ImagesLock]:
    wanted = spec if release_quarantine is None else releases.release_quarantine(spec, release_quarantine)
    if release_hosts is not None:
        return releases.release_hosts(wanted, release_hosts, count)
    if replace_hosts is not None:
        return releases.replace_hosts(wanted, replace_hosts)
    return allocation(wanted)


def _refuse_contradictions(release_hosts: str | None, count: int | None, replace_hosts: str | None) -> None:
    if release_hosts is not None and replace_hosts is not None:
        msg = "--release-hosts and --replace-hosts are separate changes; run one after the other"
        raise Stop(msg, ExitCode.BAD_DATA)
    if count is not None and release_hosts is None:
        msg = "--count requires --release-hosts; add --release-hosts CLUSTER/POOL"
        raise Stop(msg, ExitCode.BAD_DATA)
