"""The real helm over charts that travel in Go modules: what a release comes to."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from toolchain import binaries
from toolchain.errors import ToolchainError
from toolchain.families import FAMILIES

[FAMILY] = [family for family in FAMILIES if family.name == "charts"]
CHARTS = {data.name: Path(data.contents[0]) for data in FAMILY.data}
"""Folder of each chart in its module."""
_SUBCHARTS = {"slurm-operator": ("helm/slurm-operator-crds",)}
"""Charts of the same module that a chart depends on."""


class _Loader(yaml.CSafeLoader):
    """Reads ``1e+06``, as helm writes a million, as the number that it is to Go; YAML 1.1 takes it for text."""


_Loader.add_implicit_resolver("!power", re.compile(r"^[0-9]+e\+[0-9]+$"), list("0123456789"))
_Loader.add_constructor("!power", lambda loader, node: int(float(loader.construct_scalar(node))))


class Helm:
    """Helm and copies of the charts that it can render without a network.

    Each copy is what upstream packages, but for three steps that need a network or a release: cert-manager's
    ``Chart.yaml`` has its version filled in; a subchart from the same module is put in its place; a dependency that is
    elsewhere, and off by default, is left out.
    """

    def __init__(self, folder: Path, kubernetes: str) -> None:
        try:
            self._helm = binaries.path("helm")
            found = {name: binaries.data(name) for name in CHARTS}
        except ToolchainError as error:
            pytest.skip(f"charts are not rendered: {error}; python3 -m toolchain linters")
        self._folder = folder
        self._kubernetes = kubernetes
        for name, module in found.items():
            self._prepare(name, module)

    def version(self, chart: str) -> str:
        """Return the version of the chart, or of its module where the release process fills that in."""
        return str(self._metadata(chart)["version"])

    def template(self, chart: str, release: str, namespace: str, values: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the objects of a release with exactly ``values``, its kinds first."""
        file = self._folder / "values.yaml"
        file.write_text(yaml.safe_dump(values))
        done = subprocess.run(
            [
                *(self._helm, "template", release, self._folder / chart, "--namespace", namespace),
                *("--include-crds", "--values", file, "--kube-version", self._kubernetes),
            ],
            capture_output=True,
            text=True,
            check=False,
            env={
                **os.environ,
                **dict.fromkeys(("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"), str(self._folder)),
            },
        )
        if done.returncode:
            pytest.fail(f"helm refuses {chart} with {values}: {done.stderr}")
        objects = [one for one in yaml.load_all(done.stdout, _Loader) if one]
        return sorted(objects, key=lambda one: one["kind"] != "CustomResourceDefinition")

    def _prepare(self, name: str, module: Path) -> None:
        chart = self._folder / name
        shutil.copytree(module / CHARTS[name], chart)
        if not (chart / "Chart.yaml").exists():
            (chart / "Chart.template.yaml").rename(chart / "Chart.yaml")
        for subchart in _SUBCHARTS.get(name, ()):
            shutil.copytree(module / subchart, chart / "charts" / Path(subchart).name)
        metadata = self._metadata(name)
        packed = [path.name for path in chart.glob("charts/*")]
        there = [
            one for one in metadata.get("dependencies", ()) if any(file.startswith(one["name"]) for file in packed)
        ]
        (chart / "Chart.yaml").write_text(yaml.safe_dump({**metadata, "dependencies": there}))
        (chart / "Chart.lock").unlink(missing_ok=True)

    def _metadata(self, chart: str) -> dict[str, Any]:
        return dict(yaml.safe_load((self._folder / chart / "Chart.yaml").read_text()))
