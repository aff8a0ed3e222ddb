"""Capacity of the store of metrics, from its volumes and its retention, and the machines that this capacity requires.

The arithmetic is upstream's guide (VM:docs/guides/understand-your-setup-size/README.md). Memory and CPU are upstream's
estimate for ingestion (VictoriaMetrics v1.60.0, README.md, "Capacity planning"; later releases give no numbers).
Requests depend on the capacity instead of the present series, so that more nodes restart no pod of the store.
"""

from components.specs.base import bytes_of
from components.specs.region.observability import REPLICATION_FACTOR, MetricsStoreSpec
from components.specs.struct import Struct

SCRAPE_SECONDS = 30
"""Seconds between two samples of a series, the default of kube-prometheus-stack (PO: scrapeInterval)."""
BYTES_PER_SAMPLE = 1
"""Compressed size of a sample, in bytes."""
INDEX_PERCENT = 20
"""Size of the index, in percent of the samples."""
FREE_PERCENT = 20
"""Space that must stay free for merges, in percent of a volume."""
_LONG_DAYS, _MONTH_DAYS, _CYCLE_DAYS = 30, 31, 1
"""Longest retention whose data are deleted day by day; days after which the data of a longer one are deleted."""
_DAY_SECONDS = 86_400
_BYTES_PER_SERIES = 1 << 10
"""Memory of a storage pod for an active series, in bytes."""
_SAMPLES_PER_CPU = 300_000
"""Samples that one CPU inserts in a second."""
_SPARE = 2
"""Factor of the requests for peaks: half of memory and CPU stay free."""


class Requests(Struct, kw_only=False):
    """Resource requests of a pod."""

    cpu_millis: int
    memory_mebibytes: int


def capacity(store: MetricsStoreSpec) -> int:
    """Return the number of active series for which ``store`` has space until the end of its retention."""
    usable = store.storage_pods * bytes_of(store.size) * (100 - FREE_PERCENT) // 100
    return usable // bytes_per_series(store.retention_days)


def bytes_per_series(retention_days: int) -> int:
    """Return the bytes of a series on all storage pods, with its index and its replicas."""
    days = retention_days + (_MONTH_DAYS if retention_days > _LONG_DAYS else _CYCLE_DAYS)
    samples = days * _DAY_SECONDS // SCRAPE_SECONDS
    return samples * BYTES_PER_SAMPLE * (100 + INDEX_PERCENT) * REPLICATION_FACTOR // 100


def storage_requests(store: MetricsStoreSpec) -> Requests:
    """Return the requests of a storage pod."""
    series = capacity(store) * REPLICATION_FACTOR // store.storage_pods
    return Requests(_cpu_millis(series), _rounded_up(_SPARE * series * _BYTES_PER_SERIES, 1 << 20))


def insert_cpu_millis(store: MetricsStoreSpec, replicas: int) -> int:
    """Return the CPU request of each of ``replicas`` pods that receive all samples, in thousandths."""
    return _cpu_millis(capacity(store) // replicas)


def _cpu_millis(series: int) -> int:
    return _rounded_up(_SPARE * series * 1000, SCRAPE_SECONDS * _SAMPLES_PER_CPU)


def _rounded_up(value: int, unit: int) -> int:
    return -(-value // unit)
