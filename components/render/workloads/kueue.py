"""Settings of Kueue's chart (KUEUE:charts/kueue) for a cluster with queues, and its alerts.

- Queues are created before the first node joins, when no pod of Kueue can run. The API server accepts objects of the
  version that it stores without Kueue: ``v1beta1`` before release 0.16, ``v1beta2`` since
  (KUEUE:CHANGELOG/CHANGELOG-0.16.md). The webhooks of ClusterQueues and ResourceFlavors are about ``v1beta2`` in all
  releases. Before 0.16, the API server would convert each object for them, by another webhook of Kueue; webhooks that
  match their version only do not receive these objects. Since 0.16, the API server asks the webhooks about them, and
  ignores that no pod answers. The kinds validate most fields, and Kueue itself adds the finalizers that the webhooks
  would add (KUEUE:pkg/controller/core).
- Webhooks of jobs and pods stay closed, but only in namespaces with a queue: without Kueue, a job would otherwise start
  outside its quota.
- A job that requests a resource without a quota is never admitted. Resources of network ports and local disks have no
  quota, so Kueue ignores these (KUEUE:apis/config/v1beta2/configuration_types.go, excludeResourcePrefixes).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from components.render.namespaces import namespaces_in
from components.render.network.device_plugins import PREFIX, RESOURCES, ROCE
from components.render.region.monitors import Audience, alert
from components.specs.natural import numbers
from components.specs.struct import Struct
from components.specs.workloads.queues import QueuedKinds

CHART = "kueue"
_ADMISSION = "admissionregistration.k8s.io/v1"
_HOOKS = {
    "MutatingWebhookConfiguration": ("mclusterqueue.kb.io", "mresourceflavor.kb.io"),
    "ValidatingWebhookConfiguration": ("vclusterqueue.kb.io", "vresourceflavor.kb.io"),
}
"""Webhooks of the kinds that the library creates (KUEUE:charts/kueue/templates/webhook/manifests.yaml)."""
_FIRST_V1BETA2 = (0, 16)
"""First release whose API server stores ``v1beta2`` (KUEUE:CHANGELOG/CHANGELOG-0.16.md)."""
_FRAMEWORKS: Mapping[QueuedKinds, tuple[str, ...]] = {
    QueuedKinds.JOBS: (
        "batch/job",
        "jobset.x-k8s.io/jobset",
        "kubeflow.org/jaxjob",
        "kubeflow.org/mpijob",
        "kubeflow.org/paddlejob",
        "kubeflow.org/pytorchjob",
        "kubeflow.org/tfjob",
        "kubeflow.org/xgboostjob",
        "ray.io/raycluster",
        "ray.io/rayjob",
        "trainer.kubeflow.org/trainjob",
        "workload.codeflare.dev/appwrapper",
    ),
    QueuedKinds.PODS: ("deployment", "leaderworkerset.x-k8s.io/leaderworkerset", "pod", "statefulset"),
}
"""Integrations of Kueue (KUEUE:pkg/controller/jobs). Kueue ignores integrations whose kinds do not exist."""
_WORKERS = {
    **dict.fromkeys(("Job.batch", "Pod", "Workload.kueue.x-k8s.io"), 5),
    **dict.fromkeys(("ClusterQueue.kueue.x-k8s.io", "LocalQueue.kueue.x-k8s.io", "ResourceFlavor.kueue.x-k8s.io"), 1),
}
"""Number of objects of a kind that Kueue reconciles in parallel, as in the chart, whose configuration ours replaces
(KUEUE:charts/kueue/values.yaml). Kinds that are not listed have one worker."""
_WITHOUT_QUOTA = (
    "ephemeral-storage",
    "hugepages-",
    *sorted({f"{PREFIX}/{name.partition('_')[0]}" for name in (*RESOURCES.values(), ROCE)}),
)
"""Prefixes of resources without a quota: local disks, huge pages, and ports of fabrics."""
_FAIR = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")
"""Strategies of fair sharing in the recommended order (KUEUE:apis/config/v1beta2/configuration_types.go)."""
_WAITING = "60m"


class QueueSettings(Struct):
    """Properties of a cluster's queues that the configuration of Kueue depends on."""

    namespaces: tuple[str, ...]
    """Namespaces of all teams."""
    queued: QueuedKinds
    fair_sharing: bool


def stores_v1beta2(release: str) -> bool:
    """Return whether the API server stores queues in ``v1beta2`` with the CRDs of chart ``release``."""
    return numbers(release) >= _FIRST_V1BETA2


def webhooks(release: str) -> tuple[Mapping[str, Any], ...]:
    """Return the partial objects that are merged into the objects of chart ``release``."""
    change = {"failurePolicy": "Ignore"} if stores_v1beta2(release) else {"matchPolicy": "Exact"}
    return tuple(
        {"apiVersion": _ADMISSION, "kind": kind, "webhooks": [{"name": name, **change} for name in names]}
        for kind, names in _HOOKS.items()
    )


def configuration(queues: QueueSettings | None) -> dict[str, Any]:
    """Return the values with the configuration of the controller; empty without queues, for the chart's defaults."""
    if queues is None:
        return {}
    jobs, pods = _FRAMEWORKS[QueuedKinds.JOBS], _FRAMEWORKS[QueuedKinds.PODS]
    text = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": True},
        "controller": {"groupKindConcurrency": dict(_WORKERS)},
        "clientConnection": {"qps": 50, "burst": 100},
        "managedJobsNamespaceSelector": namespaces_in(sorted(queues.namespaces)),
        "integrations": {"frameworks": [*jobs, *(pods if queues.queued is QueuedKinds.PODS else ())]},
        "resources": {"excludeResourcePrefixes": list(_WITHOUT_QUOTA)},
        **({"fairSharing": {"preemptionStrategies": list(_FAIR)}} if queues.fair_sharing else {}),
    }
    return {"managerConfig": {"controllerManagerConfigYaml": json.dumps(text, indent=1)}}


def alerts(queues: QueueSettings | None) -> Iterator[dict[str, Any]]:
    """Yield the alerts about queues; none without queues."""
    if queues is None:
        return
    yield alert(
        "QueueInactive",
        "warning",
        'kueue_cluster_queue_status{status="pending"} == 1',
        "A queue is inactive: its jobs wait, because Kueue lacks a flavor or the topology of its pools.",
        audience=Audience.TENANT,
    )
    waiting = "sum by (cluster_queue) (kueue_pending_workloads) > 0 unless on (cluster_queue) "
    yield alert(
        "QueueBlocked",
        "warning",
        f"{waiting}(kueue_admitted_active_workloads > 0)",
        "Jobs of a queue have waited for an hour, and none runs: they exceed its quota, or fit no nodes.",
        audience=Audience.TENANT,
        hold=_WAITING,
    )
