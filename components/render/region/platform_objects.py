"""Metrics and alerts for objects of Flux, Cluster API, Metal3 and DPF in the management cluster.

Releases in tenants' clusters, pools, nodes and control planes are objects of the management cluster. Its
kube-state-metrics exports their conditions, with the metric names of upstream's dashboards
(fluxcd/flux2-monitoring-example, CAPI:config/metrics). Labels of the objects without a value are omitted
(KSM:pkg/customresourcestate/registry_factory.go addPathLabels).

The controllers of DPF have no metrics that are documented, so that DPUs are observed by their objects: their phase, and
the condition ``OperationalReady`` for the services on them (``jacquard/observe/dpu_status.py``).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.region.monitors import Audience, alert, prometheus_rule
from components.specs.region.thresholds import Thresholds, TunableAlert

CLUSTER_NOT_AVAILABLE, GROUP_NOT_AVAILABLE = "ClusterNotAvailable", "RolloutGroupNotAvailable"
NODE_UNHEALTHY = "NodeUnhealthy"
ROLLOUT_IN_PROGRESS = "RolloutInProgress"
_NAME = "platform-objects"
_FLUX = {
    "helm.toolkit.fluxcd.io": ("v2", "HelmRelease", "helmreleases"),
    "kustomize.toolkit.fluxcd.io": ("v1", "Kustomization", "kustomizations"),
    "source.toolkit.fluxcd.io": ("v1", "OCIRepository", "ocirepositories"),
}
"""Version, kind and plural of Flux objects, by API group."""
_CLUSTER_API, _VERSION = "cluster.x-k8s.io", "v1beta2"
_METAL3, _METAL3_VERSION = "metal3.io", "v1alpha1"
_DPF, _DPF_VERSION = "provisioning.dpu.nvidia.com", "v1alpha1"
_PHASES = (
    "Initializing",
    "Node Effect",
    "Pending",
    "Config FW Parameters",
    "Prepare BFB",
    "OS Installing",
    "DPU Config",
    "DPU Cluster Config",
    "Host Network Configuration",
    "Ready",
    "Error",
    "Deleting",
    "Rebooting",
    "Perform ARM Force Restart",
    "Initialize Interface",
    "Node Effect Removal",
    "Checking Host Reboot Required",
)
"""Phases of a DPU, in the order of its schema (DPF v26.4.1: CRD dpus.provisioning.dpu.nvidia.com)."""
_SPACE = ["metadata", "namespace"]
_IN_CLUSTER = {"name": ["metadata", "name"], "namespace": _SPACE, "cluster": _SPACE}
"""Labels of objects of a cluster, whose namespace has its name."""
_TENANT = {"tenant": ["metadata", "labels", keys.TENANT]}
_GROUP = {"group": ["metadata", "labels", keys.GROUP]}
_PAUSED = {"paused": ["spec", "paused"]}
_KINDS: Mapping[str, tuple[str, Mapping[str, list[str]]]] = {
    "Cluster": ("clusters", _TENANT),
    "MachineDeployment": ("machinedeployments", {**_TENANT, **_GROUP, **_PAUSED}),
    "Machine": (
        "machines",
        {**_GROUP, "node": ["status", "nodeRef", "name"], "waits_for": ["metadata", "annotations", keys.WAITS_FOR]},
    ),
}
"""Plural and further labels of the kinds of Cluster API, by kind. All have the label ``cluster``."""
_CONDITIONS: Mapping[str, list[str]] = {"Machine": ["[type=HealthCheckSucceeded]"]}
"""Path below the conditions, by kind, to limit the number of series; all conditions by default."""
_READY = ["status", "conditions", "[type=Ready]", "status"]
_UP_TO_DATE = "status_up_to_date_replicas"
"""Gauge of MachineDeployments, by which a rollout makes progress (CAPI:api/core/v1beta2/machinedeployment_types.go)."""
_STALLED = "120m"
"""Time in which a node is drained, deprovisioned, booted and joined, with a reserve for large servers."""
_AFTER_FAULT = "3m"
"""Time after which an alert about the fault itself fires, if there is one: its series must be scraped, and vmalert
evaluates a rule each minute with samples that are 30 s old (VM:app/vmalert/rule/group.go)."""
_SOON = "1m"
"""Hold time of a condition that is False only after a hold time of its health check."""


def metrics(*, dpf: bool, metal3: bool) -> dict[str, Any]:
    """Return the values of kube-state-metrics: with ``dpf``, DPUs have metrics too, and with ``metal3`` hosts."""
    return {
        "customResourceState": {
            "enabled": True,
            "config": {
                "kind": "CustomResourceStateMetrics",
                "spec": {"resources": [*_resources(), *(_dpus() if dpf else ()), *([_hosts()] if metal3 else ())]},
            },
        },
        "rbac": {"extraRules": [*_permissions(dpf=dpf, metal3=metal3)]},
    }


def rules(namespace: str, *groups: dict[str, Any], thresholds: Thresholds, dpf: bool) -> Manifest:
    """Return the alerts for releases, clusters, pools and nodes whose conditions report a fault, and ``groups``.

    With ``dpf``, DPUs have alerts too.
    """
    kinds = "|".join(kind for _, kind, _ in _FLUX.values())
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
    still = f"changes(capi_machinedeployment_{_UP_TO_DATE}[10m]) == 0"
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
        "DpuNotOperational",
        "warning",
        'dpf_dpu_operational_condition{type="OperationalReady",status!="True"} == 1'
        ' and on (name) dpf_dpu_status_phase{phase="Ready"} == 1',
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


def _resources() -> Iterator[dict[str, Any]]:
    """Yield the metrics of each kind, in the format of kube-state-metrics."""
    for group, (version, kind, _) in _FLUX.items():
        info = _info("resource_info", "State of an object of Flux.", {"name": ["metadata", "name"]})
        state = {"exported_namespace": ["metadata", "namespace"], "ready": _READY, "suspended": ["spec", "suspend"]}
        yield {
            "groupVersionKind": {"group": group, "version": version, "kind": kind},
            "metricNamePrefix": "gotk",
            "metrics": [{**info, "labelsFromPath": state}],
        }
    for kind, (_, labels) in _KINDS.items():
        yield {
            "groupVersionKind": {"group": _CLUSTER_API, "version": _VERSION, "kind": kind},
            "labelsFromPath": {**_IN_CLUSTER, **labels},
            "metricNamePrefix": f"capi_{kind.lower()}",
            "metrics": [_condition(kind), *_further(kind)],
        }


def _hosts() -> dict[str, Any]:
    """Return the metric of hosts, whose status is ``error`` after a fault (BMO:apis/metal3.io/v1alpha1).

    The consumer of a host is a Metal3Machine with the name of its Machine (CAPI:internal/controllers/machineset, 1.7).
    """
    return {
        "groupVersionKind": {"group": _METAL3, "version": _METAL3_VERSION, "kind": "BareMetalHost"},
        "labelsFromPath": {
            **_IN_CLUSTER,
            "machine": ["spec", "consumerRef", "name"],
            "state": ["metadata", "labels", keys.STATE],
            "operational_status": ["status", "operationalStatus"],
            "hall": ["metadata", "labels", keys.HALL],
            "rack": ["metadata", "labels", keys.RACK],
        },
        "metricNamePrefix": "baremetalhost",
        "metrics": [_info("info", "Place and state of a host.", {})],
    }


def _dpus() -> Iterator[dict[str, Any]]:
    """Yield the metrics of DPUs."""
    phase = {"labelName": "phase", "list": [*_PHASES], "path": ["status", "phase"]}
    yield {
        "groupVersionKind": {"group": _DPF, "version": _DPF_VERSION, "kind": "DPU"},
        "labelsFromPath": {"name": ["metadata", "name"], "dpu_node": ["spec", "dpuNodeName"]},
        "metricNamePrefix": "dpf_dpu",
        "metrics": [
            _states("status_phase", "Phase of a DPU.", phase),
            _conditions("operational_condition", "Operational condition of a DPU.", "operationalConditions"),
        ],
    }


def _condition(kind: str) -> dict[str, Any]:
    return _conditions("status_condition", f"Condition of a {kind}.", "conditions", *_CONDITIONS.get(kind, []))


def _conditions(name: str, text: str, *path: str) -> dict[str, Any]:
    """Return the metric of conditions at ``path`` of the status."""
    condition = {
        "labelName": "status",
        "labelsFromPath": {"type": ["type"]},
        "list": ["True", "False", "Unknown"],
        "path": ["status", *path],
        "valueFrom": ["status"],
    }
    return _states(name, text, condition)


def _states(name: str, text: str, states: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "help": text, "each": {"type": "StateSet", "stateSet": dict(states)}}


def _info(name: str, text: str, labels: Mapping[str, list[str]]) -> dict[str, Any]:
    return {"name": name, "help": text, "each": {"type": "Info", "info": {"labelsFromPath": dict(labels)}}}


def _further(kind: str) -> Iterator[dict[str, Any]]:
    """Yield the metrics of ``kind`` in addition to its conditions."""
    if kind == "Cluster":
        yield _info("info", "Labels of a Cluster.", {})
    if kind == "MachineDeployment":
        gauge = {"path": ["status", "upToDateReplicas"], "nilIsZero": True}
        text = "Up-to-date replicas of a MachineDeployment."
        yield {"name": _UP_TO_DATE, "help": text, "each": {"type": "Gauge", "gauge": gauge}}


def _permissions(*, dpf: bool, metal3: bool) -> Iterator[dict[str, list[str]]]:
    for group, (_, _, plural) in _FLUX.items():
        yield {"apiGroups": [group], "resources": [plural], "verbs": ["list", "watch"]}
    plurals = [plural for plural, _ in _KINDS.values()]
    yield {"apiGroups": [_CLUSTER_API], "resources": plurals, "verbs": ["list", "watch"]}
    if dpf:
        yield {"apiGroups": [_DPF], "resources": ["dpus"], "verbs": ["list", "watch"]}
    if metal3:
        yield {"apiGroups": [_METAL3], "resources": ["baremetalhosts"], "verbs": ["list", "watch"]}
