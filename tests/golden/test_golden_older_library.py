"""Templates and fingerprints of groups that an older library pinned. No setting refreshes what it wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.render.manifest import Json
from components.render.node_templates import TemplateIntent
from components.render.objects import digest
from components.render.template_revisions import REVISIONS, fingerprint
from components.specs.bare_metal import BareMetalBackend
from components.specs.catalog import BootMode
from components.specs.region import ControlPlaneBackend

FOLDER = Path(__file__).parent / "older_library"
SINCE_THEN: dict[str, Any] = {"boot": BootMode.LIVE_ISO, "max_pods": 250}
"""What later libraries know of an intent, at values that a later revision writes into templates."""


def written(revision: int) -> list[dict[str, Any]]:
    path = FOLDER / f"revision_{revision}.yaml"
    entries: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return entries


def remembered(intent: dict[str, Any]) -> TemplateIntent:
    return TemplateIntent(
        **{
            **SINCE_THEN,
            **intent,
            "control_plane": ControlPlaneBackend(intent["control_plane"]),
            "bare_metal": BareMetalBackend(intent["bare_metal"]),
            "taints": tuple(map(tuple, intent["taints"])),
        }
    )


def in_order(spec: Json) -> str:
    return str(yaml.safe_dump(spec, sort_keys=False))


@pytest.mark.parametrize("entry", written(1), ids=lambda entry: "-".join(map(str, entry["intent"].values()))[:60])
def test_a_newer_library_writes_the_templates_of_an_older_one_byte_by_byte(entry: dict[str, Any]) -> None:
    intent = remembered(entry["intent"])

    built = REVISIONS[1].build(intent)

    for name, spec in (("machine", built.machine), ("bootstrap", built.bootstrap)):
        assert in_order(spec) == in_order(entry[name]["spec"])
        assert digest(spec, 10) == entry[name]["digest"]
    assert fingerprint(intent, 1) == entry["fingerprint"]


def test_every_combination_of_backends_is_remembered() -> None:
    seen = {(entry["intent"]["control_plane"], entry["intent"]["bare_metal"]) for entry in written(1)}

    assert seen == {(plane.value, metal.value) for plane in ControlPlaneBackend for metal in BareMetalBackend}
