"""Store of the logs of all clusters of a region."""

from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import NO_SECRET, SERVER, Label, Quantity, Spec
from components.specs.region.store_backups import StoreBackupSpec

MAX_STORAGE_PODS = 50
"""Maximum number of storage pods; each query reads all of them."""
OUTAGE_PODS = 2
"""Minimum number of storage pods: new logs are on the other pods while one is down."""


PLUGIN_VERSION = r"^[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}$"
PluginVersion = Annotated[str, StringConstraints(pattern=PLUGIN_VERSION)]
"""Version of a plug-in of Grafana, without a leading ``v``."""
PLUGIN_URL = r"^https://[^\s,]+$"
PluginUrl = Annotated[str, StringConstraints(pattern=PLUGIN_URL, max_length=512), NO_SECRET, SERVER]
"""URL without a comma, which separates plug-ins in the configuration (GRAFANA:pkg/util/strings.go SplitString)."""


class GrafanaPluginSpec(Spec):
    """Plug-in ``victoriametrics-logs-datasource`` of Grafana, with which dashboards show logs."""

    version: PluginVersion
    """Version of the plug-in, such as 0.30.1."""
    url: PluginUrl
    """ZIP file of this version, signed for Grafana's catalogue of plug-ins, on a server that Grafana reaches. Grafana
    downloads it whenever it starts; while the server is down, dashboards of logs are empty."""


class LogStoreSpec(Spec):
    """Store of the logs of all clusters in the management cluster."""

    size: Quantity
    """Size of the volume of each storage pod."""
    storage_class: Label
    """Storage class of the management cluster for the volumes. Each log is on one volume only, so that a lost volume
    loses its part of the logs."""
    storage_pods: int = Field(default=OUTAGE_PODS, ge=OUTAGE_PODS, le=MAX_STORAGE_PODS)
    """Number of storage pods. New logs are spread over the pods that are available."""
    retention_days: int = Field(default=14, ge=1, le=3650)
    """Days after which logs are deleted."""
    node_day: Quantity = "256Mi"
    """Space on disk for the logs of one node during one day, compressed, with which `jacquard check` compares the size
    of the store. Measure it in a running region with ``vl_data_size_bytes``."""
    backup: StoreBackupSpec | None = None
    """Backup of logs and audit events to a bucket. By default they are lost with their volume."""
    grafana_plugin: GrafanaPluginSpec | None = None
    """Plug-in with which Grafana of the management cluster shows logs and audit events. By default Grafana shows no
    logs, and operators query the store by its API. A change restarts Grafana."""
