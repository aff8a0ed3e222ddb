"""Rendering of charts from Go modules with the real helm, without network access."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.toolchain import binaries, versions
from jacquard.lab.toolchain.families import FAMILIES
from jacquard.lab.toolchain.family import Data, Family
from jacquard.machine.errors import ToolchainError

Object = dict[str, Any]
KIND = "CustomResourceDefinition"
_TIMEOUT_SECONDS = 60
_SUBCHARTS = {"slurm-operator": ("helm/slurm-operator-crds",)}
"""Dependencies of a chart in the same module."""
_INCOMPLETE = {"cluster-api-operator"}
"""Charts that lack accounts, RBAC rules and CRDs in the module, because only upstream's release adds them
(CAPIO:Makefile, ``release-chart``). Such a chart can be read, but not installed."""
_FAMILIES = {"charts", "former-charts", "metallb"}
"""Toolchain families with charts."""
HELM_HOMES = ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME")
"""Environment variables with the paths of helm's folders."""


@dataclass(frozen=True, slots=True)
class Carried:
    """One release of a chart in a Go module, and the family that pins the module."""

    family: Family
    data: Data

    @property
    def version(self) -> str:
        """Return the version of the module; upstream's release writes this version into the chart."""
        return versions.of_module(self.family.folder / "go.mod", self.data.module)


def releases_by_chart() -> dict[str, list[Carried]]:
    """Return the releases in Go modules by chart name, the pinned release first."""
    charts: dict[str, list[Carried]] = {}
    for family in FAMILIES:
        for data in family.data if family.name in _FAMILIES else ():
            charts.setdefault(Path(data.contents[0]).name, []).append(Carried(family, data))
    return charts


class HelmError(RehearsalError):
    """Helm rejected a chart with its values; the message contains the reason."""


class _Loader(yaml.CSafeLoader):
    """Parses ``1e+06``, helm's notation of a million, as a number, like Go; YAML 1.1 parses ``1e+06`` as text."""


def _power(loader: _Loader, node: yaml.ScalarNode) -> int:
    return int(float(str(loader.construct_scalar(node))))


_Loader.add_implicit_resolver("!power", re.compile(r"^[0-9]+e\+[0-9]+$"), list("0123456789"))
_Loader.add_constructor("!power", _power)


class Charts:
    """Helm, and copies in ``folder`` of the charts that it can render without network access.

    Each copy equals upstream's package, except for three steps that need the network or a release. The version is set
    in cert-manager's ``Chart.yaml``; a subchart from the same module is copied; dependencies in other places, which are
    disabled by default, are omitted.
    """

    def __init__(self, folder: Path) -> None:
        """Locate helm and the charts.

        Raises:
            ToolchainError: Helm or a chart is not built.
        """
        self._folder = folder
        self._helm = binaries.path("helm")
        self._modules = {
            release.data.name: binaries.data(release.data.name)
            for releases in releases_by_chart().values()
            for release in releases
        }
        self._versions: dict[str, set[str]] = {}

    @classmethod
    def if_built(cls, folder: Path) -> Charts | None:
        """Return the charts, or None if they are not built."""
        try:
            return cls(folder)
        except ToolchainError:
            return None

    def has(self, chart: str, version: str) -> bool:
        """Return whether ``chart`` is complete and ``version`` is the version of the chart or of its module."""
        return chart not in _INCOMPLETE and any(
            version.lstrip("v") in self._versions_of(carried) for carried in releases_by_chart().get(chart, ())
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
        """Return the objects of a release with exactly ``values`` for a version of Kubernetes, CRDs first.

        If ``version`` is not available, the available version is rendered. Hooks are included only with ``hooks``,
        because they are not part of the installed release.

        Raises:
            HelmError: Helm rejects the chart or the values.
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
        objects = [obj for obj in yaml.load_all(done.stdout, _Loader) if obj]
        return sorted(objects, key=lambda obj: obj["kind"] != KIND)

    def post_rendered(self, objects: list[Object], renderers: Iterable[Mapping[str, Any]]) -> list[Object]:
        """Return ``objects`` after Flux' post-renderers, which patch them with kustomize.

        Args:
            objects: Rendered objects of a chart.
            renderers: ``spec.postRenderers`` of a HelmRelease.

        Raises:
            HelmError: Kustomize rejects a patch.
        """
        for renderer in renderers:
            kubectl, folder = binaries.path("kubectl"), self._folder / "kustomize"
            folder.mkdir(exist_ok=True)
            (folder / "objects.yaml").write_text(yaml.dump_all(objects, Dumper=yaml.CSafeDumper, sort_keys=False))
            wanted = {"resources": ["objects.yaml"], **renderer["kustomize"]}
            (folder / "kustomization.yaml").write_text(yaml.safe_dump(wanted))
            done = subprocess.run(
                [kubectl, "kustomize", folder], capture_output=True, text=True, check=False, timeout=_TIMEOUT_SECONDS
            )
            if done.returncode:
                msg = f"kustomize refuses {renderer['kustomize']}: {done.stderr.strip()}"
                raise HelmError(msg)
            objects = [obj for obj in yaml.load_all(done.stdout, _Loader) if obj]
            objects.sort(key=lambda obj: obj["kind"] != KIND)
        return objects

    def _carried(self, chart: str, version: str) -> Carried:
        """Return the release of a chart with ``version``, or the pinned release."""
        releases = releases_by_chart()[chart]
        exact = (carried for carried in releases if version.lstrip("v") in self._versions_of(carried))
        return next(exact, releases[0])

    def _versions_of(self, carried: Carried) -> set[str]:
        if carried.data.name not in self._versions:
            chart_version = str(self._metadata(self._prepared(Path(carried.data.contents[0]).name, carried))["version"])
            self._versions[carried.data.name] = {chart_version.lstrip("v"), carried.version.lstrip("v")}
        return self._versions[carried.data.name]

    def _prepared(self, name: str, carried: Carried) -> Path:
        """Return the folder with the copy of a chart; create it on first use."""
        chart = self._folder / carried.data.name
        if chart.exists():
            return chart
        unfinished = self._folder / f".{carried.data.name}"
        module = self._modules[carried.data.name]
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(module / carried.data.contents[0], unfinished)
        if not (unfinished / "Chart.yaml").exists():
            (unfinished / "Chart.template.yaml").rename(unfinished / "Chart.yaml")
        for subchart in _SUBCHARTS.get(name, ()):
            shutil.copytree(module / subchart, unfinished / "charts" / Path(subchart).name)
        metadata = self._metadata(unfinished)
        packed = [path.name for path in unfinished.glob("charts/*")]
        available = [
            dependency
            for dependency in metadata.get("dependencies", ())
            if any(file.startswith(dependency["name"]) for file in packed)
        ]
        (unfinished / "Chart.yaml").write_text(yaml.safe_dump({**metadata, "dependencies": available}))
        (unfinished / "Chart.lock").unlink(missing_ok=True)
        return unfinished.rename(chart)

    @staticmethod
    def _metadata(folder: Path) -> dict[str, Any]:
        return dict(yaml.safe_load((folder / "Chart.yaml").read_text()))
