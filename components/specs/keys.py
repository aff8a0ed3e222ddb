"""Keys of pools, rollout groups, waves and VMs in lock files. Only this module builds and parses the keys.

Keys are plain strings: a region has thousands, and almost all uses are dictionary lookups.
"""

from typing import Annotated

from pydantic import StringConstraints

DPUS = "dpus"
"""First part of keys of DPUs, in place of a cluster and pool. DPUs are rolled out like the groups of a pool."""
CHARTS = "charts"
"""First part of keys of charts, in place of a cluster. The rollout of a chart proceeds by cluster, as the rollout of
a pool proceeds by group."""
GROUP_KEY = r"^[^/]+/[^/]+/[^/]+$"
POOL_KEY = r"^[^/]+/[^/]+$"
PROMOTED_KEY = r"^dpus$|^[^/]+/[^/]+$"
WAVE_KEY = r"^(dpus|[^/]+/[^/]+)/[0-9]{1,4}$"
DPU_KEY = r"^dpus/[^/]+$"
CHART_KEY = r"^charts/[^/]+/[^/]+$"
GroupKey = Annotated[str, StringConstraints(pattern=GROUP_KEY)]
"""Key of a rollout group, ``cluster/pool/failure-domain``."""
PoolKey = Annotated[str, StringConstraints(pattern=POOL_KEY)]
"""Key of a pool, ``cluster/pool``."""
PromotedKey = Annotated[str, StringConstraints(pattern=PROMOTED_KEY)]
"""Key of a promotion target: ``cluster/pool``, ``charts/chart`` or ``dpus``."""
WaveKey = Annotated[str, StringConstraints(pattern=WAVE_KEY)]
"""Key of a wave of an open rollout: key of the promotion target, then the number of the wave."""
DpuKey = Annotated[str, StringConstraints(pattern=DPU_KEY)]
"""Key of the DPUs of one DPUDeployment, ``dpus/deployment``."""
ChartKey = Annotated[str, StringConstraints(pattern=CHART_KEY)]
"""Key of a chart in one cluster, ``charts/chart/cluster``."""


def pool_key(cluster: str, pool: str) -> str:
    """Return the key of a pool, ``cluster/pool``."""
    return f"{cluster}/{pool}"


def group_key(pool: str, domain: str) -> str:
    """Return the key of the rollout group in ``domain``, of the pool (or all DPUs) with the key ``pool``."""
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
    """Return the key of wave ``number`` of the promotion target ``promoted`` (key of a pool or chart, or ``dpus``)."""
    return f"{promoted}/{number}"


def vm_key(cluster: str, vm: str) -> str:
    """Return the key of a VM, ``cluster/vm``."""
    return f"{cluster}/{vm}"


def login_key(cluster: str) -> str:
    """Return the key of the address of Slurm's login nodes, ``cluster/slurm.login``, which no VM can have."""
    return f"{cluster}/slurm.login"


def holder_key(tenant: str, name: str) -> str:
    """Return the owner key of allocated numbers, ``tenant/name``. ``name`` is a VPC, a cluster or the key of a VM."""
    return f"{tenant}/{name}"


def cluster_of(key: str) -> str:
    """Return the cluster in the key of a pool, a rollout group or a VM; an empty string for an empty key."""
    return key.partition("/")[0]


def pool_of(key: str) -> str:
    """Return the key of the promotion target (pool, chart or ``dpus``) in the key of a rollout group or wave."""
    return key.rpartition("/")[0]


def domain_of(group: str) -> str:
    """Return the last part of the key of a rollout group: the failure domain, DPUDeployment or cluster (charts)."""
    return group.rpartition("/")[2]


def parts_of(group: str) -> tuple[str, str, str]:
    """Return the cluster, pool and failure domain in the key of a rollout group."""
    cluster, pool, domain = group.split("/")
    return cluster, pool, domain


def number_of(wave: str) -> int:
    """Return the number in the key of a wave."""
    return int(wave.rpartition("/")[2])


def refers_to_dpus(key: str) -> bool:
    """Return whether ``key``, of any kind, refers to DPUs and not to a pool."""
    return cluster_of(key) == DPUS


def refers_to_charts(key: str) -> bool:
    """Return whether ``key``, of any kind, refers to a chart and not to a pool."""
    return cluster_of(key) == CHARTS
