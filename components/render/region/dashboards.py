"""Dashboards of Grafana in the management cluster, as a ConfigMap that its sidecar loads.

The files are written by ``jacquard/lab/dashboards.py``. Panels of nodes, GPUs, fabrics and storage need the metrics of
tenants' clusters in the data source that is selected in the dashboard.

Dashboards of logs need the plug-in for VictoriaLogs, which Grafana downloads when it starts: the pods have no volume.
The value ``plugins`` of the chart would install it before the start, and Grafana would not start while the server is
down (GRAFANA:pkg/services/pluginsintegration/plugininstaller/service.go installPluginsWithTimeout). ``preinstall``
installs it afterwards and only logs an error. Grafana verifies the signature of the plug-in.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.region.logs import accounts
from components.specs.region.logs import GrafanaPluginSpec

DATA_SOURCE = "Metrics of all clusters"
"""Data source of Grafana for the store of the region; the default one is Prometheus of the management cluster."""
LOGS_PLUGIN = "victoriametrics-logs-datasource"
"""Plug-in of Grafana for VictoriaLogs, and type of its data sources (VLDS:src/plugin.json)."""
AUDIT_SOURCE, MANAGEMENT_SOURCE = "Audit events", "Logs of the management cluster"
"""Data sources for the store of logs; those of tenants have their names. Dashboards select them by their beginning."""
FOLDER = Path(__file__).with_name("dashboard_files")
LABEL = "grafana_dashboard"
"""Label of ConfigMaps that Grafana's sidecar loads (PHC:charts/kube-prometheus-stack/values.yaml)."""


def render(namespace: str, release: str, *, logs: bool = False) -> Manifest:
    """Return the ConfigMap with the dashboards; ``release`` is the version of the data.

    Grafana reads each key as a file. One object is one resource of the stack. ``logs`` adds the dashboards of logs.
    """
    return manifest(
        "v1",
        "ConfigMap",
        "dashboards",
        namespace=namespace,
        labels={LABEL: "1"},
        annotations={keys.VERSIONS: release},
        data={name: text for name, text in files().items() if logs or not _shows_logs(text)},
    )


def data_sources(url: str) -> dict[str, Any]:
    """Return the values of kube-prometheus-stack with which dashboards can select the store at ``url``."""
    source = {"name": DATA_SOURCE, "uid": "metrics-store", "type": "prometheus", "access": "proxy", "url": url}
    return {"grafana": {"additionalDataSources": [source]}}


def with_logs(values: dict[str, Any], plugin: GrafanaPluginSpec, url: str, tenants: Iterable[str]) -> dict[str, Any]:
    """Return `data_sources` with the plug-in, and with the store of logs at ``url``.

    Each account of the store is one data source: of the management cluster, of audit events, and of each of
    ``tenants``. Grafana deletes the data sources of former tenants (``prune``).
    """
    numbers = {tenant: accounts.account(tenant) for tenant in sorted(tenants)}
    sources = [
        _logs_source(MANAGEMENT_SOURCE, "logs-management", url, accounts.OPERATORS),
        _logs_source(AUDIT_SOURCE, "logs-audit", url, accounts.OPERATORS, accounts.AUDIT_EVENTS),
        *(_logs_source(f"Logs of {tenant}", f"logs-{number}", url, number) for tenant, number in numbers.items()),
    ]
    installed = f"{LOGS_PLUGIN}@{plugin.version}@{plugin.url}"
    grafana = values["grafana"]
    return {
        "grafana": {
            **grafana,
            "additionalDataSources": [*grafana["additionalDataSources"], *sources],
            "prune": True,
            "grafana.ini": {"plugins": {"preinstall": installed}},
        }
    }


def _logs_source(name: str, uid: str, url: str, account: int, project: int = accounts.LOGS) -> dict[str, Any]:
    """Return a data source for one account (VLDS:pkg/plugin/datasource.go parseMultitenancyHeaders)."""
    headers = {"AccountID": str(account), "ProjectID": str(project)}
    settings = {"multitenancyHeaders": headers}
    return {"name": name, "uid": uid, "type": LOGS_PLUGIN, "access": "proxy", "url": url, "jsonData": settings}


def files() -> dict[str, str]:
    """Return the dashboards as JSON, by name of the file."""
    return {file.name: file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.json"))}


def titles_in(item: Manifest) -> Iterator[str]:
    """Yield the titles of the dashboards in ``item``, a ConfigMap that Grafana's sidecar loads; none otherwise."""
    if item.kind == "ConfigMap" and LABEL in (item.body["metadata"].get("labels") or {}):
        for text in (item.body.get("data") or {}).values():
            yield str(json.loads(text)["title"])


def _shows_logs(text: str) -> bool:
    return f'"{LOGS_PLUGIN}"' in text
