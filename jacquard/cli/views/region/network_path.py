"""Whether one end may reach another, as text: the answer, then each decision on the way."""

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
    Keeper.BORDER: "   (by the contract of the border)",
    Keeper.NOBODY: "   (nothing here decides)",
}

_NAMED = 4


def lines(found: Path) -> Iterator[Text]:
    """Yield the answer, and each step of the way there and back."""
    answer = "reaches" if found.reached else "does not reach"
    yield Text(f"{found.source.name} {answer} {found.target.name}", "green" if found.reached else "yellow")
    yield Text(f"  {_end(found.source)}")
    yield Text(f"  {_end(found.target)}")
    for way, steps in groupby(found.steps, lambda step: step.way):
        yield Text(f"{way}")
        for step in steps:
            verdict = "yes" if step.passes else "no "
            yield Text(f"  {verdict}  {step.device}: {step.rule}{_KEEPERS[step.kept_by]}")
    for fabric in found.fabrics:
        parts = fabric.source if fabric.together else f"{fabric.source} and {fabric.target}"
        heard = "hear each other past all of it" if fabric.together else "are apart"
        yield Text(f"on {fabric.fabric}, by {parts}, ports of both {heard}")
    for vpc, objects in found.objects.items():
        yield Text(f"rules of {vpc} are in {listed(objects, _NAMED)}", "dim")


def _end(end: Endpoint) -> str:
    of = f" of VPC {end.vpc}" if end.vpc else f" of cluster {end.cluster}" if end.cluster else ""
    return f"{end.name}: {end.address}, {end.where}{of}"
