"""Decision about a campaign as text."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from components.campaigns.decision import CampaignDecision, CampaignState, RegionDecision
from jacquard.cli.console import plural
from jacquard.cli.tables import plain_table


def lines(decision: CampaignDecision, *, written: bool) -> Iterator[RenderableType]:
    """Yield the state of each region with its reasons, the promoted waves, and the state of the campaign."""
    table = plain_table("step", "region", "state", "promoted", "reason", numbers={"step"})
    for region in decision.regions:
        for index, reason in enumerate(_reasons(region)):
            cells = ("", "", "", "") if index else (str(region.step), region.region, region.state, _promoted(region))
            table.add_row(*cells, reason)
    yield table
    for region in decision.regions:
        for wave in region.promoted:
            groups = plural(len(wave.groups), "group")
            yield Text(f"{region.region} {wave.key}: wave {wave.wave} to {wave.version}, {groups}")
    yield Text(f"{decision.campaign}: {_summary(decision, written=written)}")


def _reasons(region: RegionDecision) -> list[str]:
    return [f"{item.reason}: {item.text}" for item in region.reasons] or [""]


def _promoted(region: RegionDecision) -> str:
    """Return the number of groups that had the version before the decision, of all groups."""
    if not region.targets:
        return "-"
    done, total = (sum(getattr(item, name) for item in region.targets) for name in ("promoted", "groups"))
    return f"{done} of {total}"


def _summary(decision: CampaignDecision, *, written: bool) -> str:
    if decision.state is not CampaignState.READY:
        return decision.state.value
    names = " ".join(region.region for region in decision.regions if region.promoted)
    return f"next: jacquard preview {names}" if written else "ready; add --write to write the promotions"
