"""What an older library flashed DPUs from, by revision: image, flavor, secure boot. No setting refreshes any of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.render.network.dpu_templates import REVISIONS, templates
from components.specs.pools.intents import DpuIntent

FOLDER = Path(__file__).parent / "older_library"
OLDER = (1, 2, 3)
LATER: dict[int, set[str]] = {1: {"uplink_mtu_bytes"}, 2: {"uplink_mtu_bytes"}, 3: set()}
"""Fields of an intent that a revision does not write."""


def written(revision: int) -> list[dict[str, Any]]:
    path = FOLDER / f"dpu_revision_{revision}.yaml"
    entries: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return entries


def in_order(spec: Any) -> str:
    return str(yaml.safe_dump(spec, sort_keys=False))


@pytest.mark.parametrize(("revision", "index"), [(one, index) for one in OLDER for index in range(len(written(one)))])
def test_a_newer_library_flashes_dpus_from_what_an_older_one_did_byte_by_byte(revision: int, index: int) -> None:
    entry = written(revision)[index]
    intent = DpuIntent(revision=revision, **entry["intent"])

    made = templates(intent)

    assert in_order({"name": made.bfb_name, "spec": made.bfb}) == in_order(entry["bfb"])
    assert in_order({"name": made.flavor_name, "spec": made.flavor}) == in_order(entry["flavor"])
    assert made.secure_boot is entry["secure_boot"]
    assert intent.fingerprint == entry["fingerprint"]


def test_every_revision_is_remembered_with_and_without_what_may_be_left_out() -> None:
    optional = {name for name, field in DpuIntent.model_fields.items() if not field.is_required()}

    assert set(REVISIONS) == set(OLDER)
    for revision in OLDER:
        known = optional - LATER[revision]
        assert [optional & entry["intent"].keys() for entry in written(revision)] == [set(), known]
