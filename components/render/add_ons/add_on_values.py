"""Values of add-on charts: placement of pods, and replacements for unsuitable defaults.

Services and agents have Kubernetes' built-in priorities, so that tenant jobs cannot preempt their pods. This module
sets the priority if upstream's default differs. A chart without an entry is installed with its default values.
"""

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from components.render.add_ons import cni, metrics_writer
from components.render.add_ons.cluster_facts import ClusterFacts
from components.render.add_ons.pod_priorities import AGENT, SERVICE
from components.render.health import monitors, quarantine
from components.render.memory_limits import by_nodes
from components.render.pod_placement import CRITICAL, EVERY_NODE
from components.render.pools import compute_domains, gpu_sharing
from components.render.pools.node_paths import NodePaths
from components.render.region.logs import collector
from components.render.workloads import kueue, serving, slurm_pool

GPU_OPERATOR = "gpu-operator"
METALLB = "metallb"
_MILLICPU, _MEBIBYTES = 100, 200
"""Base requests of metrics-server; upstream adds a thousandth of a CPU and 2 MiB for each node above 100."""


def _node_features(facts: ClusterFacts) -> dict[str, Any]:
    return {
        "priorityClassName": SERVICE,
        # Taints of rules are disabled by default (NFD:docs/usage/customization-guide.md).
        "master": {**facts.placement, "enableTaints": True, "resources": by_nodes(4096, facts.nodes)},
        "gc": facts.placement,
        "worker": {"tolerations": EVERY_NODE, "priorityClassName": AGENT},
    }


def _gpus(facts: ClusterFacts) -> dict[str, Any]:
    return {
        # The golden image contains the driver, and Node Feature Discovery is a separate add-on.
        "driver": {"enabled": False},
        "nfd": {"enabled": False},
        # Flux owns the CRDs.
        "operator": {**facts.placement, "upgradeCRD": False, "resources": by_nodes(350, facts.nodes)},
        "daemonsets": {"tolerations": EVERY_NODE, "rollingUpdate": {"maxUnavailable": "10%"}},
        **_toolkit(facts.node_paths),
        **gpu_sharing.values(facts.gpu_sharing),
        # The CRD exists only if an add-on provides monitoring.
        "dcgmExporter": {"serviceMonitor": {"enabled": False}},
    }


def _toolkit(paths: NodePaths) -> dict[str, Any]:
    """Return where NVIDIA's toolkit finds a containerd that the distribution configures; empty for its defaults.

    The toolkit writes the runtimes to a drop-in file, and an import of that file to ``CONTAINERD_CONFIG``. The latter
    must not be the generated file: without its first line, a comment, k0s no longer generates it, and k0s imports the
    drop-in file anyway. The format of the drop-in file is that of the generated file. By default, the toolkit calls
    ``containerd config dump``, but the containerd of k0s is not in the path (CTK:cmd/nvidia-ctk-installer/container).
    """
    if not paths.config_is_generated:
        return {}
    environment = {
        "CONTAINERD_CONFIG": str(PurePosixPath(paths.config).with_name("nvidia-toolkit.toml")),
        "CONTAINERD_SOCKET": paths.socket,
        "RUNTIME_CONFIG_SOURCE": f"file={paths.config}",
        "RUNTIME_DROP_IN_CONFIG": f"{paths.drop_ins}/nvidia.toml",
    }
    return {"toolkit": {"env": [{"name": name, "value": value} for name, value in environment.items()]}}


def _node_problems(facts: ClusterFacts) -> dict[str, Any]:
    custom = [f"/custom-config/{monitors.MONITOR}"]
    return {
        "tolerations": EVERY_NODE,
        "settings": {
            "log_monitors": [*monitors.UPSTREAM_MONITORS, *custom],
            "custom_monitor_definitions": {monitors.MONITOR: monitors.monitor(facts.every_check)},
        },
    }


def _node_readiness(facts: ClusterFacts) -> dict[str, Any]:
    return {
        **facts.placement,
        # With two replicas the leader is replaced at once when its node fails.
        "replicaCount": 2,
        "priorityClassName": SERVICE,
        # It lists all nodes for each rule (NRC:internal/controller/nodereadinessrule_controller.go, Reconcile).
        "resources": by_nodes(128, facts.nodes),
    }


def _metrics(facts: ClusterFacts) -> dict[str, Any]:
    more = max(0, facts.nodes - 100)
    return {
        "replicas": 2,
        # Kubelets have self-signed certificates.
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
        # Speakers delegate BGP sessions to frr-k8s, a subchart.
        "frr-k8s": {"frrk8s": everywhere},
        # Pools are created before the first node joins, when the controller's webhooks are not available yet.
        "crds": {"validationFailurePolicy": "Ignore"},
    }


def _cert_manager(facts: ClusterFacts) -> dict[str, Any]:
    tolerated = {"tolerations": facts.placement["tolerations"]}
    return {
        "crds": {"enabled": True},
        # This job fails until a node is ready.
        "startupapicheck": {"enabled": False},
        "global": {**facts.selected, "priorityClassName": SERVICE},
        **dict.fromkeys(("webhook", "cainjector"), tolerated),
        **tolerated,
    }


