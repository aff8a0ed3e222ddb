"""Alerts of an etcd: its members by their metrics, and its backup by the metrics of kube-state-metrics."""

from collections.abc import Iterator
from typing import Any

from components.render.control_planes.etcd_backup import backup_name
from components.render.control_planes.etcd_upkeep import MadeEtcd
from components.render.control_planes.etcd_verification import SECONDS, verification_name
from components.render.region.monitors import alert, since_success
from components.specs.region.thresholds import Thresholds, TunableAlert


def etcd_alerts(
    cluster: str, etcd: tuple[str, str], made: MadeEtcd, thresholds: Thresholds
) -> Iterator[dict[str, Any]]:
    """Yield the alerts of an etcd.

    Args:
        cluster: label ``cluster`` of the series of its members.
        etcd: namespace and name of the etcd.
        made: its definition.
        thresholds: thresholds of the region.
    """
    limit = thresholds.of(TunableAlert.ETCD_NEARLY_FULL)
    of = f'job="etcd",cluster="{cluster}"'
    used = f"etcd_mvcc_db_total_size_in_bytes{{{of}}} / etcd_server_quota_backend_bytes{{{of}}}"
    yield alert(
        "EtcdWithoutLeader",
        "critical",
        f"min(etcd_server_has_leader{{{of}}}) == 0",
        "An etcd member has no leader.",
    )
    yield alert(
        "EtcdNearlyFull",
        "warning",
        f"max({used}) > {limit / 100}",
        f"etcd uses more than {limit} % of its quota; at 100 % only reads and deletions are possible.",
    )
    if made.upkeep.backup is not None:
        yield from _of_backup(etcd, made.upkeep.backup.recovery_point_minutes)


def _of_backup(etcd: tuple[str, str], minutes: int) -> Iterator[dict[str, Any]]:
    namespace, name = etcd
    saved = f'namespace="{namespace}",cronjob="{backup_name(name)}"'
    yield alert(
        "RecoveryPointMissed",
        "critical",
        f"{since_success(saved)} > {60 * minutes}",
        f"No snapshot of the etcd succeeded for {minutes} min: a loss of the etcd now would lose"
        " more changes than the recovery point allows.",
    )
    verified = f'namespace="{namespace}",cronjob="{verification_name(name)}"'
    yield alert(
        "BackupNotVerified",
        "warning",
        f"{_unfinished(verified)} or {_overdue(verified)}",
        "The last verification of the backup failed or did not run: its newest snapshot may be useless.",
    )


def _unfinished(of: str) -> str:
    """Return the condition that the last run of the CronJob with the labels ``of`` has not succeeded in time."""
    ran = f"kube_cronjob_status_last_schedule_time{{{of}}}"
    succeeded = f"(kube_cronjob_status_last_successful_time{{{of}}} or kube_cronjob_created{{{of}}})"
    return f"({ran} > {succeeded} and time() - {ran} > {SECONDS})"


def _overdue(of: str) -> str:
    """Return the condition that the next run of the CronJob with the labels ``of`` has not started in time."""
    return f"time() - kube_cronjob_next_schedule_time{{{of}}} > {SECONDS}"
