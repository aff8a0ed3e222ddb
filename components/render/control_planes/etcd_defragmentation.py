"""Defragmentation of an etcd: free space goes back to the disk before the quota counts it as used.

A member answers nobody meanwhile, so that they take turns, the leader last, and only those that have much to give back
(github.com/ahrtr/etcd-defrag, which Kubernetes' own documentation recommends).
"""

from __future__ import annotations

from dataclasses import dataclass

from components.render.control_planes.etcd_client import CERTIFICATES, MOUNT, Etcd, job
from components.render.manifest import Manifest
from components.render.workloads import HARDENED, cron_job
from components.specs.base import CronSchedule

DEFRAGMENTATION_TOOL = "etcd-defrag"
RULE = "dbQuotaUsage > 0.8 || dbSize - dbSizeInUse > 200*1024*1024"
"""When a member is worth it: near its quota, or 200 MiB to give back (the default of k0smotron and kamaji-etcd)."""
_SECONDS = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Defragmentation:
    """When an etcd is defragmented, and the image that does it."""

    schedule: CronSchedule
    image: str


def render_defragmentation(
    name: str, namespace: str, labels: dict[str, str], etcd: Etcd, defragmentation: Defragmentation
) -> Manifest:
    """Return the CronJob ``name`` that defragments ``etcd``."""
    container = {
        "name": "defragment",
        "image": defragmentation.image,
        "args": [
            f"--endpoints={etcd.endpoint}",
            f"--cacert={CERTIFICATES}/ca.crt",
            f"--cert={CERTIFICATES}/tls.crt",
            f"--key={CERTIFICATES}/tls.key",
            "--cluster",
            "--defrag-rule",
            RULE,
        ],
        "securityContext": dict(HARDENED),
        "volumeMounts": [dict(MOUNT)],
    }
    spec = job(etcd, _SECONDS, [], containers=[container])
    return cron_job(
        name, spec, namespace=namespace, labels=labels, schedule=defragmentation.schedule, time_zone="Etc/UTC"
    )
