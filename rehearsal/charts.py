"""The real helm over charts that travel in Go modules: what a release comes to, without a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from rehearsal.errors import RehearsalError
from toolchain import binaries, versions
from toolchain.errors import ToolchainError
from toolchain.families import FAMILIES, Data, Family

Object = dict[str, Any]
KIND = "CustomResourceDefinition"
_TIMEOUT_SECONDS = 60
_SUBCHARTS = {"slurm-operator": ("helm/slurm-operator-crds",)}
"""Charts of the same module that a chart depends on."""
_HOMES = ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME")


def known() -> dict[str, tuple[Family, Data]]:
    """Return each chart that a Go module carries by its name, with the family that pins the module."""
    families = [family for family in FAMILIES if family.name in {"charts", "metallb"}]
    return {data.name: (family, data) for family in families for data in family.data}


class HelmError(RehearsalError):
    """Helm refused a chart with these values; its message says why."""


class _Loader(yaml.CSafeLoader):
    """Reads ``1e+06``, as helm writes a million, as the number that it is to Go; YAML 1.1 takes it for text."""


def _power(loader: _Loader, node: yaml.ScalarNode) -> int:
    return int(float(str(loader.construct_scalar(node))))


_Loader.add_implicit_resolver("!power", re.compile(r"^[0-9]+e\+[0-9]+$"), list("0123456789"))
_Loader.add_constructor("!power", _power)


class Charts:
    """Helm, and copies in ``folder`` of the charts that it can render without a network.

    Each copy is what upstream packages, but for three steps that need a network or a release: cert-manager's
    ``Chart.yaml`` has its version filled in; a subchart from the same module is put in its place; a dependency that is
    elsewhere, and off by default, is left out.
    """

    def __init__(self, folder: Path) -> None:
        """Look for helm and the charts.

        Raises:
            ToolchainError: They are not built.
        """
        self._folder = folder
        self._helm = binaries.path("helm")
        self._modules = {name: binaries.data(name) for name in known()}
        self._versions: dict[str, set[str]] = {}

    @classmethod
    def found(cls, folder: Path) -> Charts | None:
        """Return the charts, or None where they are not built."""
        try:
            return cls(folder)
        except ToolchainError:
            return None

    def has(self, chart: str, version: str) -> bool:
        """Tell whether ``chart`` is here in that very version: its own, or its module's, which releases stamp on it."""
        if chart not in self._modules:
            return False
        if chart not in self._versions:
            family, data = known()[chart]
            own = str(self._metadata(self._prepared(chart))["version"])
            module = versions.of_module(family.folder / "go.mod", data.module)
            self._versions[chart] = {own.lstrip("v"), module.lstrip("v")}
        return version.lstrip("v") in self._versions[chart]

    def template(
        self, chart: str, release: str, namespace: str, values: Mapping[str, Any], kubernetes: str
    ) -> list[Object]:
        """Return the objects of a release with exactly ``values`` at a version of Kubernetes, its kinds first.

        Hooks are left out: they are no part of what stays.

        Raises:
            HelmError: Helm refuses.
        """
        file = self._folder / "values.yaml"
        folder = self._prepared(chart)
        file.write_text(yaml.safe_dump(dict(values)))
        done = subprocess.run(
            [
                *(self._helm, "template", release, folder, "--namespace", namespace, "--values", file),
                *("--include-crds", "--no-hooks", "--kube-version", kubernetes),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=_TIMEOUT_SECONDS,
            env={**os.environ, **dict.fromkeys(_HOMES, str(self._folder))},
        )
        if done.returncode:
            msg = f"helm refuses {chart} with {dict(values)}: {done.stderr.strip()}"
            raise HelmError(msg)
        objects = [one for one in yaml.load_all(done.stdout, _Loader) if one]
        return sorted(objects, key=lambda one: one["kind"] != KIND)

    def _prepared(self, name: str) -> Path:
        """Return the folder of the copy of a chart, made at its first use."""
        chart = self._folder / name
        if chart.exists():
            return chart
        unfinished = self._folder / f".{name}"
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(self._modules[name] / known()[name][1].contents[0], unfinished)
        if not (unfinished / "Chart.yaml").exists():
            (unfinished / "Chart.template.yaml").rename(unfinished / "Chart.yaml")
        for subchart in _SUBCHARTS.get(name, ()):
            shutil.copytree(self._modules[name] / subchart, unfinished / "charts" / Path(subchart).name)
        metadata = self._metadata(unfinished)
        packed = [path.name for path in unfinished.glob("charts/*")]
        there = [
            one for one in metadata.get("dependencies", ()) if any(file.startswith(one["name"]) for file in packed)
        ]
        (unfinished / "Chart.yaml").write_text(yaml.safe_dump({**metadata, "dependencies": there}))
        (unfinished / "Chart.lock").unlink(missing_ok=True)
        return unfinished.rename(chart)

    @staticmethod
    def _metadata(folder: Path) -> dict[str, Any]:
        return dict(yaml.safe_load((folder / "Chart.yaml").read_text()))
