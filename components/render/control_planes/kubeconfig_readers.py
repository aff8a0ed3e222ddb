"""Weekly restart of the pods of the management cluster that read a cluster's kubeconfig only when they start.

The administrator's kubeconfig of Cluster API contains a client certificate that is valid for one year, and the control
plane's provider replaces it before: Kamaji after `components.render.control_planes.kamaji.RENEWAL`, k0smotron after
half of the year (K0SM:internal/controller/k0smotron.io/k0smotroncluster_kubeconfig.go reconcileKubeConfigSecret, with
CAPI:util/certs/consts.go). The kubelet updates the mounted Secret, but a process keeps the certificate from its start:
client-go reads a certificate again only if the kubeconfig names files (kubernetes/client-go:transport/transport.go
loadTLSFiles). One year after its start, such a process would get no object and no event, while its pod stays ready.

Controllers that read the Secret for each request, such as Flux and Cluster API, are not affected.
"""

from collections.abc import Mapping
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import SERVICES_PRIORITY, digest, manifest
from components.render.platform_pods import KUBECTL, cron_job, pod, role
from components.specs.struct import Struct
from components.specs.times import DAY_MINUTES, HOUR_MINUTES

NAME = "kubeconfig-readers"
"""Name of the CronJob, its ServiceAccount and its role."""
FIELD_MANAGER = "jacquard-kubeconfig-readers"
"""Field manager of the annotation that restarts pods. Flux ignores fields of other managers that the chart does not
contain (HELMC:internal/action/diff.go)."""
_WEEK_DAYS = 7
_RUN_SECONDS = 300


class KubeconfigReaders(Struct):
    """Deployments in the namespace of a cluster whose pods mount the cluster's kubeconfig."""

    deployments: tuple[str, ...]
    """At least one name."""
    image: str
    """Container image of kubectl, pinned by digest."""


def render_readers(readers: KubeconfigReaders, cluster: str, labels: Mapping[str, str]) -> tuple[Manifest, ...]:
    """Return the CronJob in the namespace of ``cluster``, with a ServiceAccount and a minimal role."""
    common: dict[str, Any] = {"namespace": cluster, "labels": labels}
    rule = {
        "apiGroups": ["apps"],
        "resources": ["deployments"],
        "resourceNames": list(readers.deployments),
        "verbs": ["get", "patch"],
    }
    return (
        manifest("v1", "ServiceAccount", NAME, **common),
        *role(NAME, [rule], account=(cluster, NAME), **common),
        cron_job(NAME, _job(readers, cluster), **common, schedule=schedule(cluster), time_zone="Etc/UTC"),
    )


def schedule(cluster: str) -> str:
    """Return the weekly schedule, at a time that depends on the name, so that clusters restart at different times."""
    minutes = int(digest({"cluster": cluster}, 8), 16) % (_WEEK_DAYS * DAY_MINUTES)
    day, minutes = divmod(minutes, DAY_MINUTES)
    hour, minute = divmod(minutes, HOUR_MINUTES)
    return f"{minute} {hour} * * {day}"


def _job(readers: KubeconfigReaders, cluster: str) -> dict[str, Any]:
    container = {
        "name": KUBECTL,
        "image": readers.image,
        "command": [KUBECTL],
        "args": [
            "rollout",
            "restart",
            "deployments",
            *readers.deployments,
            f"--namespace={cluster}",
            f"--field-manager={FIELD_MANAGER}",
        ],
    }
    spec = pod(NAME, [container], priorityClassName=SERVICES_PRIORITY)
    return {"backoffLimit": 3, "activeDeadlineSeconds": _RUN_SECONDS, "template": {"spec": spec}}
