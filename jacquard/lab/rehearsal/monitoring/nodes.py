"""Simulated exporters of nodes: kube-state-metrics, node-exporter and dcgm-exporter.

Names and labels are those of the real exporters (``tests/support/monitoring/recorded_metrics.yaml`` has the sources).
Values that no Kubernetes object contains, such as temperatures, are constants of an idle machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from components.specs.base import bytes_of
from jacquard.lab.rehearsal.monitoring.samples import Sample
from jacquard.lab.rehearsal.operators.hosts.gpus import GPU
from jacquard.providers.kube.objects import dig

Node = dict[str, Any]
_STATES = ("true", "false", "unknown")
_LOST = "GpuLost"
_IDLE = {
    "DCGM_FI_DEV_GPU_UTIL": 0,
    "DCGM_FI_DEV_GPU_TEMP": 35,
    "DCGM_FI_DEV_POWER_USAGE": 70,
    "DCGM_FI_DEV_XID_ERRORS": 0,
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": 0,
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": 0,
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": 0,
}
"""Metrics of an idle GPU without faults."""


def name_of(node: Node) -> str:
    """Return the name of a node."""
    return str(node["metadata"]["name"])


def address(node: Node) -> str | None:
    """Return the address of a node in its cluster, None while it has none."""
    found = dig(node, "status", "addresses") or ()
    return next((str(one["address"]) for one in found if one["type"] == "InternalIP"), None)


def is_ready(node: Node) -> bool:
    """Return whether the kubelet of a node responds; the exporters of another node do not respond either."""
    return any(kind == "Ready" and status == "true" for kind, status in _conditions(node))


def gpus(node: Node) -> int:
    """Return the number of GPUs that a node offers."""
    return int((dig(node, "status", "capacity") or {}).get(GPU, 0))


def kube_state(nodes: Iterable[Node]) -> Iterator[Sample]:
    """Yield the metrics of kube-state-metrics about ``nodes``."""
    for node in nodes:
        named = {"node": name_of(node)}
        for kind, held in _conditions(node):
            for state in _STATES:
                labels = {**named, "condition": kind, "status": state}
                yield Sample("kube_node_status_condition", labels, float(held == state))
        for taint in dig(node, "spec", "taints") or ():
            labels = {**named, "key": taint["key"], "value": taint.get("value", ""), "effect": taint["effect"]}
            yield Sample("kube_node_spec_taint", labels)


def node_exporter(node: Node) -> Iterator[Sample]:
    """Yield the metrics of node-exporter on ``node``, whose processors are idle."""
    capacity = dig(node, "status", "capacity") or {}
    memory = bytes_of(capacity.get("memory", "0Ki"))
    yield Sample("node_memory_MemTotal_bytes", {}, memory)
    yield Sample("node_memory_MemAvailable_bytes", {}, memory)
    for processor in range(int(capacity.get("cpu", 0))):
        yield Sample("node_cpu_seconds_total", {"cpu": str(processor), "mode": "idle"}, time.monotonic())


def dcgm_exporter(node: Node) -> Iterator[Sample]:
    """Yield the metrics of dcgm-exporter on ``node``, without the GPU that a node has lost."""
    lost = any(kind == _LOST and held == "true" for kind, held in _conditions(node))
    model = str((node["metadata"].get("labels") or {}).get("nvidia.com/gpu.product", ""))
    for index in range(gpus(node) - lost):
        labels = {
            "gpu": str(index),
            "UUID": f"GPU-{name_of(node)}-{index}",
            "pci_bus_id": f"00000000:{index:02X}:00.0",
            "device": f"nvidia{index}",
            "modelName": model,
            "Hostname": name_of(node),
        }
        for metric, value in _IDLE.items():
            yield Sample(metric, labels, value)


def _conditions(node: Node) -> Iterator[tuple[str, str]]:
    for condition in dig(node, "status", "conditions") or ():
        yield str(condition["type"]), str(condition["status"]).lower()
