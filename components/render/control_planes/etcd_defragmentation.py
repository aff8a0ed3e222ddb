"""Defragmentation of an etcd, which releases free space to the disk before the quota is exhausted.

A member does not serve requests during its defragmentation. Members are therefore defragmented one after the other, the
leader last, and only if enough space can be released (github.com/ahrtr/etcd-defrag, recommended by the Kubernetes
documentation).
"""

from components.render.control_planes.etcd_client import CERTIFICATES, MOUNT, Etcd, job
from components.render.manifest import Manifest
from components.render.platform_pods import HARDENED, cron_job
from components.specs.base import CronSchedule
from components.specs.struct import Struct

DEFRAGMENTATION_TOOL = "etcd-defrag"
RULE = "dbQuotaUsage > 0.8 || dbSize - dbSizeInUse > 200*1024*1024"
"""Condition for defragmentation of a member: more than 80 % of the quota used, or more than 200 MiB of free space (the
default of k0smotron and kamaji-etcd)."""
_SECONDS = 3600


class Defragmentation(Struct):
    """Schedule and image of the defragmentation of an etcd."""

    schedule: CronSchedule
    image: str


def render_defragmentation(
    name: str,
    namespace: str,
    labels: dict[str, str],
    etcd: Etcd,
    defragmentation: Defragmentation,
    *,
    suspend: bool = False,
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
        name,
        spec,
        namespace=namespace,
        labels=labels,
        schedule=defragmentation.schedule,
        time_zone="Etc/UTC",
        suspend=suspend,
    )
