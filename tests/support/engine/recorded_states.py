"""States that other plug-ins recorded: the vendor's provider, and older versions of ours."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.standins.kubernetes.checks import REPLACE_UNREADY
from jacquard.machine import paths

VENDOR = Path(os.environ.get("VENDOR_STATES_DIR", paths.ROOT.parent / "shared" / "vendor-states"))
_OLDER = Path(__file__).with_name("older_states") / "laptop.json.gz"
_REMOVED = {"SECRET": "ciphertext removed"}
_GIVEN = {"pw": "Z2VoZWlt"}


@dataclass(frozen=True)
class Recorded:
    """One resource of a state."""

    urn: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]

    def __str__(self) -> str:
        kind, metadata = self.inputs["kind"], self.inputs["metadata"]
        return f"{kind} {metadata.get('namespace', '-')}/{metadata['name']}"


def older() -> list[Recorded]:
    """Return the objects of ``laptop`` as older stand-ins recorded them, without inputs next to the outputs."""
    with gzip.open(_OLDER, "rt", encoding="utf-8") as file:
        return [_recorded(resource) for resource in json.load(file)["resources"]]


def of_vendor(name: str) -> list[Recorded]:
    """Return the state of ``laptop`` that the vendor's provider recorded: ``laptop-created`` or ``laptop-updated``."""
    return [_recorded(resource) for resource in _read(name)["resources"]]


def of_programs() -> Iterator[Recorded]:
    """Yield the states that the vendor's provider recorded after each step of small programs, if supported."""
    for snapshots in _read("programs")["stacks"].values():
        for resource in chain.from_iterable(snapshots):
            annotations = resource["inputs"].get("metadata", {}).get("annotations", {})
            if resource["type"].startswith("kubernetes:") and REPLACE_UNREADY not in annotations:
                yield _recorded(resource)


def _read(name: str) -> dict[str, Any]:
    path = VENDOR / f"{name}.json"
    if not path.is_file():
        pytest.skip(f"no recorded states of the vendor's provider at {path}; set VENDOR_STATES_DIR to their folder")
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _recorded(resource: Mapping[str, Any]) -> Recorded:
    return Recorded(resource["urn"], _revealed(resource["inputs"]), _revealed(resource["outputs"]))


def _revealed(value: Any) -> Any:
    """Return recorded data with placeholders for removed secrets."""
    if value == _REMOVED:
        return _GIVEN
    if isinstance(value, dict):
        return {key: _revealed(item) for key, item in value.items()}
    return [_revealed(item) for item in value] if isinstance(value, list) else value
