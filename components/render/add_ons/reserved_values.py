"""Values of charts that nobody else may set, each with the reason: what the library sets, and what opens a cluster.

The data may set other values of an add-on (`components.specs.add_ons.add_on_values`). A test compares the table with
what is rendered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations

from components.render.add_ons import cni
from components.render.add_ons.add_on_values import GPU_OPERATOR, METALLB
from components.render.pools import compute_domains
from components.specs.reading.problems import listed

_PLACE = "where pods of the platform run follows from the pools and their taints"
_IMAGE = "the digest of the chart decides what runs"
_RIGHTS = "rights of the platform's pods are the chart's"
_RANK = "no job of a tenant may drive the platform's pods out"
_MONITORED = "monitors follow from whether the cluster has an add-on that gives monitoring"
_AT_ONCE = "how many agents an upgrade takes away at a time is the same everywhere"
_ELSEWHERE = "it is not in the cluster, or listens on its node alone"
_EVERYTHING = "Prometheus of the cluster reads monitors and rules of everybody"
_EARLY = "it fails as long as no node is ready"
_SIZED = "it follows from the number of nodes"
_STEPS: Mapping[str, str] = {
    **dict.fromkeys(("affinity", "nodeSelector", "tolerations", "topologySpreadConstraints"), _PLACE),
    **dict.fromkeys(("digest", "image", "images", "registry", "repository", "tag"), _IMAGE),
    **dict.fromkeys(("hostNetwork", "hostPID", "podSecurityContext", "privileged", "rbac", "securityContext"), _RIGHTS),
    "priorityClassName": _RANK,
}
"""Reasons by a key that may stand anywhere in a path."""
_NETWORK = "how packets travel is the same in every VPC, and other values would cut pods off"
_API = "agents call the API server at its own address, before there is a kube-proxy"
_PREFIX = "prefixes of pods are those of the VPC"
_KEPT: Mapping[str, Mapping[str, str]] = {
    cni.CILIUM: {
        "cluster": "the cluster is called as in the data",
        "k8sServiceHost": _API,
        "k8sServicePort": _API,
        "kubeProxyReplacement": "the backend of control planes installs kube-proxy",
        "ipam": _PREFIX,
        "routingMode": _NETWORK,
        "tunnelProtocol": _NETWORK,
        "cni": "Multus may own the folder of configurations",
        "updateStrategy": _AT_ONCE,
        "operator.replicas": "one is away while its node is replaced",
        "hubble": "its certificates would be made anew at each upgrade, and nothing reads what it sees",
        "ciliumEndpointSlice": _SIZED,
        "healthChecking": _SIZED,
        "endpointHealthChecking": _SIZED,
    },
    cni.CALICO: {
        "kubernetesServiceEndpoint": _API,
        "installation": _NETWORK,
        "goldmane": "nothing reads what it sees",
        "whisker": "nothing reads what it shows",
    },
    GPU_OPERATOR: {
        "driver": "the driver is the golden image's",
        "nfd": "Node Feature Discovery is an add-on of its own",
        "operator.upgradeCRD": "Flux owns the kinds",
        "daemonsets": _AT_ONCE,
        **dict.fromkeys(("migManager", "mig", "devicePlugin.config"), "pools say how pods share GPUs, by gpu_sharing"),
        "dcgmExporter.serviceMonitor": _MONITORED,
    },
    compute_domains.CHART: {
        **dict.fromkeys(
            ("resources", "gpuResourcesEnabledOverride"), "GPUs come by the device plugin, and compute domains by this"
        ),
        "nvidiaDriverRoot": "the driver is the golden image's",
        "controller.containers.computeDomain.env": "it follows from how many nodes an NVLink domain has",
        "kubeletPlugin.updateStrategy": _AT_ONCE,
    },
    "node-problem-detector": {
        "settings": "what counts as a problem is the same everywhere, and alerts go by it",
        "metrics": _MONITORED,
    },
    "metrics-server": {
        "args": "kubelets sign their certificates themselves",
        "replicas": "one is away while its node is replaced",
        "resources.requests": _SIZED,
        "metrics": _MONITORED,
        "serviceMonitor": _MONITORED,
    },
    METALLB: {
        "crds": "pools are there before the first node, and what could judge them is not",
        "prometheus": _MONITORED,
    },
    "cert-manager": {
        "crds": "its kinds come with it, and stay",
        "startupapicheck": _EARLY,
        "prometheus": _MONITORED,
    },
    "kube-prometheus-stack": {
        **dict.fromkeys(("kubeControllerManager", "kubeEtcd", "kubeProxy", "kubeScheduler"), _ELSEWHERE),
        "prometheus.prometheusSpec.podMonitorSelectorNilUsesHelmValues": _EVERYTHING,
        "prometheus.prometheusSpec.ruleSelectorNilUsesHelmValues": _EVERYTHING,
        "prometheus.prometheusSpec.serviceMonitorSelectorNilUsesHelmValues": _EVERYTHING,
        "prometheusOperator.admissionWebhooks": _EARLY,
        "prometheusOperator.tls": "nothing makes its certificate without the webhooks",
    },
    "kueue": {"enablePrometheus": _MONITORED, "metrics.prometheusNamespace": _MONITORED},
}
"""Reasons by chart, and by the path of a value or of what it is in."""


def why_kept(chart: str, path: str) -> str:
    """Return why nobody else may set the value of ``chart`` at ``path``; nothing where the data may."""
    kept = _KEPT.get(chart, {})
    found = [why for other, why in kept.items() if _within(path, other) or _within(other, path)]
    return next(iter((*found, *(_STEPS[step] for step in path.split(".") if step in _STEPS))), "")


def within_each_other(paths: Iterable[str]) -> str:
    """Return two of ``paths`` of which one is in the other, as an error text lists them; nothing where none is."""
    return next((listed(pair) for pair in permutations(paths, 2) if _within(pair[1], pair[0])), "")


def _within(path: str, other: str) -> bool:
    return path == other or path.startswith(f"{other}.")
