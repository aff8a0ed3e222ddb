"""The program that annotates nodes writes changed annotations only, and removes those of nodes without a place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from components.programs.slurm_topology import ANNOTATION, annotate

SETTINGS = {"pool_label": "pool", "pools": {"train": {"leaves": "leaf", "nvlink": "rack"}}}


class Nodes:
    """An API with nodes, and the written annotations."""

    def __init__(self, *nodes: dict[str, Any]) -> None:
        self._nodes = nodes
        self.written: dict[str, Mapping[str, str | None]] = {}

    def items(self, _version: str, _plural: str) -> Iterator[dict[str, Any]]:
        yield from self._nodes

    def note(self, _version: str, _plural: str, node: dict[str, Any], notes: Mapping[str, str | None]) -> None:
        self.written[node["metadata"]["name"]] = notes


def node(name: str, place: str | None = None, **labels: str) -> dict[str, Any]:
    notes = {} if place is None else {"annotations": {ANNOTATION: place}}
    return {"metadata": {"name": name, "labels": labels, **notes}}


def test_only_nodes_with_another_place_are_annotated() -> None:
    api = Nodes(
        node("new", pool="train", leaf="l1", rack="r1"),
        node("same", "leaves:l1,nvlink:r1", pool="train", leaf="l1", rack="r1"),
        node("moved", "leaves:l2,nvlink:r2", pool="train", leaf="l1", rack="r1"),
        node("other", pool="system", leaf="l1"),
        node("left", "leaves:l1", pool="system", leaf="l1"),
    )

    annotate(api, SETTINGS)  # type: ignore[arg-type]

    assert api.written == {
        "new": {ANNOTATION: "leaves:l1,nvlink:r1"},
        "moved": {ANNOTATION: "leaves:l1,nvlink:r1"},
        "left": {ANNOTATION: None},
    }
