"""Pools and charts that a campaign promotes in a region."""

from collections.abc import Iterator

from components.intents.charts import clusters_of_charts
from components.intents.images import CHANNEL
from components.intents.succession import line_of
from components.lookups.pools import PlacedPool, pools
from components.rollout.subjects import groups_on, subject_of
from components.specs.environment import Environment
from components.specs.fleet.campaign import CampaignSpec, CampaignStepSpec
from components.specs.keys import charts_key, pool_of
from components.specs.struct import Struct


class Target(Struct):
    """Pool or chart of one region, with the version that it is promoted to."""

    key: str
    """``cluster/pool`` or ``charts/chart``."""
    version: str
    """Golden image, or release of the chart."""
    groups: int
    """Number of rollout groups of the pool, or of clusters with the chart."""
    promoted: int
    """Number of these that are pinned to the version."""
    open_to: str | None
    """Version of the open rollout; None without an open rollout."""
    goes_back: bool
    """Whether the open rollout is a rollback."""

    @property
    def is_done(self) -> bool:
        """Return whether everything is pinned to the version and no rollout is open."""
        return self.promoted == self.groups and self.open_to is None

    @property
    def is_open(self) -> bool:
        """Return whether the rollout to the version is open."""
        return self.open_to == self.version and not self.goes_back


def targets(environment: Environment, campaign: CampaignSpec, step: CampaignStepSpec) -> tuple[Target, ...]:
    """Return the pools or the chart that ``campaign`` promotes in ``environment``, a region of ``step``."""
    return tuple(_target(environment, key, version) for key, version in promotions(environment, campaign, step).items())


def promotions(environment: Environment, campaign: CampaignSpec, step: CampaignStepSpec) -> dict[str, str]:
    """Return the version by key of each `Target`, in the order of the data."""
    if campaign.chart is None:
        return dict(_pools(environment, campaign, step))
    name, channel = campaign.chart.name, environment.region.image_channel
    is_there = name in clusters_of_charts(environment) and name in environment.versions.installed(channel)
    return {charts_key(name): campaign.chart.version} if is_there else {}


def _pools(environment: Environment, campaign: CampaignSpec, step: CampaignStepSpec) -> Iterator[tuple[str, str]]:
    """Yield each pool of the step with its image."""
    lines = {line_of(image): image for image in campaign.images}
    pins = environment.image_pins
    running: dict[str, set[str]] = {}
    for key, name in pins.groups.items():
        running.setdefault(pool_of(key), set()).add(line_of(pins.intents[name].image))
    for placed in pools(environment):
        images = [lines[line] for line in sorted(running.get(placed.key, ())) if line in lines]
        if len(images) == 1 and (not step.pools or placed.key in step.pools) and _may_move(placed, images[0]):
            yield placed.key, images[0]


def _may_move(placed: PlacedPool, image: str) -> bool:
    return not placed.pool.retire and placed.pool.image in {CHANNEL, image}


def _target(environment: Environment, key: str, version: str) -> Target:
    subject, opened = subject_of(environment, key), environment.image_pins.rollouts.get(key)
    return Target(
        key=key,
        version=version,
        groups=len(subject.groups),
        promoted=len(groups_on(subject, version)),
        open_to=subject.intents[opened.to].release if opened else None,
        goes_back=bool(opened and opened.rollback),
    )
