"""Results about live nodes that differ from their pool, in the form of all rules."""

import datetime as dt
from collections.abc import Iterable, Iterator

from components.lookups.pools import pools
from components.reports.uniformity import Deviation, LiveNode, Source, uniformity
from components.specs.environment import Environment
from components.specs.region.policy import Enforcement, RuleId, WaiverSpec
from policies.results import Result
from policies.results import Source as Judged


def node_results(environment: Environment, nodes: Iterable[LiveNode], today: dt.date) -> Iterator[Result]:
    """Yield a result for each value of a live node that differs from the declared value; none of them blocks.

    Args:
        environment: data of the environment.
        nodes: nodes as their clusters and hosts report them.
        today: day on which waivers must be valid.
    """
    places = {placed.key: placed for placed in pools(environment)}
    for pool in uniformity(environment, nodes):
        placed = places[pool.pool]
        for item in pool.deviations:
            if item.source is Source.CLUSTER:
                yield Result(
                    environment=environment.name,
                    rule=RuleId.UNIFORMITY,
                    source=Judged.LIVE,
                    subject=item.subject,
                    text=_text(pool.pool, item),
                    level=Enforcement.ADVISORY,
                    file=placed.file,
                    line=max(1, environment.positions.line(placed.file, placed.path)),
                    waiver=_waiver(environment, item, today),
                )


def _text(pool: str, item: Deviation) -> str:
    found, expected = item.found or "not reported", item.expected or "absent"
    value = f"{item.property} is {found}, but the data require {expected}"
    return f"{item.subject} of pool {pool}: {value}; replace or repair the node"


def _waiver(environment: Environment, item: Deviation, today: dt.date) -> WaiverSpec | None:
    """Return the valid waiver of a deviation."""
    named = item.waiver or {}
    for waiver in environment.waivers.waivers:
        of_item = (waiver.subject, waiver.expires.isoformat()) == (named.get("subject"), named.get("expires"))
        if waiver.rule == RuleId.UNIFORMITY and of_item and waiver.is_valid(today):
            return waiver
    return None
