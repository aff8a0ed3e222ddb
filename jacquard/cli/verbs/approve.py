"""``jacquard approve``: records the approval of a change by a tenant."""

import datetime as dt
from collections.abc import Sequence
from typing import Annotated

import typer

from components.specs.reading.loader import APPROVALS
from components.specs.reading.parsing import parsed
from components.specs.reading.problems import SpecError, abbreviated, listed
from components.specs.region.approvals import ApprovalsFile, ApprovalSpec, with_approval
from jacquard.cli import arguments, data
from jacquard.cli.comparisons import base_comparison
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop, show, unknown
from jacquard.cli.views.changes.impact_verdict import effect_sentences
from jacquard.cli.views.changes.lock_changes import file_changes, show_diff
from jacquard.machine import paths, settings
from jacquard.machine.files import existing_text
from jacquard.previews.bases import committer
from jacquard.previews.impacts.impact import Impact
from jacquard.previews.impacts.tenant_impact import TenantImpact

_MOST_CHARACTERS = 253
_Tenant = Annotated[str, typer.Argument(metavar="TENANT", help="Tenant whose approval is required.")]
_By = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="NAME",
        help="Person who approves for the tenant. Default: the git committer.",
    ),
]
_Reason = Annotated[
    str | None,
    typer.Option("--reason", metavar="TEXT", help="Reason. Default: a summary of the approved effects."),
]
_Ticket = Annotated[str | None, typer.Option("--ticket", metavar="TEXT", help="Number or URL of a ticket.")]
_Expires = Annotated[
    dt.datetime | None,
    typer.Option(
        "--expires",
        parser=arguments.day,
        metavar="YYYY-MM-DD",
        help="First day on which the approval is invalid. Default: valid until the change is applied.",
    ),
]
_Plan = Annotated[bool, typer.Option("--plan", help="Write nothing; show the entry.")]


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
    """Record that a tenant approves a change.

    Writes the approval into approvals.yaml, with the digest of the tenant's part of the change between --base and the
    work tree. The approval is valid for exactly this part, also after a rebase that does not alter the part, and for no
    other change. Review and merge the approval with the change; 'preview', 'impact' and 'up --preview' read it.
    """
    with data.editing("approve", data.known(environment), dry_run=plan) as edit:
        with base_comparison.base_of(base) as earlier:
            [impact] = base_comparison.impacts([environment], earlier)
        affected = _affected(impact, tenant)
        today = settings.now().astimezone(dt.UTC).date()
        effects = list(_effects(impact, tenant))
        until = expires.date() if expires else None
        _require_later(until, today)
        approval = ApprovalSpec.model_construct(
            tenant=tenant,
            digest=affected.digest or "",
            by=_approver(by),
            day=today,
            reason=reason or "; ".join(effects)[:_MOST_CHARACTERS],
            ticket=ticket,
            expires=until,
        )
        path = paths.environments() / environment / APPROVALS
        before = existing_text(path)
        earlier_approval = _approved(environment, before, approval)
        after = with_approval(before, approval)
        _require_sound(environment, after)
        diff = file_changes(f"{environment}/{APPROVALS}", before, after)
        if not plan:
            edit.write({path: after})
    if output is Format.JSON:
        entry = approval.model_dump(mode="json") | {"agreed_to": effects, "written": not plan, "diff": diff}
        entry["replaces"] = earlier_approval.model_dump(mode="json") if earlier_approval else None
        print_json({"environment": environment} | entry)
        return
    verb = "would approve" if plan else "approves"
    headline = f"{approval.by} {verb} part {abbreviated(approval.digest)} of the change for {tenant}:"
    show_diff(stdout(), diff, [headline, *(f"  {line}" for line in effects)])
    if earlier_approval:
        approved = f"{earlier_approval.by} already approved this part on {earlier_approval.day}"
        show(f"{approved}; {'this entry replaces that one' if diff else 'nothing to change'}", "note")


def _affected(impact: Impact, tenant: str) -> TenantImpact:
    """Return the impact on a tenant whose approval is required.

    Raises:
        Stop: the tenant is unknown, or its approval is not required.
    """
    known = {item.tenant: item for item in impact.tenants}
    declared = [item.tenant for item in data.load(impact.environment).tenants]
    if tenant not in {*known, *declared}:
        raise unknown(tenant, declared, what="tenant", remedy=f"the files of {impact.environment}/tenants name them")
    required = [item.tenant for item in impact.tenants if item.asks]
    if tenant not in required:
        msg = (
            f"the change from {impact.base} to {impact.head} requires no approval of {tenant} (required:"
            f" {listed(required) if required else 'none'}); name the start of the change with --base"
        )
        raise Stop(msg, ExitCode.BAD_DATA)
    return known[tenant]


def _effects(impact: Impact, tenant: str) -> Sequence[str]:
    """Return the effects of a change on a tenant as sentences."""
    rows = tuple(row for row in impact.rows if row.tenant == tenant)
    return tuple(effect_sentences(impact.model_copy(update={"rows": rows})))


def _approver(by: str | None) -> str:
    """Return the name of the approver.

    Raises:
        Stop: neither ``--by`` nor git provides a name.
    """
    if name := by or committer(paths.environments()):
        return name
    msg = "--by is required because git has no committer name; write the person who approves for the tenant"
    raise Stop(msg, ExitCode.BAD_DATA)


def _require_later(expires: dt.date | None, today: dt.date) -> None:
    """Pass if an approval that expires on ``expires`` is valid today.

    Raises:
        Stop: it is already expired.
    """
    if expires and expires <= today:
        msg = f"--expires: must be after today, {today} (got {expires}); write a later day"
        raise Stop(msg, ExitCode.BAD_DATA)


def _require_sound(environment: str, text: str) -> None:
    """Pass if ``text`` is a valid ``approvals.yaml``.

    Raises:
        SpecError: it violates a rule of that file.
    """
    _, _, problems = parsed(APPROVALS, text, ApprovalsFile)
    if problems:
        raise SpecError(environment, problems)


def _approved(environment: str, text: str, approval: ApprovalSpec) -> ApprovalSpec | None:
    """Return the approval of the same tenant and change in ``text``, the content of ``approvals.yaml``; None if absent.

    Raises:
        SpecError: the file is invalid.
    """
    if not text:
        return None
    known, _, problems = parsed(APPROVALS, text, ApprovalsFile)
    if problems:
        raise SpecError(environment, problems)
    if not isinstance(known, ApprovalsFile):
        return None
    same = (item for item in known.approvals if (item.tenant, item.digest) == (approval.tenant, approval.digest))
    return next(same, None)
