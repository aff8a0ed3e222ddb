"""Common elements of region pictures: marks of pools, hues of tenants, fabrics of a hall, text."""

from collections.abc import Sequence
from html import escape
from math import gcd
from string import ascii_letters

from components.lookups.pools import pools
from components.specs.environment import Environment


def marks(environment: Environment) -> dict[str, str]:
    """Return a unique mark for each pool by ``cluster/pool``, in the order of the data."""
    placed = list(pools(environment))
    if len(placed) > len(ascii_letters):
        return {pool.key: str(number) for number, pool in enumerate(placed, start=1)}
    by_pool: dict[str, str] = {}
    for pool in placed:
        name = pool.pool.name
        candidates = [letter for letter in (*name, *name.upper(), *ascii_letters) if letter in ascii_letters]
        by_pool[pool.key] = next(letter for letter in candidates if letter not in by_pool.values())
    return by_pool


def hues(tenants: Sequence[str]) -> dict[str, float]:
    """Return evenly spaced hues by tenant, with distant hues for neighbours in the list."""
    count = max(1, len(tenants))
    stride = next(step for step in range(max(1, 3 * count // 8), count + 1) if gcd(step, count) == 1)
    return {tenant: index * stride % count / count for index, tenant in enumerate(tenants)}


def fabrics(environment: Environment, hall: str) -> str:
    """Return the fabrics of ``hall`` for its title, such as `` · fabric ib-1``; empty without a fabric."""
    names = [fabric.name for fabric in environment.region.fabrics if not fabric.halls or hall in fabric.halls]
    return f" · fabric {', '.join(names)}" if names else ""


def text_at(x: int, y: int, text: str, kind: str = "") -> str:
    """Return ``text`` as an SVG element, with the CSS class ``kind`` if not empty."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x}" y="{y}">{escape(text)}</text>'
