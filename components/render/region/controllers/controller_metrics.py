"""Collection of the metrics of controllers in the management cluster: a Service for the pods of each controller.

Most controllers serve their metrics by TLS, with a certificate that they sign themselves, and only to accounts that may
read the path ``/metrics``: they review the token of each request at the API server
(kubernetes-sigs/controller-runtime:pkg/metrics/filters). Prometheus sends the token of its account, whose role permits
the path (PHC:charts/kube-prometheus-stack/templates/prometheus/clusterrole.yaml). A PodMonitor cannot refer to the file
with this token, so that ServiceMonitors select the Services. Upstream documents the same settings
(CAPI:docs/book/src/tasks/diagnostics.md).

These controllers have no Service here, at the pinned versions:

- Ironic's operator has no permission to review tokens, so that all requests fail, and expects them without TLS
  (IRSO:config/rbac, IRSO:cmd/main.go).
- The provider of IronCore has no label that the other controllers in its namespace do not have.
- DPF: the source of its release is not published. Its Argo CD has one.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.platform_pods import REVIEWER, cluster_binding, service_account
from components.render.region.monitors import API_GROUP, INTERVAL
from components.specs.struct import Struct

_PORT = "metrics"
_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"  # noqa: S105 - the path of the token
_MANAGER = {"control-plane": "controller-manager"}
_NAME, _RELEASE, _COMPONENT = (f"app.kubernetes.io/{key}" for key in ("name", "instance", "component"))


class ControllerPods(Struct):
    """Pods of a controller at the pinned version of its chart, provider or manifests."""

    of: str
    """Chart, manifest artefact, or label of the provider of Cluster API."""
    version: str
    """Version at which the pods were read."""
    labels: Mapping[str, str]
    """Labels of the pods; ``{release}`` is the name of the release."""
    port: int
    source: str
    """Place of the pods in the repository of the chart, the provider or the manifests."""
    tls: bool = True
    """Whether the metrics are served by TLS, to accounts with the permission."""
    reviewer: str = ""
    """ServiceAccount that needs the permission to review tokens, since upstream's role lacks it."""
    part: str = ""
    """Value of the label ``job`` of the series; that of `of` if empty."""

    @property
    def job(self) -> str:
        """Return the label ``job`` of the series."""
        return self.part or self.of


class Installed(Struct):
    """Release of a chart, manifests or a provider in the management cluster."""

    of: str
    release: str
    namespace: str


class Controller(Struct):
    """Controller of a region whose metrics are collected."""

    pods: ControllerPods
    installed: Installed


def _provider(label: str, version: str, source: str) -> ControllerPods:
    """Return the pods of a provider of Cluster API, whose kustomization sets the label in all selectors."""
    labels = {"cluster.x-k8s.io/provider": label}
    return ControllerPods(of=label, version=version, labels=labels, port=8443, source=source)


def _k0smotron(role: str) -> ControllerPods:
    # The manifests set the usual port of HTTP and no other flag, so that it serves TLS (K0SM:cmd/main.go).
    return ControllerPods(
        of=f"{role}-k0sproject-k0smotron",
        version="v2.1.0",
        labels={"k0smotron-provider": role},
        port=8080,
        source="K0SM:config/clusterapi",
    )


def _ironcore(name: str, source: str) -> ControllerPods:
    labels = {**_MANAGER, _NAME: name}
    return ControllerPods(of="ironcore-metal", version="v0.7.0", part=name, labels=labels, port=8443, source=source)


def _metallb(name: str, component: str, port: int, part: str) -> ControllerPods:
    return ControllerPods(
        of="metallb",
        version="0.16.1",
        part=part,
        labels=_of_chart(name, component),
        port=port,
        source="MLB:charts/metallb/templates, and its dependency frr-k8s 0.0.25",
    )


def _of_chart(name: str, component: str = "") -> dict[str, str]:
    return {_NAME: name, _RELEASE: "{release}", **({_COMPONENT: component} if component else {})}


