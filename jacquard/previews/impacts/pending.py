"""Pools, DPUs and control planes whose pins differ from the data, with the commands that promote them."""

from collections.abc import Iterator

from components.reports.control_planes import outdated_control_planes
from components.reports.images import all_behind
from components.specs.environment import Environment
from components.specs.keys import DPUS, refers_to_dpus
from jacquard.previews.impacts.impact import StillBehind


def pending(base: Environment, head: Environment) -> Iterator[StillBehind]:
    """Yield the pending promotions after the change, and whether they were pending before."""
    before: dict[str, set[str]] = {}
    for name, fields, _ in _all(base):
        before.setdefault(name, set()).update(fields)
    for name, fields, command in _all(head):
        new = bool(set(fields) - before.get(name, set()))
        yield StillBehind(pool=name, fields=fields, new=new, command=f"jacquard promote {head.name} {command}")


def _all(environment: Environment) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield name, differing fields and the arguments of the promotion of each pool, DPUs or control plane."""
    for plane in outdated_control_planes(environment):
        for difference in plane.differences:
            yield plane.cluster, (difference.field,), plane.promotion_of(difference)
    for item in all_behind(environment):
        if item.differences:
            fields = tuple(difference.field for difference in item.differences)
            yield item.pool, fields, f"{DPUS if refers_to_dpus(item.pool) else item.pool} --to data"
