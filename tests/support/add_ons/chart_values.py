"""Values of each Helm chart, recorded from its source, to compare with the values of rendered releases."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import Manifest, objects
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.network.tenant_network import Isolation
from components.specs.region.region import ControlPlaneBackend
from jacquard.machine import paths
from tests.support.data.environment_data import REFERENCES, reference
from tests.support.data.second_backends import with_backends

CHART_VALUES = Path(os.environ.get("CHART_VALUES_DIR", paths.ROOT.parent / "shared" / "chart-values"))
RECORDED_HERE = Path(__file__).parent / "recorded_charts"
"""Records of charts that are missing from the shared folder, or recorded there from an older chart."""
RECORDS = {"ovn-chart": "dpf-ovn-vpc.ovn", "dpf-vpc-ovn": "dpf-ovn-vpc.vpc"}
"""Record names of charts whose record has another name."""
_UNTOLD = {"<string>": str, "<list": list}
"""Prefixes of recorded defaults that state only the type."""
_SCHEMA_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "array": list,
    "object": dict,
}


class Record:
    """Recorded values of one chart."""

    def __init__(self, path: Path) -> None:
        self._whole: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        self._values: dict[str, Any] = self._whole["values"]
        self._free = set(self._whole["free_form"])
        self._further: dict[str, Any] = {
            **dict.fromkeys(self._whole.get("read_by_templates_only", ())),
            **dict(self._whole.get("schema_only", {})),
        }
        known = {*self._values, *self._free, *self._further}
        # A mapping by labels, such as a node selector, which templates pass on as a whole.
        self._labels = {path.rpartition('."')[0] for path in self._values if path.endswith('"')}
        self._parents = {path[:end] for path in known for end in range(len(path)) if path[end] == "."}

    @property
    def name(self) -> str:
        """Return the upstream name of the chart."""
        return str(self._whole.get("name_in_chart_yaml") or self._whole["chart"])

    @property
    def version(self) -> str:
        """Return the recorded version."""
        return str(self._whole["version_read"])

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Return the default of each value, by path."""
        return self._values

    def wrong(self, values: Mapping[str, Any], above: str = "") -> Iterator[str]:
        """Yield the paths of ``values`` that the chart does not have, or has with another type."""
        for key, value in values.items():
            quoted = key if key.replace("-", "").replace("_", "").isalnum() else f'"{key}"'
            path = f"{above}.{quoted}" if above else quoted
            if path in self._free or path in self._labels:
                continue
            if path in self._parents and isinstance(value, dict):
                yield from self.wrong(value, path)
                continue
            if path in self._values and not _fits(value, self._values[path]):
                yield f"{path}: {type(value).__name__}, where the chart has {self._values[path]!r}"
            elif path in self._further and not _of_schema(value, self._further[path]):
                yield f"{path}: {type(value).__name__}, where the chart's schema has {self._further[path]}"
            elif path not in self._values and path not in self._further:
                yield f"{path}: is no value of the chart"


def record(chart: str) -> Record | None:
    """Return the record of ``chart``, or None; skip the test if no records are available."""
    if not CHART_VALUES.is_dir():
        pytest.skip(f"no folder of recorded chart values at {CHART_VALUES}; set CHART_VALUES_DIR to one")
    name = f"{RECORDS.get(chart, chart)}.json"
    found = [folder / name for folder in (RECORDED_HERE, CHART_VALUES) if (folder / name).is_file()]
    return Record(found[0]) if found else None


@cache
def releases() -> tuple[Manifest, ...]:
    """Return the releases of every environment and of each choice of backends, one for each chart and set of values."""
    laptop = reference("laptop")
    chosen = (
        with_backends(laptop, control_planes=planes, bare_metal=metal, isolation=isolation)
        for planes, metal, isolation in product(ControlPlaneBackend, BareMetalBackend, Isolation)
    )
    every = (*(reference(name) for name in REFERENCES), *chosen)
    found: dict[str, Manifest] = {}
    for environment in every:
        for part in slices(environment):
            for item in objects(manifests(environment, part)):
                if item.kind == "HelmRelease":
                    found.setdefault(f"{chart_of(item)} {json.dumps(values_of(item))}", item)
    return tuple(found.values())


def chart_of(release: Manifest) -> str:
    """Return the name of the chart that ``release`` installs."""
    return str(release.body["spec"]["chartRef"]["name"])


def values_of(release: Manifest) -> dict[str, Any]:
    """Return the values that ``release`` sets."""
    return dict(release.body["spec"].get("values", {}))


def _fits(value: Any, default: Any) -> bool:
    if default is None:
        return True
    for text, wanted in _UNTOLD.items():
        if isinstance(default, str) and default.startswith(text):
            return isinstance(value, wanted)
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, int | float):
        return isinstance(value, int | float)
    return isinstance(value, type(default))


def _of_schema(value: Any, wanted: Any) -> bool:
    kinds = [
        _SCHEMA_TYPES[name] for name in ([wanted] if isinstance(wanted, str) else wanted or ()) if name in _SCHEMA_TYPES
    ]
    return not kinds or any(isinstance(value, kind) for kind in kinds)
