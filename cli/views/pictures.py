"""What the pictures of a region share: the marks of pools, and which fabrics a hall has."""

from __future__ import annotations

from string import ascii_letters

from components.plan.pools import pools
from components.specs.environment import Environment


def marks(environment: Environment) -> dict[str, str]:
    """Return the mark of each pool by ``cluster/pool``, all different, in the order of the data."""
    placed = list(pools(environment))
    if len(placed) > len(ascii_letters):
        return {pool.key: str(number) for number, pool in enumerate(placed, start=1)}
    found: dict[str, str] = {}
    for pool in placed:
        name = pool.pool.name
        candidates = [letter for letter in (*name, *name.upper(), *ascii_letters) if letter in ascii_letters]
        found[pool.key] = next(letter for letter in candidates if letter not in found.values())
    return found


def fabrics(environment: Environment, hall: str) -> str:
    """Return the fabrics of ``hall`` for the line that names it, such as `` · fabric ib-1``; nothing without one."""
    names = [fabric.name for fabric in environment.region.fabrics if not fabric.halls or hall in fabric.halls]
    return f" · fabric {', '.join(names)}" if names else ""
