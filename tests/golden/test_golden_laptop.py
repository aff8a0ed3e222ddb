"""Whole objects of environment laptop, one file a concept: a change of what is rendered is seen in review.

Refresh with ``JACQUARD_UPDATE_GOLDEN=1 python -m pytest tests/golden`` and read the difference before committing it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.plan.inputs import Input, inputs
from components.plan.manifests import render
from components.plan.slices import slices
from components.render.hosted_control_plane import HostedControlPlaneInput
from components.render.inventory import InventoryInput
from components.render.manifest import Manifest, Rendered, objects
from components.render.node_pool import NodePoolInput
from components.render.region import RegionInput
from components.render.storage import StorageCatalogInput
from components.render.tenant_network import TenantNetworkInput
from components.render.vm_offering import VmOfferingInput
from components.specs.loader import load_environment
from toolchain import paths

FOLDER = Path(__file__).parent / "laptop"
UPDATE = "JACQUARD_UPDATE_GOLDEN"
CONCEPTS: dict[str, type[Input]] = {
    "region": RegionInput,
    "inventory": InventoryInput,
    "tenant_network": TenantNetworkInput,
    "hosted_control_plane": HostedControlPlaneInput,
    "node_pool": NodePoolInput,
    "storage": StorageCatalogInput,
    "vm_offering": VmOfferingInput,
}
RACKS_SHOWN = 1
"""Racks differ in identity only: one shows them all."""


class _Dumper(yaml.SafeDumper):
    """Dumps text of several lines as it reads, and shared values each time they occur."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the base class's signature
        return True


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def document(item: Manifest) -> str:
    """Return one object as YAML, headed by what is known about applying it."""
    marks = [f"cluster: {item.cluster}", *(mark for mark in ("retain", "protect") if getattr(item, mark))]
    if item.readiness is not None:
        marks.append(f"awaited {item.readiness.timeout_seconds} s: {' and '.join(item.readiness.conditions)}")
    body = yaml.dump(item.body, Dumper=_Dumper, sort_keys=False, width=110)
    return f"# {', '.join(marks)}\n{body}"


def rendered(concept: type[Input]) -> Iterator[Rendered]:
    environment = load_environment("laptop", paths.ROOT / "environments")
    for part in slices(environment):
        for item in inputs(environment, part):
            if isinstance(item, concept):
                yield from render(item)[: RACKS_SHOWN if concept is InventoryInput else None]


@pytest.mark.parametrize("concept", CONCEPTS)
def test_laptop_renders_what_was_reviewed(concept: str) -> None:
    path = FOLDER / f"{concept}.yaml"
    text = "---\n".join(document(item) for item in objects(tuple(rendered(CONCEPTS[concept]))))
    if os.environ.get(UPDATE):
        path.write_text(text, encoding="utf-8")

    reviewed = path.read_text(encoding="utf-8") if path.exists() else ""

    assert text == reviewed, (
        f"{path} differs; if that is meant, run {UPDATE}=1 python -m pytest tests/golden and read it"
    )


def test_there_is_no_golden_file_without_a_concept() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(CONCEPTS)
