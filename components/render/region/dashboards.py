"""Dashboards of Grafana in the management cluster, as a ConfigMap that its sidecar loads.

The files are written by ``jacquard/lab/dashboards.py``. Panels of nodes, GPUs, fabrics and storage need the metrics of
tenants' clusters in the data source that is selected in the dashboard.
"""

import json
from pathlib import Path
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import manifest

DATA_SOURCE = "Metrics of all clusters"
"""Data source of Grafana for the store of the region; the default one is Prometheus of the management cluster."""
FOLDER = Path(__file__).with_name("dashboard_files")
LABEL = "grafana_dashboard"
"""Label of ConfigMaps that Grafana's sidecar loads (PHC:charts/kube-prometheus-stack/values.yaml)."""


def render(namespace: str, release: str) -> Manifest:
    """Return the ConfigMap with all dashboards; ``release`` is the version of the data.

    Grafana reads each key as a file. One object is one resource of the stack.
    """
    return manifest(
        "v1",
        "ConfigMap",
        "dashboards",
        namespace=namespace,
        labels={LABEL: "1"},
        annotations={keys.VERSIONS: release},
        data=files(),
    )


def data_sources(url: str) -> dict[str, Any]:
    """Return the values of kube-prometheus-stack with which dashboards can select the store at ``url``."""
    source = {"name": DATA_SOURCE, "uid": "metrics-store", "type": "prometheus", "access": "proxy", "url": url}
    return {"grafana": {"additionalDataSources": [source]}}


def files() -> dict[str, str]:
    """Return the dashboards as JSON, by name of the file."""
    return {file.name: file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.json"))}


def titles() -> tuple[str, ...]:
    """Return the titles of all dashboards."""
    return tuple(str(json.loads(text)["title"]) for text in files().values())
