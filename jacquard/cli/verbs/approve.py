"""``jacquard approve``: a tenant agrees to what a change does to it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Annotated

import typer

from components.specs.reading.loader import APPROVALS, parsed
from components.specs.reading.problems import SpecError, listed
from components.specs.region.approval_text import with_approval
from components.specs.region.approvals import ApprovalsFile, ApprovalSpec
from jacquard.cli import arguments, base_comparison, data
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop, unknown
from jacquard.cli.views.changes.impact import DIGITS, verdict
from jacquard.cli.views.changes.lock_changes import file_changes, show_diff
from jacquard.machine import paths, settings
from jacquard.machine.files import replace_text
from jacquard.previews.bases import committer
from jacquard.previews.impacts.impact import Impact, TenantImpact

_MOST_CHARACTERS = 253
_Tenant = Annotated[str, typer.Argument(metavar="TENANT", help="A tenant that is asked.")]
_By = Annotated[
    str | None,
    typer.Option(
        "--by", metavar="NAME", help="Who agreed, for the tenant. Default: who commits here.", show_default=False
    ),
]
_Reason = Annotated[
    str | None,
    typer.Option("--reason", metavar="TEXT", help="Why, for people. Default: what was agreed to.", show_default=False),
]
_Ticket = Annotated[str | None, typer.Option("--ticket", metavar="TEXT", help="Number or URL of a ticket.")]
_Expires = Annotated[
    dt.datetime | None,
    typer.Option(
        "--expires",
        formats=["%Y-%m-%d"],
        metavar="YYYY-MM-DD",
        help="First day on which the word is void. Default: it holds until the change is made.",
        show_default=False,
    ),
]
_Plan = Annotated[bool, typer.Option("--plan", help="Write nothing; show what would be written.")]


def approve(
    environment: arguments.Env,
    tenant: _Tenant,
    *,
    base: arguments.BaseOption = "HEAD",
    by: _By = None,
    reason: _Reason = None,
    ticket: _Ticket = None,
    expires: _Expires = None,
    plan: _Plan = False,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Record that a tenant agrees to what a change does to it.

    Writes the word into approvals.yaml, with the digest of the tenant's part of the change between --base and the work
    tree: it holds for exactly this, survives a rebase that does not alter it, and says nothing about another change.
    Review and merge it with the change; 'preview', 'impact' and 'up --preview' look for it.
    """
    with base_comparison.base_of(base) as earlier:
        [found] = base_comparison.impacts([data.known(environment)], earlier)
    asked = _asked(found, tenant)
    today = settings.now().astimezone(dt.UTC).date()
    said = list(_said(found, tenant))
    until = expires.date() if expires else None
    _require_later(until, today)
    word = ApprovalSpec.model_construct(
        tenant=tenant,
        digest=asked.digest or "",
        by=_who(by),
        day=today,
        reason=reason or "; ".join(said)[:_MOST_CHARACTERS],
        ticket=ticket,
        expires=until,
    )
    path = paths.environments() / environment / APPROVALS
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    after = with_approval(before, word)
    _require_sound(environment, after)
    diff = file_changes(f"{environment}/{APPROVALS}", before, after)
    if not plan:
        replace_text(path, after)
    if output is Format.JSON:
        told = word.model_dump(mode="json") | {"agreed_to": said, "written": not plan, "diff": diff}
        print_json({"environment": environment} | told)
        return
    headline = (
        f"{word.by} {'would agree' if plan else 'agrees'} for {tenant} to part {word.digest[:DIGITS]} of the change:"
    )
    show_diff(stdout(), diff, [headline, *(f"  {line}" for line in said)])


def _asked(found: Impact, tenant: str) -> TenantImpact:
    """Return what a change means to a tenant that is asked.

    Raises:
        Stop: nobody of that name is.
    """
    known = {one.tenant: one for one in found.tenants}
    declared = [one.tenant for one in data.load(found.environment).tenants]
    if tenant not in {*known, *declared}:
        raise unknown(tenant, declared, what="tenant", remedy=f"the files of {found.environment}/tenants name them")
    asked = [one.tenant for one in found.tenants if one.asks]
    if tenant not in asked:
        others = f"asked: {listed(asked)}" if asked else "nobody is"
        msg = (
            f"{tenant} is not asked about what changes between {found.base} and {found.head} ({others}); name where the"
            " change begins with --base"
        )
        raise Stop(msg, ExitCode.BAD_DATA)
    return known[tenant]


def _said(found: Impact, tenant: str) -> Sequence[str]:
    """Return in sentences what a change does to a tenant."""
    mine = tuple(row for row in found.rows if row.tenant == tenant)
    return tuple(verdict(found.model_copy(update={"rows": mine})))


def _who(by: str | None) -> str:
    """Return who agreed.

    Raises:
        Stop: nobody says so.
    """
    if found := by or committer(paths.environments()):
        return found
    msg = "--by is required where git does not know who commits; write who agreed, for the tenant"
    raise Stop(msg, ExitCode.BAD_DATA)


def _require_later(expires: dt.date | None, today: dt.date) -> None:
    """Pass when a word that expires on ``expires`` holds today.

    Raises:
        Stop: it would be void at once.
    """
    if expires and expires <= today:
        msg = (
            f"--expires: {expires} is the first day on which the word is void, and today is {today}; write a later day"
        )
        raise Stop(msg, ExitCode.BAD_DATA)


def _require_sound(environment: str, text: str) -> None:
    """Pass when ``text`` is an ``approvals.yaml``.

    Raises:
        SpecError: it breaks a rule of that file.
    """
    _, _, problems = parsed(APPROVALS, text, ApprovalsFile)
    if problems:
        raise SpecError(environment, problems)
