"""The real helm with charts from Go modules; tests are skipped if it is not built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.render.manifest import Manifest
from jacquard.lab.rehearsal.charts import Charts, HelmError, releases_by_chart
from jacquard.machine import paths
from jacquard.machine.errors import ToolchainError

CHARTS = releases_by_chart()


class Helm:
    """Renders releases for one Kubernetes version."""

    def __init__(self, folder: Path, kubernetes: str) -> None:
        try:
            self._charts = Charts(folder)
        except ToolchainError as error:
            pytest.skip(f"charts are not rendered: {error}; {paths.set_up()}")
        self._kubernetes = kubernetes

    def has(self, chart: str, version: str) -> bool:
        """Return whether the local region has the chart in that version."""
        return self._charts.has(chart, version)

    def template(
        self, chart: str, release: str, namespace: str, values: dict[str, Any], *, hooks: bool = False
    ) -> list[dict[str, Any]]:
        """Return the objects of a release with exactly ``values``, CRDs first, from the pinned chart."""
        version = CHARTS[chart][0].version
        try:
            return self._charts.template(chart, version, release, namespace, values, self._kubernetes, hooks=hooks)
        except HelmError as error:
            pytest.fail(str(error))

    def installed(self, release: Manifest) -> list[dict[str, Any]]:
        """Return the objects that Flux applies for ``release``: rendered with its values, after its post-renderers."""
        spec = release.body["spec"]
        rendered = self.template(
            spec["chartRef"]["name"], spec["releaseName"], spec["targetNamespace"], spec.get("values", {})
        )
        try:
            return self._charts.post_rendered(rendered, spec.get("postRenderers", ()))
        except HelmError as error:
            pytest.fail(str(error))
