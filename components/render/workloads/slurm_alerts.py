"""Alerts about Slurm clusters, based on the pods that Slinky's operator creates (metrics of kube-state-metrics)."""

from collections.abc import Iterator
from typing import Any

from components.render.region.monitors import Audience, alert, backup_late
from components.render.workloads.slurm_backup import NAME as BACKUP
from components.render.workloads.slurm_database import NAME as DATABASE
from components.render.workloads.slurm_pool import NAMESPACE

_OF = f'namespace="{NAMESPACE}"'
_NODE_HOLD = "60m"
"""Longer than the start of a pod on a replaced node."""


def alerts() -> Iterator[dict[str, Any]]:
    """Yield the alerts about daemons and nodes; without a Slurm cluster in the namespace, none fires."""
    yield _alert(
        "SlurmControllerDown",
        "critical",
        f'kube_statefulset_status_replicas_ready{{{_OF},statefulset="slurm-controller"}} == 0',
        "slurmctld is down: running jobs continue, but no job is submitted or started.",
    )
    yield _alert(
        "SlurmAccountingDown",
        "warning",
        f'kube_statefulset_status_replicas_ready{{{_OF},statefulset="slurm-accounting"}} == 0',
        "slurmdbd is down: slurmctld keeps records of jobs until its limit, then loses them.",
    )
    yield _alert(
        "SlurmDatabaseDown",
        "warning",
        f'kube_statefulset_status_replicas_ready{{{_OF},statefulset="{DATABASE}"}} == 0',
        "The database of Slurm's accounting is down: slurmctld keeps records of jobs until its limit, then loses them.",
    )
    yield _alert(
        "SlurmBackupLate",
        "warning",
        backup_late(f'{_OF},cronjob="{BACKUP}"'),
        "No dump of the database of Slurm's accounting succeeded recently; check the logs of its last Job.",
    )
    yield _alert(
        "SlurmLoginDown",
        "warning",
        f'kube_deployment_status_replicas_available{{{_OF},deployment="login"}} == 0',
        "No login node is available: users cannot log in or submit jobs by SSH.",
    )
    yield _alert(
        "SlurmNodesNotReady",
        "warning",
        f'kube_pod_status_ready{{{_OF},condition="false",pod=~".+-[0-9]+",pod!~"slurm-.+"}} == 1',
        "Pods of Slurm nodes have not been ready for an hour: their nodes run no jobs.",
        hold=_NODE_HOLD,
    )


def _alert(name: str, severity: str, expression: str, summary: str, **further: Any) -> dict[str, Any]:
    return alert(name, severity, expression, summary, audience=Audience.TENANT, **further)
