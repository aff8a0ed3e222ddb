"""Keys of pools, rollout groups, waves and VMs in lock files: the only place that joins and splits them.

They stay text: a region has thousands, and nearly all work on them is to look them up.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

DPUS = "dpus"
"""What all DPUs of a region are called where a pool could stand: they roll like the groups of one."""
CHARTS = "charts"
"""What stands for a cluster where a chart is promoted: a chart rolls over clusters like a pool over its groups."""
GROUP_KEY = r"^[^/]+/[^/]+/[^/]+$"
POOL_KEY = r"^[^/]+/[^/]+$"
PROMOTED_KEY = r"^dpus$|^[^/]+/[^/]+$"
WAVE_KEY = r"^(dpus|[^/]+/[^/]+)/[0-9]{1,4}$"
DPU_KEY = r"^dpus/[^/]+$"
CHART_KEY = r"^charts/[^/]+/[^/]+$"
GroupKey = Annotated[str, StringConstraints(pattern=GROUP_KEY)]
"""Rollout group, ``cluster/pool/failure-domain``."""
PoolKey = Annotated[str, StringConstraints(pattern=POOL_KEY)]
"""Pool, ``cluster/pool``."""
PromotedKey = Annotated[str, StringConstraints(pattern=PROMOTED_KEY)]
"""What is promoted, ``cluster/pool``, ``charts/chart`` or ``dpus``."""
WaveKey = Annotated[str, StringConstraints(pattern=WAVE_KEY)]
"""Wave of an open rollout, by what is promoted and its number."""
DpuKey = Annotated[str, StringConstraints(pattern=DPU_KEY)]
"""DPUs of one DPUDeployment, ``dpus/deployment``."""
ChartKey = Annotated[str, StringConstraints(pattern=CHART_KEY)]
"""A chart in one cluster, ``charts/chart/cluster``."""


def pool_key(cluster: str, pool: str) -> str:
    """Return the key of a pool, ``cluster/pool``."""
    return f"{cluster}/{pool}"


def group_key(pool: str, domain: str) -> str:
    """Return the key of the rollout group in ``domain`` of the pool with the key ``pool``, or of all DPUs."""
    return f"{pool}/{domain}"


def dpu_key(deployment: str) -> str:
    """Return the key of the DPUs of a DPUDeployment, ``dpus/deployment``."""
    return group_key(DPUS, deployment)


def charts_key(chart: str) -> str:
    """Return the key of a chart in all clusters, ``charts/chart``."""
    return pool_key(CHARTS, chart)


def chart_key(chart: str, cluster: str) -> str:
    """Return the key of a chart in one cluster, ``charts/chart/cluster``."""
    return group_key(charts_key(chart), cluster)


def wave_key(promoted: str, number: int) -> str:
    """Return the key of wave ``number`` of what is ``promoted``, a pool's key, a chart's or ``dpus``."""
    return f"{promoted}/{number}"


def vm_key(cluster: str, vm: str) -> str:
    """Return the key of a VM, ``cluster/vm``."""
    return f"{cluster}/{vm}"


def holder_key(tenant: str, name: str) -> str:
    """Return the key of who holds numbers: a VPC, a cluster, or a VM by its own key, of ``tenant``."""
    return f"{tenant}/{name}"


def cluster_of(key: str) -> str:
    """Return the cluster of the key of a pool, a rollout group or a VM; nothing of the empty key."""
    return key.partition("/")[0]


def pool_of(key: str) -> str:
    """Return the key of what is promoted, a pool's, a chart's or ``dpus``, of that of a rollout group or of a wave."""
    return key.rpartition("/")[0]


def domain_of(group: str) -> str:
    """Return the failure domain of a rollout group's key; the DPUDeployment of DPUs' key, the cluster of a chart's."""
    return group.rpartition("/")[2]


def parts_of(group: str) -> tuple[str, str, str]:
    """Return cluster, pool and failure domain of a rollout group's key."""
    cluster, pool, domain = group.split("/")
    return cluster, pool, domain


def number_of(wave: str) -> int:
    """Return the number of a wave's key."""
    return int(wave.rpartition("/")[2])


def is_about_dpus(key: str) -> bool:
    """Tell whether ``key``, of whatever kind, is about DPUs and not about a pool."""
    return cluster_of(key) == DPUS


def is_about_charts(key: str) -> bool:
    """Tell whether ``key``, of whatever kind, is about a chart and not about a pool."""
    return cluster_of(key) == CHARTS
