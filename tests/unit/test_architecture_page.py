"""The picture of the packages in the architecture page shows the layers that import-linter enforces."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise, product
from pathlib import Path

import pytest

from jacquard.machine import paths
from tests.support.docs.documents import DOCS, text

OUTER, INNER = "layers", "layers of the components"
CONTAINER = "components"
"""Package whose layers have a separate contract, and a frame in the picture."""
PREFIXES = {OUTER: "", INNER: f"{CONTAINER}."}
"""Contracts of the picture, with the prefix of the packages that they list."""
_BLOCK = re.compile(r"^```mermaid\nflowchart TD\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FRAME = re.compile(r"subgraph (\w+)")
_BOX = re.compile(r'(\w+)\["([^"]+)"\]')
_IMPORT = re.compile(r"^\s*(?:from|import) ([\w.]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes of a Mermaid flowchart in their order, and its arrows."""

    boxes: dict[str, tuple[str, ...]]
    """Packages of each box, by the id of the box."""
    arrows: tuple[tuple[str, str], ...]
    """Ids of boxes: start and end of each arrow."""

    def packages(self, contract: str) -> list[str]:
        """Return the packages of one contract, in their order in the picture."""
        return [name for name in chain(*self.boxes.values()) if name.startswith(PREFIXES[INNER]) == (contract == INNER)]


def parsed(block: str) -> Picture:
    """Return the picture that ``block`` describes."""
    boxes: dict[str, tuple[str, ...]] = {}
    arrows: list[tuple[str, str]] = []
    prefix = ""
    for line in map(str.strip, block.splitlines()):
        if frame := _FRAME.fullmatch(line):
            boxes[frame[1]], prefix = (frame[1],), f"{frame[1]}."
        elif box := _BOX.fullmatch(line):
            boxes[box[1]] = tuple(f"{prefix}{name}" for name in box[2].split(" | "))
        elif line == "end":
            prefix = ""
        elif "-->" in line:
            steps = [step.split(" & ") for step in line.split(" --> ")]
            arrows += chain.from_iterable(product(*pair) for pair in pairwise(steps))
        elif "~~~" not in line and line != "direction TB":  # These lines only arrange the boxes.
            msg = f"line '{line}' of the picture is unknown"
            raise ValueError(msg)
    return Picture(boxes=boxes, arrows=tuple(arrows))


@cache
def layers(contract: str) -> list[list[str]]:
    """Return the packages of each layer of ``contract``, the highest layer first."""
    settings = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [found] = [one for one in settings["tool"]["importlinter"]["contracts"] if one["name"] == contract]
    return [[f"{PREFIXES[contract]}{name.strip()}" for name in layer.split("|")] for layer in found["layers"]]


def place(contract: str, package: str) -> int:
    """Return the layer of ``package`` in ``contract``, counted from the highest."""
    name = CONTAINER if contract == OUTER and package.startswith(PREFIXES[INNER]) else package
    [found] = [number for number, layer in enumerate(layers(contract)) if name in layer]
    return found


def is_allowed(start: str, end: str) -> bool:
    """Return whether ``end`` is in a lower layer than ``start``."""
    contract = INNER if all(name.startswith(PREFIXES[INNER]) for name in (start, end)) else OUTER
    return place(contract, start) < place(contract, end)


def forbidden(picture: Picture) -> list[tuple[str, str]]:
    """Return the arrows that do not lead to a lower layer."""
    ends = [(picture.boxes[start], picture.boxes[end]) for start, end in picture.arrows]
    return [pair for packages in ends for pair in product(*packages) if not is_allowed(*pair)]


def modules(package: str) -> Iterator[Path]:
    """Yield the modules of ``package``, which may be a module itself."""
    path = paths.ROOT / package.replace(".", "/")
    yield from path.rglob("*.py") if path.is_dir() else [path.with_suffix(".py")]


@cache
def imports(package: str) -> set[str]:
    """Return the modules that ``package`` imports."""
    return {name for module in modules(package) for name in _IMPORT.findall(module.read_text(encoding="utf-8"))}


def uses(start: str, end: str) -> bool:
    """Return whether package ``start`` imports package ``end`` or a part of it."""
    return any(name == end or name.startswith(f"{end}.") for name in imports(start))


[BLOCK] = _BLOCK.findall(text(DOCS / "contributing" / "architecture.md"))
PICTURE = parsed(BLOCK)


@pytest.mark.parametrize("contract", PREFIXES)
def test_the_picture_has_every_package_of_a_contract_in_its_order(contract: str) -> None:
    assert PICTURE.packages(contract) == list(chain(*layers(contract)))


def test_packages_that_share_a_box_share_a_layer() -> None:
    shared = [list(box) for box in PICTURE.boxes.values() if len(box) > 1]

    assert [box for box in shared if box not in [*layers(OUTER), *layers(INNER)]] == []


def test_every_arrow_leads_to_a_lower_layer() -> None:
    assert PICTURE.arrows
    assert forbidden(PICTURE) == []


@pytest.mark.parametrize(("start", "end"), PICTURE.arrows)
def test_every_arrow_is_an_import(start: str, end: str) -> None:
    pairs = product(PICTURE.boxes[start], PICTURE.boxes[end])

    assert [pair for pair in pairs if not uses(*pair)] == []


def test_a_package_without_a_box_is_found() -> None:
    without = parsed(BLOCK.replace('        specs["specs"]\n', "").replace(" --> specs", ""))

    assert without.packages(INNER) == PICTURE.packages(INNER)[:-1]


@pytest.mark.parametrize(
    ("arrow", "pair"),
    [
        ("machine --> cli", ("jacquard.machine", "jacquard.cli")),
        ("engine --> observe", ("jacquard.engine", "jacquard.observe")),
        ("specs --> render", ("components.specs", "components.render")),
        ("specs --> stacks", ("components.specs", "stacks")),
    ],
)
def test_an_arrow_that_no_contract_allows_is_found(arrow: str, pair: tuple[str, str]) -> None:
    assert forbidden(parsed(f"{BLOCK}{arrow}")) == [pair]
