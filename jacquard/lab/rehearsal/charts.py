"""The real helm over charts that travel in Go modules: what a release comes to, without a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.toolchain import binaries, versions
from jacquard.lab.toolchain.families import FAMILIES, Data, Family
from jacquard.machine.errors import ToolchainError

Object = dict[str, Any]
KIND = "CustomResourceDefinition"
_TIMEOUT_SECONDS = 60
_SUBCHARTS = {"slurm-operator": ("helm/slurm-operator-crds",)}
"""Charts of the same module that a chart depends on."""
_INCOMPLETE = {"cluster-api-operator"}
"""Charts that get accounts, rights and kinds only when upstream packages them (CAPIO:Makefile, ``release-chart``): what
their modules have can be read, and does not run."""
_FAMILIES = {"charts", "former-charts", "metallb"}
"""Families of the toolchain that have charts."""
HELM_HOMES = ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME")
"""Variables that say where helm keeps files of its own."""


@dataclass(frozen=True, slots=True)
class Carried:
    """One release of a chart in a Go module, and the family that pins the module."""

    family: Family
    data: Data

    @property
    def version(self) -> str:
        """Return the version of the module, which releases stamp on the chart."""
        return versions.of_module(self.family.folder / "go.mod", self.data.module)


def known() -> dict[str, list[Carried]]:
    """Return the releases of each chart that Go modules carry by the chart's name, the one that is pinned first."""
    found: dict[str, list[Carried]] = {}
    for family in FAMILIES:
        for data in family.data if family.name in _FAMILIES else ():
            found.setdefault(Path(data.contents[0]).name, []).append(Carried(family, data))
    return found


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
        self._modules = {
            one.data.name: binaries.data(one.data.name) for releases in known().values() for one in releases
        }
        self._versions: dict[str, set[str]] = {}

    @classmethod
    def found(cls, folder: Path) -> Charts | None:
        """Return the charts, or None where they are not built."""
        try:
            return cls(folder)
        except ToolchainError:
            return None

    def has(self, chart: str, version: str) -> bool:
        """Tell whether ``chart`` is here, whole and in that version: its own, or its module's, as releases stamp it."""
        return chart not in _INCOMPLETE and any(
            version.lstrip("v") in self._versions_of(one) for one in known().get(chart, ())
        )

    def template(
        self,
        chart: str,
        version: str,
        release: str,
        namespace: str,
        values: Mapping[str, Any],
        kubernetes: str,
        *,
        hooks: bool = False,
    ) -> list[Object]:
        """Return the objects of a release with exactly ``values`` at a version of Kubernetes, its kinds first.

        A chart that is not here in ``version`` is rendered as it is here. Hooks are among them only if they are asked
        for: they are no part of what stays.

        Raises:
            HelmError: Helm refuses.
        """
        file = self._folder / "values.yaml"
        folder = self._prepared(chart, self._carried(chart, version))
        file.write_text(yaml.safe_dump(dict(values)))
        done = subprocess.run(
            [
                *(self._helm, "template", release, folder, "--namespace", namespace, "--values", file),
                *("--include-crds", *(() if hooks else ("--no-hooks",)), "--kube-version", kubernetes),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=_TIMEOUT_SECONDS,
            env={**os.environ, **dict.fromkeys(HELM_HOMES, str(self._folder))},
        )
        if done.returncode:
            msg = f"helm refuses {chart} with {dict(values)}: {done.stderr.strip()}"
            raise HelmError(msg)
        objects = [one for one in yaml.load_all(done.stdout, _Loader) if one]
        return sorted(objects, key=lambda one: one["kind"] != KIND)

    def _carried(self, chart: str, version: str) -> Carried:
        """Return the release of a chart in ``version``, or the first that is here."""
        releases = known()[chart]
        exact = (one for one in releases if version.lstrip("v") in self._versions_of(one))
        return next(exact, releases[0])

    def _versions_of(self, one: Carried) -> set[str]:
        if one.data.name not in self._versions:
            own = str(self._metadata(self._prepared(Path(one.data.contents[0]).name, one))["version"])
            self._versions[one.data.name] = {own.lstrip("v"), one.version.lstrip("v")}
        return self._versions[one.data.name]

    def _prepared(self, name: str, one: Carried) -> Path:
        """Return the folder of the copy of a chart, made at its first use."""
        chart = self._folder / one.data.name
        if chart.exists():
            return chart
        unfinished = self._folder / f".{one.data.name}"
        module = self._modules[one.data.name]
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(module / one.data.contents[0], unfinished)
        if not (unfinished / "Chart.yaml").exists():
            (unfinished / "Chart.template.yaml").rename(unfinished / "Chart.yaml")
        for subchart in _SUBCHARTS.get(name, ()):
            shutil.copytree(module / subchart, unfinished / "charts" / Path(subchart).name)
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
