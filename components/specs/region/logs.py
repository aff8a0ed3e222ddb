"""Store of the logs of all clusters of a region."""

from pydantic import Field

from components.specs.base import Label, Quantity, Spec

MAX_STORAGE_PODS = 50
"""Maximum number of storage pods; each query reads all of them."""
OUTAGE_PODS = 2
"""Minimum number of storage pods: new logs are on the other pods while one is down."""


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
