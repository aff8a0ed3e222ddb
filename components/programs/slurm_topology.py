"""Writes the place of nodes in the network into the annotation from which Slurm's operator reads it.

The place of a node is a unit of each topology of its pool: the value of a label, such as its leaf switch or its rack.
A node without one of these labels is left out of the topology. `components.render.workloads.slurm_topology` renders the
pod of the program, which runs with the standard library only.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.programs.api import Api, is_written

MANAGER = "jacquard-slurm-topology"
ANNOTATION = "topology.slinky.slurm.net/spec"
LOG = logging.getLogger("slurm-topology")


def place_of(node: Mapping[str, Any], settings: Mapping[str, Any]) -> str | None:
    """Return the value of the annotation of a node, such as ``leaves:leaf-1,nvlink:r07``; None for no annotation."""
    labels = node["metadata"].get("labels") or {}
    topologies = settings["pools"].get(labels.get(settings["pool_label"]), {})
    units = [f"{name}:{labels[label]}" for name, label in topologies.items() if labels.get(label)]
    return ",".join(units) or None


def annotate(api: Api, settings: Mapping[str, Any]) -> None:
    """Write the annotation of all nodes of Slurm's pools that lack it or have another value."""
    for node in api.items("v1", "nodes"):
        place = place_of(node, settings)
        found = (node["metadata"].get("annotations") or {}).get(ANNOTATION)
        if place != found and is_written(api.note, "v1", "nodes", node, {ANNOTATION: place}):
            LOG.info("%s: is at %s", node["metadata"]["name"], place or "no place")


def main(server: str, account: str, settings: str) -> None:
    """Annotate the nodes of the cluster."""
    annotate(Api.of_account(server, Path(account), MANAGER), json.loads(Path(settings).read_text(encoding="utf-8")))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(*sys.argv[1:])
