"""Monitoring of the management cluster, with metrics and alerts for objects of Flux and Cluster API.

Releases in tenants' clusters, pools and control planes are objects of the management cluster. Its kube-state-metrics
exports their conditions, with the metric names of upstream's dashboards (fluxcd/flux2-monitoring-example,
CAPI:config/metrics).
"""

from collections.abc import Iterator
from typing import Any

from components.render.manifest import Manifest
from components.render.region.monitors import alert, prometheus_rule
from components.render.region.operators import Operator

NAMESPACE = "monitoring"
_CHART = "kube-prometheus-stack"
_FLUX = {
    "helm.toolkit.fluxcd.io": ("v2", "HelmRelease", "helmreleases"),
    "kustomize.toolkit.fluxcd.io": ("v1", "Kustomization", "kustomizations"),
    "source.toolkit.fluxcd.io": ("v1", "OCIRepository", "ocirepositories"),
}
"""Version, kind and plural of Flux objects, by API group."""
_CLUSTER_API, _VERSION = "cluster.x-k8s.io", "v1beta2"
_PLURALS = {"Cluster": "clusters", "MachineDeployment": "machinedeployments"}
"""Plural of the kinds of Cluster API, by kind."""
_READY = ["status", "conditions", "[type=Ready]", "status"]


def operator(region: str) -> Operator:
    """Return the monitoring of the management cluster. Alerts have the label ``region``."""
    return Operator(
        chart=_CHART,
        namespace=NAMESPACE,
        values={
            # Monitors of control planes are in the namespaces of the clusters and not part of this release.
            "prometheus": {
                "prometheusSpec": {
                    **{f"{what}SelectorNilUsesHelmValues": False for what in ("podMonitor", "serviceMonitor", "rule")},
                    "externalLabels": {"region": region},
                }
            },
            "kube-state-metrics": {
                "customResourceState": {
                    "enabled": True,
                    "config": {"kind": "CustomResourceStateMetrics", "spec": {"resources": [*_resources()]}},
                },
                "rbac": {"extraRules": [*_permissions()]},
            },
        },
    )


def rules() -> Manifest:
    """Return the alerts for releases that are not ready and for clusters and pools that are not available."""
    kinds = "|".join(kind for _, kind, _ in _FLUX.values())
    unavailable = 'status_condition{type="Available",status="False"} == 1'
    alerts = [
        alert(
            "ReleaseNotReady",
            "warning",
            f'gotk_resource_info{{customresource_kind=~"{kinds}",ready!="True",suspended!="true"}} == 1',
            "Flux did not install or upgrade this object, or its pods are not ready; see its condition Ready.",
        ),
        alert(
            "ClusterNotAvailable",
            "critical",
            f"capi_cluster_{unavailable}",
            "Cluster API reports the cluster as not available; see its condition Available.",
        ),
        alert(
            "RolloutGroupNotAvailable",
            "warning",
            f"capi_machinedeployment_{unavailable}",
            "More nodes of the rollout group are away than its rollout permits; see the condition Available of its"
            " MachineDeployment.",
        ),
    ]
    return prometheus_rule("platform-objects", "platform-objects", alerts, {}, namespace=NAMESPACE, labels={})


def _resources() -> Iterator[dict[str, Any]]:
    """Yield the metrics of each kind, in the format of kube-state-metrics."""
    for group, (version, kind, _) in _FLUX.items():
        labels = {"exported_namespace": ["metadata", "namespace"], "ready": _READY, "suspended": ["spec", "suspend"]}
        yield {
            "groupVersionKind": {"group": group, "version": version, "kind": kind},
            "metricNamePrefix": "gotk",
            "metrics": [
                {
                    "name": "resource_info",
                    "help": "State of an object of Flux.",
                    "each": {"type": "Info", "info": {"labelsFromPath": {"name": ["metadata", "name"]}}},
                    "labelsFromPath": labels,
                }
            ],
        }
    for kind in _PLURALS:
        condition = {
            "labelName": "status",
            "labelsFromPath": {"type": ["type"]},
            "list": ["True", "False", "Unknown"],
            "path": ["status", "conditions"],
            "valueFrom": ["status"],
        }
        yield {
            "groupVersionKind": {"group": _CLUSTER_API, "version": _VERSION, "kind": kind},
            "labelsFromPath": {"name": ["metadata", "name"], "namespace": ["metadata", "namespace"]},
            "metricNamePrefix": f"capi_{kind.lower()}",
            "metrics": [
                {
                    "name": "status_condition",
                    "help": f"Condition of a {kind}.",
                    "each": {"type": "StateSet", "stateSet": condition},
                }
            ],
        }


def _permissions() -> Iterator[dict[str, list[str]]]:
    for group, (_, _, plural) in _FLUX.items():
        yield {"apiGroups": [group], "resources": [plural], "verbs": ["list", "watch"]}
    yield {"apiGroups": [_CLUSTER_API], "resources": [*_PLURALS.values()], "verbs": ["list", "watch"]}
