"""Metrics of objects of Flux, Cluster API, Metal3, DPF and the slices' operator in the management cluster.

Its kube-state-metrics exports their conditions, with the metric names of upstream's dashboards
(fluxcd/flux2-monitoring-example, CAPI:config/metrics). Labels of the objects without a value are omitted
(KSM:pkg/customresourcestate/registry_factory.go addPathLabels).

The controllers of DPF have no metrics that are documented, so that DPUs are observed by their objects: their phase, and
the condition ``OperationalReady`` for the services on them (``jacquard/observe/dpu_status.py``).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from components.render import labels as keys

FLUX = {
    "helm.toolkit.fluxcd.io": ("v2", "HelmRelease", "helmreleases"),
    "kustomize.toolkit.fluxcd.io": ("v1", "Kustomization", "kustomizations"),
    "source.toolkit.fluxcd.io": ("v1", "OCIRepository", "ocirepositories"),
}
"""Version, kind and plural of Flux objects, by API group."""
_CLUSTER_API, _VERSION = "cluster.x-k8s.io", "v1beta2"
_METAL3, _METAL3_VERSION = "metal3.io", "v1alpha1"
_DPF, _DPF_VERSION = "provisioning.dpu.nvidia.com", "v1alpha1"
_STACKS, _STACKS_VERSION = "pulumi.com", "v1"
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
_READY, _STALLED = (["status", "conditions", f"[type={kind}]", "status"] for kind in ("Ready", "Stalled"))
UP_TO_DATE = "status_up_to_date_replicas"
"""Gauge of MachineDeployments, by which a rollout makes progress (CAPI:api/core/v1beta2/machinedeployment_types.go)."""


def metrics(*, dpf: bool, metal3: bool, stacks: bool) -> dict[str, Any]:
    """Return the values of kube-state-metrics.

    Args:
        dpf: whether DPUs have metrics too.
        metal3: whether hosts have metrics too.
        stacks: whether Stacks have metrics too, because an operator applies slices.
    """
    optional = (*(_dpus() if dpf else ()), *([_hosts()] if metal3 else ()), *([_slices()] if stacks else ()))
    return {
        "customResourceState": {
            "enabled": True,
            "config": {"kind": "CustomResourceStateMetrics", "spec": {"resources": [*_resources(), *optional]}},
        },
        "rbac": {"extraRules": [*_permissions(dpf=dpf, metal3=metal3, stacks=stacks)]},
    }


def _resources() -> Iterator[dict[str, Any]]:
    """Yield the metrics of each kind, in the format of kube-state-metrics."""
    for group, (version, kind, _) in FLUX.items():
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


def _slices() -> dict[str, Any]:
    """Return the metric of Stacks. The operator's own metrics ignore all failures before the first run of a slice.

    Conditions are those of PKO:operator/api/pulumi/v1/stack_types.go; a Stack has Stalled only while it is True.
    """
    state = {"exported_namespace": _SPACE, "name": ["metadata", "name"], "ready": _READY, "stalled": _STALLED}
    return {
        "groupVersionKind": {"group": _STACKS, "version": _STACKS_VERSION, "kind": "Stack"},
        "labelsFromPath": state,
        "metricNamePrefix": "pulumi",
        "metrics": [_info("stack_info", "State of a slice that the operator applies.", {})],
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
        yield {"name": UP_TO_DATE, "help": text, "each": {"type": "Gauge", "gauge": gauge}}


def _permissions(*, dpf: bool, metal3: bool, stacks: bool) -> Iterator[dict[str, list[str]]]:
    for group, (_, _, plural) in FLUX.items():
        yield {"apiGroups": [group], "resources": [plural], "verbs": ["list", "watch"]}
    plurals = [plural for plural, _ in _KINDS.values()]
    yield {"apiGroups": [_CLUSTER_API], "resources": plurals, "verbs": ["list", "watch"]}
    if dpf:
        yield {"apiGroups": [_DPF], "resources": ["dpus"], "verbs": ["list", "watch"]}
    if metal3:
        yield {"apiGroups": [_METAL3], "resources": ["baremetalhosts"], "verbs": ["list", "watch"]}
    if stacks:
        yield {"apiGroups": [_STACKS], "resources": ["stacks"], "verbs": ["list", "watch"]}
