"""Reachability of one endpoint from another as text: the result, then each step of the path."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.text import Text

from components.reports.network.endpoints import Endpoint
from components.reports.network.path_steps import Keeper
from components.reports.network.paths import Path
from components.specs.reading.problems import listed

_KEEPERS = {
    Keeper.RENDERED: "",
    Keeper.BORDER: "   (border router contract)",
    Keeper.NOBODY: "   (not decided by Jacquard)",
}

_NAMED = 4


def lines(path: Path) -> Iterator[Text]:
    """Yield the result, and each step of the path in both directions."""
    answer = "reaches" if path.reached else "does not reach"
    yield Text(f"{path.source.name} {answer} {path.target.name}", "green" if path.reached else "yellow")
    yield Text(f"  {_end(path.source)}")
    yield Text(f"  {_end(path.target)}")
    for way, steps in groupby(path.steps, lambda step: step.way):
        yield Text(f"{way}")
        for step in steps:
            verdict = "yes" if step.passes else "no "
            yield Text(f"  {verdict}  {step.device}: {step.rule}{_KEEPERS[step.kept_by]}")
    for fabric in path.fabrics:
        parts = fabric.source if fabric.together else f"{fabric.source} and {fabric.target}"
        heard = "can communicate, regardless of the rules above" if fabric.together else "are isolated"
        yield Text(f"on {fabric.fabric}, by {parts}, ports of both {heard}")
    for vpc, objects in path.objects.items():
        yield Text(f"rules of {vpc} are defined in {listed(objects, _NAMED)}", "dim")


def _end(end: Endpoint) -> str:
    of = f" of VPC {end.vpc}" if end.vpc else f" of cluster {end.cluster}" if end.cluster else ""
    return f"{end.name}: {end.address}, {end.where}{of}"