def _monitoring(facts: ClusterFacts) -> dict[str, Any]:
    placed = facts.placement
    # Prometheus also selects monitors and rules of other releases.
    every = {f"{kind}SelectorNilUsesHelmValues": False for kind in ("podMonitor", "serviceMonitor", "rule")}
    labels = {"region": facts.region, "tenant": facts.tenant, "cluster": facts.name}
    # Prometheus cannot scrape a control plane outside the cluster, or kube-proxy, which listens on localhost only.
    elsewhere = ("kubeControllerManager", "kubeScheduler", "kubeEtcd", "kubeProxy")
    return {
        **{part: {"enabled": False} for part in elsewhere},
        # These hooks fail until a node is ready; the operator's certificate depends on them.
        "prometheusOperator": {
            **placed,
            "admissionWebhooks": {"enabled": False},
            "tls": {"enabled": False},
            "kubeletEndpointSliceEnabled": True,
        },
        "prometheus": {
            **metrics_writer.release_values(facts.writer, facts.name),
            "prometheusSpec": {
                **placed,
                **every,
                # Kubernetes writes only the first 1,000 pods of a Service to its Endpoints, such as exporters of nodes
                # (KUBERNETES:pkg/controller/endpoint/endpoints_controller.go maxCapacity).
                "serviceDiscoveryRole": "EndpointSlice",
                "externalLabels": labels,
                **metrics_writer.prometheus_values(facts.writer),
            },
        },
        "alertmanager": {"alertmanagerSpec": placed, **metrics_writer.without(facts.writer)},
        "grafana": {**placed, **metrics_writer.without(facts.writer)},
        "kube-state-metrics": placed,
        "prometheus-node-exporter": {"tolerations": EVERY_NODE},
        **metrics_writer.rules(facts.writer),
    }


def _kueue(facts: ClusterFacts) -> dict[str, Any]:
    manager = {"priorityClassName": SERVICE, "resources": by_nodes(512, facts.nodes)}
    return {
        "controllerManager": {**facts.placement, "manager": manager},
        **kueue.configuration(facts.queues),
    }


def _serving(facts: ClusterFacts) -> dict[str, Any]:
    return {
        # API servers ask the webhook about each pod of a group; one of two replicas leads.
        "replicaCount": 2,
        # An empty tag is the version of the chart; the values of the chart's source name the main branch.
        "image": {"manager": {"tag": "", "pullPolicy": "IfNotPresent"}},
        **facts.placement,
    }


def _slurm(facts: ClusterFacts) -> dict[str, Any]:
    return {
        "priorityClassName": SERVICE,
        # The kinds are in a subchart that is disabled by default; the operator cannot start without them.
        "crds": {"enabled": True},
        "operator": facts.affine_placement,
        # API servers ask the webhook about each pod that the scheduler binds.
        "webhook": {**facts.affine_placement, "replicas": 2, "pdb": {"enabled": True}},
    }


def _logs(facts: ClusterFacts) -> dict[str, Any]:
    return collector.values(facts.logs) if facts.logs else {}


VALUES: Mapping[str, Callable[[ClusterFacts], dict[str, Any]]] = {
    cni.CILIUM: cni.cilium,
    cni.CALICO: cni.calico,
    "node-feature-discovery": _node_features,
    GPU_OPERATOR: _gpus,
    compute_domains.CHART: compute_domains.values,
    "node-problem-detector": _node_problems,
    quarantine.CHART: _node_readiness,
    "metrics-server": _metrics,
    METALLB: _metallb,
    "cert-manager": _cert_manager,
    metrics_writer.CHART: _monitoring,
    collector.CHART: _logs,
    kueue.CHART: _kueue,
    serving.CHART: _serving,
    slurm_pool.CHART: _slurm,
}
"""Functions that return the values, by chart."""
_BINDINGS = {"name": "podsbinding-v1.kb.io", "failurePolicy": "Ignore", "timeoutSeconds": 2}
"""Webhook that copies the topology of a node to Slurm's worker pods (SLURMOP:internal/webhook/pod_binding_webhook.go).
It selects the bindings of all pods, because a Binding has no labels of its pod. With the chart's policy, Fail, no pod
of a new cluster could start: the webhook needs a certificate, and the pods of cert-manager would be refused as well."""
_KINDS = ("accounting", "controller", "loginset", "nodeset", "restapi", "token")
"""Kinds of Slurm that a webhook validates. Objects of a new cluster are applied before the webhook has a node, and
rules of `jacquard check` report what it rejects (SLURMOP:internal/webhook)."""
_MERGED: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    # The status cleaner of frr-k8s gets the tolerations of its DaemonSet. If all nodes of a cluster are drained, its
    # evicted pod would start on another cordoned node, and the drains would never end.
    METALLB: (
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "spec": {"template": {"spec": {"tolerations": [CRITICAL]}}},
        },
    ),
    # The chart has no value for the priority.
    serving.CHART: (
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "spec": {"template": {"spec": {"priorityClassName": SERVICE}}},
        },
    ),
    slurm_pool.CHART: (
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "webhooks": [{"name": f"{kind}-v1beta1.kb.io", "failurePolicy": "Ignore"} for kind in _KINDS],
        },
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "webhooks": [_BINDINGS],
        },
    ),
}


def merged(chart: str, facts: ClusterFacts) -> tuple[Mapping[str, Any], ...]:
    """Return the partial objects that are merged into the objects of ``chart``, for fields without a chart value."""
    return kueue.webhooks(facts.kueue) if chart == kueue.CHART else _MERGED.get(chart, ())
