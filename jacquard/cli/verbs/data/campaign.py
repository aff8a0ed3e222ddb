"""``jacquard campaign``: next step of a promotion over several regions."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from components.campaigns.campaign_file import with_progress
from components.campaigns.deciding import Advance, advance
from components.campaigns.decision import STOPPING, CampaignDecision, CampaignState
from components.rules.checks import check_fleet, check_promotable, errors
from components.specs.environment import Environment
from components.specs.fleet.campaign import CampaignSpec
from components.specs.reading.fleet import CAMPAIGNS, NAME, Fleet, campaign_file, load_fleet
from components.specs.reading.loader import FLEET
from components.specs.reading.problems import SpecError
from components.specs.region.evidence import Evidence
from jacquard.cli import arguments, data, lock_edits
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop, unknown
from jacquard.cli.views.changes.lock_changes import changes, file_changes, show_diff
from jacquard.cli.views.region import campaign as view
from jacquard.machine import paths, settings


def _complete(incomplete: str) -> list[str]:
    return sorted(path.stem for path in (paths.environments() / CAMPAIGNS).glob(f"{incomplete}*.yaml"))


_Campaign = Annotated[
    str,
    typer.Argument(
        metavar="CAMPAIGN",
        help="Campaign: a file in environments/campaigns/, without .yaml.",
        autocompletion=_complete,
    ),
]
_EvidenceOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--evidence",
        metavar="FILE",
        help="Output of 'status --format json' of a region, at most one hour old; repeatable, one per region.",
    ),
]
_WriteOption = Annotated[bool, typer.Option("--write", help="Write the next promotions and the progress.")]


def campaign(
    name: _Campaign,
    *,
    evidence: _EvidenceOption = None,
    write: _WriteOption = False,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Show or write the next step of a promotion over several regions.

    Regions are promoted in the order of the campaign's steps, each with the same waves, limits and evidence as
    'promote'. A step starts when all regions of the previous step have soaked. Prints the state of each region and the
    reasons why it waits. --write edits the lock files of the current regions as 'promote' would, and records the
    progress in the campaign; review the change like any other, and 'up' applies it. Without --write, nothing changes.

    Exits with 3 if the campaign waits, and with 4 if it is stopped: nodes failed after they were settled, were not
    settled in time, or were rolled back. To continue, remove the entry 'stopped' of the campaign.
    """
    folder, now = paths.environments(), settings.now()
    proofs = [data.evidence(path) for path in evidence or ()]
    with data.editing("campaign", *data.names(), CAMPAIGNS, dry_run=not write) as edit:
        fleet = load_fleet(folder)
        wanted = _known(fleet, name)
        environments = _load(fleet, wanted)
        step = advance(wanted, fleet, environments, _by_region(proofs, wanted), now)
        path = folder / CAMPAIGNS / f"{name}.yaml"
        before = path.read_text(encoding="utf-8")
        texts = {path: with_progress(before, wanted, step.campaign)}
        diff = file_changes(f"{CAMPAIGNS}/{path.name}", before, texts[path])
        for region, pins in step.pins.items():
            spec = environments[region]
            _require_promotable(spec)
            after, locks = lock_edits.with_locks(spec, spec.allocations, pins)
            lock_edits.require_acceptable(spec, after, now)
            diff += changes(spec, spec.allocations, pins)
            texts |= locks
        if write and diff:
            edit.write(texts)
    _print(step, diff, output, written=write and bool(diff))
    _end(step.decision)


def _known(fleet: Fleet, name: str) -> CampaignSpec:
    """Return the campaign ``name``.

    Raises:
        Stop: there is no such campaign.
    """
    campaigns = {item.campaign: item for item in fleet.campaigns}
    if name not in campaigns:
        remedy = f"write {paths.environments() / CAMPAIGNS / name}.yaml"
        raise unknown(name, list(campaigns), what="campaign", remedy=remedy)
    return campaigns[name]


def _load(fleet: Fleet, campaign_: CampaignSpec) -> dict[str, Environment]:
    """Return the regions of a campaign by name.

    Raises:
        SpecError: the campaign or ``fleet.yaml`` contradicts the regions; contains all problems.
    """
    every = [data.load(name) for name in fleet.regions if name in fleet.folders]
    found = check_fleet(fleet, every).get(NAME, [])
    problems = [problem for problem in found if problem.file in {FLEET, campaign_file(campaign_.campaign)}]
    if problems:
        raise SpecError(NAME, problems)
    return {item.name: item for item in every if item.name in campaign_.regions}


def _require_promotable(spec: Environment) -> None:
    """Pass if the data of a region have no problems that block a promotion.

    Raises:
        SpecError: contains all problems.
    """
    if problems := errors(check_promotable(spec), settings.today()):
        raise SpecError(spec.name, problems)


def _by_region(proofs: Iterable[Evidence], campaign_: CampaignSpec) -> dict[str, Evidence]:
    """Return the evidence by region.

    Raises:
        Stop: evidence is about another region, or two files are about one region.
    """
    found: dict[str, Evidence] = {}
    for proof in proofs:
        region = proof.seen.environment
        if region not in campaign_.regions:
            msg = f"{proof.name} is about {region}, which is no region of {campaign_.campaign}; omit it"
            raise Stop(msg, ExitCode.BAD_DATA)
        if region in found:
            msg = f"{found[region].name} and {proof.name} are both about {region}; write the newer one only"
            raise Stop(msg, ExitCode.BAD_DATA)
        found[region] = proof
    return found


def _print(step: Advance, diff: list[str], output: Format, *, written: bool) -> None:
    if output is Format.JSON:
        print_json(step.decision.to_json() | {"written": written, "diff": diff})
        return
    show_diff(stdout(), diff, [])
    for part in view.lines(step.decision, written=written):
        stdout().print(part, soft_wrap=not isinstance(part, Table))


def _end(decision: CampaignDecision) -> None:
    """End the command with the exit code of the state.

    Raises:
        Stop: the campaign waits or is stopped.
    """
    if decision.state in {CampaignState.READY, CampaignState.COMPLETE}:
        return
    is_stopped = decision.state is CampaignState.STOPPED
    region, reason = next(item for item in decision.reasons if not is_stopped or item[1].reason in STOPPING)
    state, code = ("is stopped", ExitCode.REFUSED) if is_stopped else ("waits", ExitCode.WAITING)
    msg = f"{decision.campaign} {state} in {region}: {reason.reason}: {reason.text}"
    raise Stop(msg, code)
