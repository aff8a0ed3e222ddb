"""Metrics of GPUs that NVIDIA's exporter reads: those enabled by default, and the health of GPUs as DCGM judges it.

The exporter's own list (NVIDIA/dcgm-exporter:etc/default-counters.csv) has no metric for the results of DCGM's health
watches, such as heat. A list in a ConfigMap replaces it, so that all metrics are named here.
"""

from typing import Any

_NAME = "platform-gpu-metrics"
_GAUGE, _COUNTER, _LABEL = "gauge", "counter", "label"
HEALTH = "DCGM_EXP_GPU_HEALTH_STATUS"
"""Result of each health watch of a GPU, by the label ``health_watch``: 0 passed, 10 warning, 20 failure."""
_WATCHES = 11
"""Series of `HEALTH` for each GPU (NVIDIA/dcgm-exporter:internal/pkg/collector/gpu_health_collector.go)."""
COUNTERS: tuple[tuple[str, str, str], ...] = (
    ("DCGM_FI_DEV_SM_CLOCK", _GAUGE, "clock of the multiprocessors in MHz"),
    ("DCGM_FI_DEV_MEM_CLOCK", _GAUGE, "clock of the memory in MHz"),
    ("DCGM_FI_DEV_MEMORY_TEMP", _GAUGE, "temperature of the memory in degrees Celsius"),
    ("DCGM_FI_DEV_GPU_TEMP", _GAUGE, "temperature of the GPU in degrees Celsius"),
    ("DCGM_FI_DEV_POWER_USAGE", _GAUGE, "power in watts"),
    ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", _COUNTER, "energy since boot in millijoules"),
    ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", _COUNTER, "repeated PCIe transfers"),
    ("DCGM_FI_DEV_GPU_UTIL", _GAUGE, "utilization of the GPU in percent"),
    ("DCGM_FI_DEV_MEM_COPY_UTIL", _GAUGE, "utilization of the memory interface in percent"),
    ("DCGM_FI_DEV_ENC_UTIL", _GAUGE, "utilization of the video encoder in percent"),
    ("DCGM_FI_DEV_DEC_UTIL", _GAUGE, "utilization of the video decoder in percent"),
    ("DCGM_FI_DEV_XID_ERRORS", _GAUGE, "number of the last Xid"),
    ("DCGM_FI_DEV_FB_FREE", _GAUGE, "free memory in MiB"),
    ("DCGM_FI_DEV_FB_USED", _GAUGE, "used memory in MiB"),
    ("DCGM_FI_DEV_FB_RESERVED", _GAUGE, "reserved memory in MiB"),
    ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", _COUNTER, "transfers over all NVLinks"),
    ("DCGM_FI_DEV_VGPU_LICENSE_STATUS", _GAUGE, "whether the GPU has a licence for virtual GPUs"),
    ("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", _COUNTER, "rows of memory replaced after uncorrectable errors"),
    ("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", _COUNTER, "rows of memory replaced after correctable errors"),
    ("DCGM_FI_DEV_ROW_REMAP_FAILURE", _GAUGE, "whether a row of memory could not be replaced"),
    ("DCGM_FI_DRIVER_VERSION", _LABEL, "version of the driver"),
    ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", _GAUGE, "share of time in which the GPU computes"),
    ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", _GAUGE, "share of cycles in which tensor cores compute"),
    ("DCGM_FI_PROF_DRAM_ACTIVE", _GAUGE, "share of cycles in which the memory interface transfers"),
    ("DCGM_FI_PROF_PCIE_TX_BYTES", _GAUGE, "bytes sent over PCIe in a second"),
    ("DCGM_FI_PROF_PCIE_RX_BYTES", _GAUGE, "bytes received over PCIe in a second"),
    (HEALTH, _GAUGE, "result of each health watch of DCGM"),
)
"""Name, type and meaning of each metric. A comma separates columns, so that no meaning contains one."""
SERIES = sum(_WATCHES if name == HEALTH else kind != _LABEL for name, kind, _ in COUNTERS)
"""Series of a GPU."""


def values() -> dict[str, Any]:
    """Return the values of the GPU operator's chart that replace the list of metrics."""
    lines = "".join(f"{', '.join(counter)}\n" for counter in COUNTERS)
    return {"config": {"create": True, "name": _NAME, "data": lines}}
