"""Alerts for objects of Flux, Cluster API, Metal3 and DPF in the management cluster.

Releases in tenants' clusters, pools, nodes and control planes are objects of the management cluster. Metrics:
``components.render.region.controllers.object_metrics``.
"""

from collections.abc import Iterator
from typing import Any

from components.render.manifest import Manifest
from components.render.region.controllers.object_metrics import FLUX, UP_TO_DATE
from components.render.region.monitors import Audience, alert, prometheus_rule
from components.specs.region.thresholds import Thresholds, TunableAlert

CLUSTER_NOT_AVAILABLE, GROUP_NOT_AVAILABLE = "ClusterNotAvailable", "RolloutGroupNotAvailable"
NODE_UNHEALTHY = "NodeUnhealthy"
ROLLOUT_IN_PROGRESS = "RolloutInProgress"
_NAME = "platform-objects"
_STALLED = "120m"
"""Time in which a node is drained, deprovisioned, booted and joined, with a reserve for large servers."""
_AFTER_FAULT = "3m"
"""Time after which an alert about the fault itself fires, if there is one: its series must be scraped, and vmalert
evaluates a rule each minute with samples that are 30 s old (VM:app/vmalert/rule/group.go)."""
_SOON = "1m"
"""Hold time of a condition that is False only after a hold time of its health check."""
_BLOCKED = "60m"
"""Hold time of an empty installation, longer than a pause between two DPUs."""
_INSTALLS = "Initialize Interface|Config FW Parameters|Prepare BFB|OS Installing|Perform ARM Force Restart"
"""Phases of a DPU that is flashed. A DPU also occupies one of DPF's places in phase ``Node Effect`` before, while it is
held (DPF:internal/provisioning/controllers/dpu/state/pending.go)."""
_IN_SERVICE = "Ready|Node Effect"
"""Phases of a DPU whose host can be in use. A changed service holds a ready DPU in phase ``Node Effect``
(DPF:internal/provisioning/controllers/dpu/state/ready.go). A new DPU has no operational conditions in that phase,
because it has not joined its cluster (DPF:internal/dpuservice/controllers/dpuready_controller_conditions.go)."""


def rules(namespace: str, *groups: dict[str, Any], thresholds: Thresholds, dpf: bool) -> Manifest:
    """Return the alerts for releases, clusters, pools and nodes whose conditions report a fault, and ``groups``.

    With ``dpf``, DPUs have alerts too.
    """
    kinds = "|".join(kind for _, kind, _ in FLUX.values())
    unavailable = 'status_condition{type="Available",status="False"} == 1'
    machine, unhealthy = "capi_machine_status_condition", 'type="HealthCheckSucceeded",status="False"'
    alerts = [
        alert(
            "ReleaseNotReady",
            "warning",
            f'gotk_resource_info{{customresource_kind=~"{kinds}",ready!="True",suspended!="true"}} == 1',
            "Flux did not install or upgrade this object, or its pods are not ready; see its condition Ready.",
        ),
        alert(
            CLUSTER_NOT_AVAILABLE,
            "critical",
            f"capi_cluster_{unavailable}",
            "Cluster API reports the cluster as not available; see its condition Available.",
            audience=Audience.TENANT,
        ),
        alert(
            GROUP_NOT_AVAILABLE,
            "warning",
            f"capi_machinedeployment_{unavailable}",
            "More nodes of the rollout group are away than its rollout permits; see the condition Available of its"
            " MachineDeployment.",
            audience=Audience.TENANT,
        ),
        alert(
            ROLLOUT_IN_PROGRESS,
            "info",
            'capi_machinedeployment_status_condition{type="RollingOut",status="True"} == 1',
            "Nodes of the rollout group are being replaced; alerts about agents of the cluster are not sent meanwhile.",
            audience=Audience.TENANT,
            hold=_SOON,
        ),
        alert(
            NODE_UNHEALTHY,
            "warning",
            f"{machine}{{{unhealthy}}} * on (cluster) group_left (tenant) capi_cluster_info == 1",
            "A node failed its health check, and is repaired or replaced unless too many nodes have faults; see the"
            " condition HealthCheckSucceeded of its Machine.",
            audience=Audience.TENANT,
            hold=_AFTER_FAULT,
        ),
        alert(
            "NoSpareForNode",
            "warning",
            f'{machine}{{{unhealthy},waits_for="spare"}} == 1',
            "Reboots did not repair a node, and no host is free in its failure domain to replace it. Return a repaired"
            " host to production, or assign more hosts.",
        ),
    ]
    alerts += [_rollout_stalled(), *(_of_dpus() if dpf else ()), *_of_runs(thresholds.of(TunableAlert.APPLY_OLD))]
    return prometheus_rule(_NAME, _NAME, alerts, {}, *groups, namespace=namespace, labels={})


def _rollout_stalled() -> dict[str, Any]:
    rolling = 'capi_machinedeployment_status_condition{type="RollingOut",status="True",paused!="true"} == 1'
    still = f"changes(capi_machinedeployment_{UP_TO_DATE}[10m]) == 0"
    return alert(
        "RolloutStalled",
        "warning",
        f"{rolling} and on (namespace, name) {still}",
        "A rollout that is not paused has replaced no node for two hours; 'jacquard status' lists the nodes that it"
        " waits for.",
        hold=_STALLED,
    )


def _of_dpus() -> Iterator[dict[str, Any]]:
    """Yield the alerts about DPUs, on which the networks of tenants run."""
    yield alert(
        "DpuFailed",
        "warning",
        'dpf_dpu_status_phase{phase="Error"} == 1',
        "DPF failed to provision a DPU, and the host behind it cannot be used; see the conditions of the DPU.",
    )
    yield alert(
        "DpuInstallationsBlocked",
        "warning",
        'sum(dpf_dpu_status_phase{phase="Pending"}) > 0'
        f' unless sum(dpf_dpu_status_phase{{phase=~"{_INSTALLS}"}}) > 0',
        "DPUs wait for a flash, and DPF flashes none: held DPUs occupy all places, or the image is not ready.",
        hold=_BLOCKED,
    )
    yield alert(
        "DpuNotOperational",
        "warning",
        'dpf_dpu_operational_condition{type="OperationalReady",status!="True"} == 1'
        f' and on (name) dpf_dpu_status_phase{{phase=~"{_IN_SERVICE}"}} == 1',
        "The services on a DPU are not ready: the host behind it may have no network in its VPC.",
    )


def _of_runs(old_days: int) -> tuple[dict[str, Any], ...]:
    """Return the alerts on metrics that commands write with ``--metrics-file`` for node-exporter."""
    return (
        alert(
            "DriftFound",
            "warning",
            "jacquard_drift_objects > 0",
            "Objects of the region differ from the data; 'jacquard drift' lists them and who changed them.",
        ),
        alert(
            "ApplyOld",
            "warning",
            f'time() - jacquard_run_last_success_time_seconds{{command="up"}} > {old_days * 86_400}',
            f"No 'jacquard up' of the environment succeeded for {old_days} days: the region may differ from the data.",
        ),
    )
