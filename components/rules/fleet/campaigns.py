"""Rules about ``campaigns/``: names, order of regions, skipped regions, and campaigns that contradict each other."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from components.campaigns.targets import promotions
from components.intents.succession import line_of
from components.lookups.pools import pools
from components.rules.fleet.fleet import FleetRule, Found
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.fleet.campaign import CampaignSpec, CampaignStepSpec
from components.specs.fleet.fleet import RegionStatus
from components.specs.reading.fleet import NAME, Fleet, campaign_file
from components.specs.reading.loader import FLEET, IMAGES, VERSIONS
from components.specs.reading.problems import Problem, listed, suggestion

_MAX_NAMES = 3
_STAGES = tuple(Stage)


def names(fleet: Fleet, environments: Sequence[Environment]) -> Iterator[Found]:
    """Report unknown regions, images, charts and chart releases in campaigns."""
    images = {image.version for item in environments for image in item.images.images}
    releases = {(chart.name, chart.version) for item in environments for chart in item.versions.charts}
    for campaign in fleet.campaigns if environments else ():
        regions = sorted(fleet.regions)
        named = [
            *((("steps", at, "regions", index), name, regions, FLEET) for at, index, name in _regions(campaign)),
            *((("skipped", name), name, regions, FLEET) for name in campaign.skipped),
            *((("images", at), name, sorted(images), IMAGES) for at, name in enumerate(campaign.images)),
        ]
        if chart := campaign.chart:
            charts = {name for name, _ in releases}
            versions = sorted(version for name, version in releases if name == chart.name)
            known = chart.name in charts
            wrong = (("chart", "version"), chart.version, versions, VERSIONS)
            named.append(wrong if known else (("chart", "name"), chart.name, sorted(charts), VERSIONS))
        for path, name, known_names, file in named:
            if name not in known_names:
                hint = suggestion(name, known_names) or f"; add it to {file}, or remove it"
                text = f"'{name}' is unknown in {file} (known: {listed(known_names, _MAX_NAMES)}){hint}"
                yield _found(fleet, campaign, path, text)


def retired_regions(fleet: Fleet, environments: Sequence[Environment]) -> Iterator[Found]:  # noqa: ARG001 - a rule
    """Report retired regions in steps of campaigns that they have not completed."""
    for campaign in fleet.campaigns:
        for at, index, name in _regions(campaign):
            entry = fleet.regions.get(name)
            if entry and entry.status is RegionStatus.RETIRED and not campaign.has_soaked(name):
                place = fleet.place(FLEET, ("regions", name, "status"))
                text = f"'{name}' is retired ({place}) and has no nodes; remove it from the step"
                yield _found(fleet, campaign, ("steps", at, "regions", index), text)


def canary_order(fleet: Fleet, environments: Sequence[Environment]) -> Iterator[Found]:
    """Report regions whose stage is earlier than the stage of a region in a previous step."""
    stages = {item.name: item.region.stage for item in environments}
    for campaign in fleet.campaigns:
        latest: str | None = None
        for step_at, step in enumerate(campaign.steps):
            for index, name in enumerate(step.regions):
                if latest and name in stages and _rank(stages[name]) < _rank(stages[latest]):
                    text = (
                        f"'{name}' is a {stages[name]} region and comes after {latest}, a {stages[latest]} region;"
                        f" move it before {latest}, so that it is the canary"
                    )
                    yield _found(fleet, campaign, ("steps", step_at, "regions", index), text)
            known = [name for name in (*([latest] if latest else []), *step.regions) if name in stages]
            latest = max(known, key=lambda name: _rank(stages[name]), default=None)


def skipped_regions(fleet: Fleet, environments: Sequence[Environment]) -> Iterator[Found]:  # noqa: ARG001 - a rule
    """Report open regions that a campaign neither contains nor skips with a reason."""
    for campaign in fleet.campaigns:
        for name, entry in fleet.regions.items():
            if entry.status is RegionStatus.OPEN and name not in {*campaign.regions, *campaign.skipped}:
                place = fleet.place(FLEET, ("regions", name, "status"))
                text = f"has no '{name}', which is open ({place}); add it to a step, or to skipped with the reason"
                yield _found(fleet, campaign, ("steps",), text)


def selections(fleet: Fleet, environments: Sequence[Environment]) -> Iterator[Found]:
    """Report steps that promote nothing in a region, pools that no region of a step has, and images of one line."""
    by_name = {item.name: item for item in environments}
    for campaign in fleet.campaigns:
        for (at, image), (_, other) in combinations(reversed([*enumerate(campaign.images)]), 2):
            if line_of(image) == line_of(other):
                text = f"'{image}' is of the same line as {other} ({line_of(image)}); write one of them"
                yield _found(fleet, campaign, ("images", at), text)
        for at, step in enumerate(campaign.steps):
            here = [by_name[name] for name in step.regions if name in by_name]
            if len(here) == len(step.regions):
                yield from _wrong_pools(fleet, campaign, at, here)
            for index, name in enumerate(step.regions):
                if _is_idle(fleet, by_name.get(name), campaign, step):
                    what = f"chart {campaign.chart.name}" if campaign.chart else listed(campaign.images)
                    text = f"'{name}' has nothing that {what} can be promoted in; remove it from the step"
                    yield _found(fleet, campaign, ("steps", at, "regions", index), text)


def contradictions(fleet: Fleet, environments: Sequence[Environment]) -> Iterator[Found]:
    """Report two unfinished campaigns that promote the same pool or chart to different versions."""
    by_name = {item.name: item for item in environments}
    open_campaigns = [campaign for campaign in fleet.campaigns if not campaign.is_complete]
    for campaign, other in combinations(open_campaigns, 2):
        theirs = {(region, key): version for region, key, version, _ in _moves(other, by_name)}
        wrong = [
            (region, key, version, at)
            for region, key, version, at in _moves(campaign, by_name)
            if theirs.get((region, key), version) != version
        ]
        if wrong:
            region, key, version, at = wrong[0]
            more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            text = (
                f"promotes {key} of {region} to {version}, but campaign {other.campaign} promotes it to"
                f" {theirs[region, key]}{more}; remove one of the campaigns, or the region from one of them"
            )
            yield _found(fleet, campaign, ("steps", at), text)


RULES: tuple[FleetRule, ...] = (
    names,
    retired_regions,
    canary_order,
    skipped_regions,
    selections,
    contradictions,
)
"""Rules about campaigns."""


def _wrong_pools(fleet: Fleet, campaign: CampaignSpec, at: int, here: Sequence[Environment]) -> Iterator[Found]:
    step = campaign.steps[at]
    promoted = {key for item in here for key in promotions(item, campaign, step)}
    known = sorted(placed.key for item in here for placed in pools(item))
    for index, pool in enumerate(step.pools):
        path = ("steps", at, "pools", index)
        if pool not in known:
            hint = suggestion(pool, known) or "; remove it"
            text = f"'{pool}' is unknown in {listed(step.regions)} (known: {listed(known, _MAX_NAMES)}){hint}"
            yield _found(fleet, campaign, path, text)
        elif pool not in promoted:
            text = f"'{pool}' runs no image of the line of {listed(campaign.images)}, or names another; remove it"
            yield _found(fleet, campaign, path, text)


def _is_idle(fleet: Fleet, environment: Environment | None, campaign: CampaignSpec, step: CampaignStepSpec) -> bool:
    if environment is None or campaign.has_soaked(environment.name) or environment.name not in fleet.regions:
        return False
    return not promotions(environment, campaign, step.model_copy(update={"pools": ()}))


def _moves(campaign: CampaignSpec, by_name: dict[str, Environment]) -> Iterator[tuple[str, str, str, int]]:
    """Yield region, key, version and index of the step of everything that ``campaign`` promotes."""
    for at, step in enumerate(campaign.steps):
        for name in step.regions:
            for key, version in promotions(by_name[name], campaign, step).items() if name in by_name else ():
                yield name, key, version, at


def _regions(campaign: CampaignSpec) -> Iterator[tuple[int, int, str]]:
    """Yield each region of ``campaign`` with the index of its step and its index in the step."""
    for at, step in enumerate(campaign.steps):
        yield from ((at, index, name) for index, name in enumerate(step.regions))


def _rank(stage: Stage) -> int:
    return _STAGES.index(stage)


def _found(fleet: Fleet, campaign: CampaignSpec, path: Sequence[str | int], text: str) -> Found:
    problem: Problem = fleet.problem(campaign_file(campaign.campaign), path, text)
    return NAME, problem
