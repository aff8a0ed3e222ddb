"""Node pools: rolls that the region could never allow, restarts at forbidden hours, gates that nobody opens."""

from __future__ import annotations

from collections.abc import Iterator

from components.plan.boot import FIRST_REVISION
from components.plan.images import find_image
from components.plan.pools import declared_spares, pool_of, pools, problem
from components.plan.rollout_limits import RolloutLimits
from components.plan.rules.places import place
from components.specs.environment import Environment
from components.specs.loader import IMAGE_PINS, POLICY, REGION
from components.specs.node_pool import BurnIn
from components.specs.problems import Problem


def burn_ins(environment: Environment) -> Iterator[Problem]:
    """Report pools that wait for a burn-in of which the region does not say who ends it: no node would ever count."""
    for placed in pools(environment):
        if placed.pool.health.burn_in is BurnIn.GATED and environment.region.nodes.burn_in is None:
            text = (
                f"{BurnIn.GATED} waits for a condition that nobody sets; name it and its controller in {REGION},"
                f" nodes: {{burn_in: {{condition: ..., set_by: ...}}}}, or write {BurnIn.NONE}"
            )
            yield problem(environment, placed.file, (*placed.path, "health", "burn_in"), text)


def surges(environment: Environment) -> Iterator[Problem]:
    """Report pools that want new nodes first and keep no spare host for them."""
    for placed in pools(environment):
        surge, spares = placed.pool.rollout.surge, declared_spares(environment, placed.pool)
        if surge not in {0, "0%"} and spares in {0, "0%"}:
            text = f"{surge} first need free hosts, and the pool keeps none to spare; raise spares, or write 0"
            yield problem(environment, placed.file, (*placed.path, "rollout", "surge"), text)


def restarts(environment: Environment) -> Iterator[Problem]:
    """Report restarts at a moment when the tenant allows no disruption, or that a freeze protects."""
    for placed in pools(environment):
        after, path = placed.pool.rollout.after, (*placed.path, "rollout", "after")
        if after is None:
            continue
        window = placed.tenant.changes.window
        if window is not None and not window.covers(after):
            there = place(environment, placed.file, ("changes", "window"))
            text = f"{after.isoformat()} is outside the window of {placed.tenant.tenant} ({there}); move it into it"
            yield problem(environment, placed.file, path, text)
        for index, freeze in enumerate(environment.policy.freezes):
            if freeze.covers(after, placed.tenant.tenant):
                there = place(environment, POLICY, ("freezes", index))
                text = (
                    f"{after.isoformat()} is in freeze {freeze.name} ({there}); write {freeze.to.isoformat()} or later"
                )
                yield problem(environment, placed.file, path, text)


def rollout_limits(environment: Environment) -> Iterator[Problem]:
    """Report rollout groups that break a limit of the region when they roll alone: none could ever be promoted."""
    limits, by_key = RolloutLimits(environment), {placed.key: placed for placed in pools(environment)}
    told = set()
    for group in environment.allocations.groups:
        placed = by_key.get(pool_of(group))
        for excess in limits.broken_by([group]) if placed else ():
            there = place(environment, REGION, ("nodes", "rollouts", excess.limit))
            text = f"{excess} ({there}), and group {group} alone breaks that; write less, or raise the limit"
            if placed and (placed.key, excess.limit) not in told:
                yield problem(environment, placed.file, (*placed.path, "rollout", "max_unavailable"), text)
                told.add((placed.key, excess.limit))


def template_revisions(environment: Environment) -> Iterator[Problem]:
    """Report pins with a template revision that is too old to boot their image."""
    for group, pin in environment.image_pins.groups.items():
        image = find_image(environment, pin.image)
        first = FIRST_REVISION[image.boot] if image else 0
        if image and pin.revision < first:
            text = (
                f"revision {pin.revision} cannot boot {pin.image} by {image.boot}, revision {first} can;"
                f" move the pin to another image and back by jacquard promote {environment.name} {pool_of(group)}"
            )
            yield problem(environment, IMAGE_PINS, ("groups", group, "revision"), text)