ADDRESSES, SPEAKERS, SESSIONS = "metallb-controller", "metallb-speaker", "frr-k8s"
"""Parts of MetalLB; the last one exports the metrics of BGP sessions."""
METAL3, KAMAJI, STACKS = "baremetal-operator", "kamaji", "pulumi-kubernetes-operator"
PODS: tuple[ControllerPods, ...] = (
    _provider("cluster-api", "v1.13.5", "CAPI:config/manager/manager.yaml, config/default/kustomization.yaml"),
    _provider("bootstrap-kubeadm", "v1.13.5", "CAPI:bootstrap/kubeadm/config/manager/manager.yaml"),
    _provider("ipam-metal3", "v1.13.2", "IPAM:config/manager/manager.yaml, config/default/kustomization.yaml"),
    _provider("infrastructure-metal3", "v1.13.2", "CAPM3:config/manager/manager.yaml"),
    ControllerPods(
        of="control-plane-kamaji",
        version="v0.20.0",
        labels={"cluster.x-k8s.io/provider": "kamaji"},
        port=8443,
        source="KCPP:config/manager/manager.yaml, config/default/kustomization.yaml, config/rbac, main.go",
        reviewer="capi-kamaji-controller-manager",
    ),
    _k0smotron("bootstrap"),
    _k0smotron("control-plane"),
    ControllerPods(
        of="cluster-api-operator",
        version="0.27.0",
        labels=_of_chart("cluster-api-operator", "controller"),
        port=8443,
        source="CAPIO:hack/charts/cluster-api-operator/templates/deployment.yaml",
    ),
    ControllerPods(
        of=KAMAJI,
        version="v1.36.0-26.6.4",
        labels=_of_chart(KAMAJI, "controller-manager"),
        port=8080,
        tls=False,
        source="KAM:charts/kamaji/templates/controller.yaml",
    ),
    ControllerPods(
        of=METAL3,
        version="0.13.2",
        labels={**_MANAGER, "webhook": "metal3-io-v1alpha1-baremetalhost"},
        port=8443,
        source="BMO:config/base/manager.yaml",
    ),
    ControllerPods(
        of="argo-cd",
        version="9.4.1",
        labels=_of_chart("argocd-application-controller"),
        port=8082,
        tls=False,
        source="argoproj/argo-helm:charts/argo-cd/templates/argocd-application-controller/statefulset.yaml",
    ),
    _ironcore("metal-operator", "ICM:config/manager/manager.yaml, config/default/manager_metrics_patch.yaml"),
    _ironcore("boot-operator", "ICBOOT:config/manager/manager.yaml, config/default/manager_metrics_patch.yaml"),
    _metallb("metallb", "controller", 9120, ADDRESSES),
    _metallb("metallb", "speaker", 9120, SPEAKERS),
    _metallb("frr-k8s", "frr-k8s", 9141, SESSIONS),
    ControllerPods(
        of="victoria-metrics-operator",
        version="0.67.2",
        labels=_of_chart("victoria-metrics-operator"),
        port=8080,
        tls=False,
        source="VictoriaMetrics/helm-charts:charts/victoria-metrics-operator/templates/server.yaml",
    ),
    ControllerPods(
        of=STACKS,
        version="2.9.0",
        labels=_of_chart(STACKS),
        port=8383,
        source="PKO:deploy/helm/pulumi-operator/templates/deployment.yaml, operator/cmd/main.go",
        reviewer=STACKS,
    ),
)


def controllers(installed: Iterable[Installed]) -> tuple[Controller, ...]:
    """Return the controllers among ``installed`` whose metrics are collected."""
    return tuple(
        Controller(pods=pods, installed=release) for release in installed for pods in PODS if pods.of == release.of
    )


def render(found: Iterable[Controller], namespace: str) -> Iterator[Manifest]:
    """Yield the Services of the controllers ``found``, and their monitors in ``namespace``, that of Prometheus."""
    every = tuple(found)
    yield from (_service(controller) for controller in every)
    yield from (_permission(controller) for controller in every if controller.pods.reviewer)
    for name, tls in (("controllers", True), ("controllers-plain", False)):
        if served := [controller for controller in every if controller.pods.tls is tls]:
            yield _monitor(name, namespace, served, tls=tls)


def _service(controller: Controller) -> Manifest:
    pods, installed = controller.pods, controller.installed
    return manifest(
        "v1",
        "Service",
        f"{pods.job}-metrics",
        namespace=installed.namespace,
        labels={keys.METRICS: pods.job},
        spec={
            "clusterIP": "None",
            "selector": {key: value.format(release=installed.release) for key, value in pods.labels.items()},
            "ports": [{"name": _PORT, "port": pods.port, "targetPort": pods.port}],
        },
    )


def _permission(controller: Controller) -> Manifest:
    """Return the binding with which a controller may review tokens and their access."""
    account = service_account(controller.installed.namespace, controller.pods.reviewer)
    return cluster_binding(f"{controller.pods.job}-metrics", role=REVIEWER, subject=account)


def _monitor(name: str, namespace: str, served: Iterable[Controller], *, tls: bool) -> Manifest:
    jobs = sorted({controller.pods.job for controller in served})
    spaces = sorted({controller.installed.namespace for controller in served})
    secure: dict[str, Any] = {
        "scheme": "https",
        "bearerTokenFile": _TOKEN,
        "tlsConfig": {"insecureSkipVerify": True},
    }
    spec = {
        "jobLabel": keys.METRICS,
        "namespaceSelector": {"matchNames": spaces},
        "selector": {"matchExpressions": [{"key": keys.METRICS, "operator": "In", "values": jobs}]},
        "endpoints": [{"port": _PORT, "interval": INTERVAL, **(secure if tls else {})}],
    }
    return manifest(API_GROUP, "ServiceMonitor", name, namespace=namespace, spec=spec)
