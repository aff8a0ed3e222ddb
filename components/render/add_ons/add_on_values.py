"""Values of the charts that add-ons install: where their pods run, and defaults that would be wrong here.

Services and agents have Kubernetes' own priorities, so that no job of a tenant drives one out: said here where
upstream's default is another. A chart that has no entry is installed with its own defaults.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from components.render.add_ons import cni
from components.render.add_ons.cluster_facts import EVERY_NODE, ClusterFacts
from components.render.add_ons.pod_priorities import AGENT, SERVICE
from components.render.pools import compute_domains, gpu_sharing

GPU_OPERATOR = "gpu-operator"
METALLB = "metallb"
_MILLICPU, _MEBIBYTES = 100, 200
"""Least that metrics-server asks for; upstream adds a thousandth of a CPU and 2 MiB for each node above 100."""
_KERNEL_MONITORS = ["/config/kernel-monitor.json", "/config/readonly-monitor.json"]
_GPU_MONITOR = "gpu-monitor.json"
_GPU_PROBLEMS = {
    "plugin": "kmsg",
    "logPath": "/dev/kmsg",
    "lookback": "5m",
    "bufferSize": 10,
    "source": "gpu-monitor",
    "conditions": [{"type": "GpuLost", "reason": "GpuIsThere", "message": "no GPU has fallen off the bus"}],
    "rules": [
        {"type": "temporary", "reason": "GpuError", "pattern": "NVRM: Xid .*"},
        {
            "type": "permanent",
            "condition": "GpuLost",
            "reason": "GpuFellOffTheBus",
            "pattern": r"NVRM: Xid \(.*\): 79,.*",
        },
        {"type": "temporary", "reason": "LinkDown", "pattern": "mlx5_core .*: Link down"},
    ],
}
"""What the kernel says of GPUs and network cards (NVIDIA's catalogue of Xid errors; 79 does not pass by itself)."""


def _node_features(facts: ClusterFacts) -> dict[str, Any]:
    return {
        "priorityClassName": SERVICE,
        "master": facts.placement,
        "gc": facts.placement,
        "worker": {"tolerations": EVERY_NODE, "priorityClassName": AGENT},
    }


def _gpus(facts: ClusterFacts) -> dict[str, Any]:
    return {
        # The driver is the golden image's, and Node Feature Discovery an add-on of its own.
        "driver": {"enabled": False},
        "nfd": {"enabled": False},
        # Flux owns the CRDs.
        "operator": {**facts.placement, "upgradeCRD": False},
        "daemonsets": {"tolerations": EVERY_NODE, "rollingUpdate": {"maxUnavailable": "10%"}},
        **gpu_sharing.values(facts.gpu_sharing),
        # Nothing serves its kind but an add-on that gives monitoring.
        "dcgmExporter": {"serviceMonitor": {"enabled": False}},
    }


def _node_problems(facts: ClusterFacts) -> dict[str, Any]:
    gpus = {"custom_monitor_definitions": {_GPU_MONITOR: json.dumps(_GPU_PROBLEMS, indent=1)}} if facts.gpus else {}
    own = [f"/custom-config/{_GPU_MONITOR}"] if facts.gpus else []
    return {"tolerations": EVERY_NODE, "settings": {"log_monitors": [*_KERNEL_MONITORS, *own], **gpus}}


def _metrics(facts: ClusterFacts) -> dict[str, Any]:
    more = max(0, facts.nodes - 100)
    return {
        "replicas": 2,
        # Kubelets sign their certificates themselves.
        "args": ["--kubelet-insecure-tls"],
        "resources": {"requests": {"cpu": f"{_MILLICPU + more}m", "memory": f"{_MEBIBYTES + 2 * more}Mi"}},
        **facts.placement,
    }


def _metallb(facts: ClusterFacts) -> dict[str, Any]:
    everywhere = {"tolerations": EVERY_NODE, "priorityClassName": AGENT}
    controller = {**facts.placement, "priorityClassName": SERVICE}
    return {
        "controller": controller,
        "speaker": everywhere,
        # Speakers leave sessions to frr-k8s, a chart inside this one.
        "frr-k8s": {"frrk8s": everywhere},
        # Pools are there before the first node, and no controller yet that its webhooks could ask.
        "crds": {"validationFailurePolicy": "Ignore"},
    }


def _cert_manager(facts: ClusterFacts) -> dict[str, Any]:
    tolerated = {"tolerations": facts.placement["tolerations"]}
    return {
        "crds": {"enabled": True},
        # A job that fails as long as no node is ready.
        "startupapicheck": {"enabled": False},
        "global": {**facts.selected, "priorityClassName": SERVICE},
        **dict.fromkeys(("webhook", "cainjector"), tolerated),
        **tolerated,
    }


def _monitoring(facts: ClusterFacts) -> dict[str, Any]:
    placed = facts.placement
    # Monitors and rules of others are no part of this release.
    every = {f"{what}SelectorNilUsesHelmValues": False for what in ("podMonitor", "serviceMonitor", "rule")}
    # The control plane is not in the cluster, and kube-proxy listens on its node alone.
    elsewhere = ("kubeControllerManager", "kubeScheduler", "kubeEtcd", "kubeProxy")
    return {
        **{part: {"enabled": False} for part in elsewhere},
        # Hooks, which fail as long as no node is ready; what they make the operator's own certificate comes from.
        "prometheusOperator": {**placed, "admissionWebhooks": {"enabled": False}, "tls": {"enabled": False}},
        "prometheus": {"prometheusSpec": {**placed, **every}},
        "alertmanager": {"alertmanagerSpec": placed},
        "grafana": placed,
        "kube-state-metrics": placed,
        "prometheus-node-exporter": {"tolerations": EVERY_NODE},
    }


def _kueue(facts: ClusterFacts) -> dict[str, Any]:
    return {"controllerManager": {**facts.placement, "manager": {"priorityClassName": SERVICE}}}


def _slurm(_facts: ClusterFacts) -> dict[str, Any]:
    return {"priorityClassName": SERVICE}


VALUES: Mapping[str, Callable[[ClusterFacts], dict[str, Any]]] = {
    cni.CILIUM: cni.cilium,
    cni.CALICO: cni.calico,
    "node-feature-discovery": _node_features,
    GPU_OPERATOR: _gpus,
    compute_domains.CHART: compute_domains.values,
    "node-problem-detector": _node_problems,
    "metrics-server": _metrics,
    METALLB: _metallb,
    "cert-manager": _cert_manager,
    "kube-prometheus-stack": _monitoring,
    "kueue": _kueue,
    "slurm-operator": _slurm,
}
"""Values by chart."""
