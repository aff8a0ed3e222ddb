"""Targets of ServiceMonitors and PodMonitors, and the program of the region behind each.

Labels are those that prometheus-operator's configuration copies from discovered Services and pods
(PO:pkg/prometheus/promcfg.go). The pods of control planes and etcds do not exist: a Service of a control plane is one
target, and the etcd of each control plane is the next member of its data store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from components.lookups.monitor_targets import matches
from components.render import labels as keys
from jacquard.lab.rehearsal import manager
from jacquard.lab.rehearsal.monitoring.observed import Discovered, Object, Observed
from jacquard.lab.rehearsal.operators.containers import program_of
from jacquard.lab.rehearsal.region import MANAGEMENT
from jacquard.providers.kube.objects import dig

API_SERVER, ETCD = "kube-apiserver", "etcd"
_CONTROL_PLANE = {
    "apiserver": API_SERVER,
    "kube-controller-manager": "kube-controller-manager",
    "kube-scheduler": "kube-scheduler",
}
"""Programs by the name of the port in the Service of a control plane."""
_CONTROLLERS = {"cluster-api": manager.NAME}
"""Programs by the label of the Service of a controller."""
NAMES, ADDRESSES = "external-dns", "metallb-controller"
SERVES_METRICS = (NAMES, ADDRESSES)
"""Programs of pods whose metrics are read."""
_INSTANCE = "app.kubernetes.io/instance"


class Program(NamedTuple):
    """A program that serves metrics."""

    part: str
    """Part of the region."""
    pod: str = ""
    """Namespace and name of its pod, separated by ``/``; empty if the part is a single process."""


class Target(NamedTuple):
    """A target of a monitor."""

    name: str
    """Namespace and name of the Service or pod."""
    address: str
    labels: Mapping[str, str]
    program: Program | None


class Job(NamedTuple):
    """An endpoint of a monitor with its targets."""

    monitor: str
    """Cluster, kind, namespace and name, such as ``management PodMonitor data-stores/shared-etcd``."""
    name: str
    """Name of the job in the configuration."""
    endpoint: Mapping[str, Any]
    targets: tuple[Target, ...]


class _Cluster(NamedTuple):
    """A cluster whose Prometheus finds targets."""

    name: str
    labels: Mapping[str, str]
    """External labels of its Prometheus, which the targets get here."""
    discovered: Discovered


def jobs(observed: Observed) -> Iterator[Job]:
    """Yield the endpoints of all monitors of the management cluster and of clusters with an agent."""
    management = _Cluster(MANAGEMENT, {}, observed.discovered)
    agents = (_Cluster(name, agent.labels, agent.discovered) for name, agent in observed.agents.items())
    for cluster in (management, *agents):
        for monitor in cluster.discovered.service_monitors:
            for index, endpoint in enumerate(monitor["spec"]["endpoints"]):
                found = _of_services(cluster, monitor, endpoint)
                yield _job(cluster, "ServiceMonitor", monitor, index, endpoint, found)
        for monitor in cluster.discovered.pod_monitors:
            for index, endpoint in enumerate(monitor["spec"]["podMetricsEndpoints"]):
                port = _port(endpoint)
                pods = (pod for pod in cluster.discovered.pods if _selects(monitor, pod))
                found = chain(_of_pods(cluster, pods, port, str(port)), _members(monitor, str(port), observed))
                yield _job(cluster, "PodMonitor", monitor, index, endpoint, found)


def without_program(observed: Observed) -> list[str]:
    """Return the monitors that no program of the region serves, and single targets of the others."""
    found = []
    for job in jobs(observed):
        missing = [target.name for target in job.targets if target.program is None]
        if len(missing) == len(job.targets):
            found.append(job.monitor)
        elif missing:
            found.append(f"{job.monitor}: {', '.join(sorted(missing))}")
    return sorted(set(found))


def _job(
    cluster: _Cluster, kind: str, monitor: Object, index: int, endpoint: Mapping[str, Any], targets: Iterable[Target]
) -> Job:
    of = f"{monitor['metadata']['namespace']}/{monitor['metadata']['name']}"
    name = f"{kind[0].lower()}{kind[1:]}/{of}/{index}"
    # prometheus-operator sets the job of a pod to the name of its monitor, and other labels override external ones.
    labelled = (target._replace(labels={"job": of, **cluster.labels, **target.labels}) for target in targets)
    unique = name if cluster.name == MANAGEMENT else f"{cluster.name}/{name}"
    return Job(f"{cluster.name} {kind} {of}", unique, endpoint, tuple(labelled))


def _port(endpoint: Mapping[str, Any]) -> str | int:
    """Return the port of an endpoint, a name or a number: of the Service for ``port`` of a ServiceMonitor."""
    found: str | int = next(endpoint[field] for field in ("port", "portNumber", "targetPort") if field in endpoint)
    return found


def _of_services(cluster: _Cluster, monitor: Object, endpoint: Mapping[str, Any]) -> Iterator[Target]:
    wanted = _port(endpoint)
    for service in cluster.discovered.services:
        if not _selects(monitor, service):
            continue
        space, name = service["metadata"]["namespace"], service["metadata"]["name"]
        labels, selector = service["metadata"].get("labels") or {}, service["spec"].get("selector") or {}
        given = {"job": labels.get(monitor["spec"].get("jobLabel"), name), "service": name}
        behind = [
            pod
            for pod in cluster.discovered.pods
            if selector and pod["metadata"]["namespace"] == space and selector.items() <= _labels(pod).items()
        ]
        ports = service["spec"].get("ports") or ()
        named = [port for port in ports if "port" in endpoint and port.get("name") == wanted]
        # A target port is one of the pods, which the Service need not list.
        of_pods = [port.get("targetPort", port["port"]) for port in named] if "port" in endpoint else [wanted]
        for port in of_pods:
            for target in _of_pods(cluster, behind, port, str(wanted)):
                yield target._replace(labels={**target.labels, **given})
        if not behind:
            program = _of_service(space, str(labels.get(keys.METRICS)), str(wanted))
            alone = {"namespace": space, "endpoint": str(wanted), **given}
            for port in named:
                yield Target(f"{space}/{name}", f"{name}.{space}.svc:{port['port']}", alone, program)


def _of_service(namespace: str, metrics: str, port: str) -> Program | None:
    if metrics == namespace and port in _CONTROL_PLANE:
        return Program(f"{namespace}/{_CONTROL_PLANE[port]}")
    return Program(_CONTROLLERS[metrics]) if metrics in _CONTROLLERS else None


def _of_pods(cluster: _Cluster, pods: Iterable[Object], port: str | int, endpoint: str) -> Iterator[Target]:
    """Yield the running pods with a port, by its name or number, as targets of an endpoint of a monitor."""
    for pod in pods:
        if dig(pod, "status", "phase") != "Running":
            continue
        space, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        for container in pod["spec"]["containers"]:
            for found in container.get("ports") or ():
                if port in (found.get("name"), found["containerPort"]):
                    yield Target(
                        f"{space}/{name}",
                        f"{dig(pod, 'status', 'podIP') or name}:{found['containerPort']}",
                        _pod_labels(space, name, container["name"], endpoint),
                        _of_container(cluster, container, f"{space}/{name}"),
                    )


def _of_container(cluster: _Cluster, container: Object, pod: str) -> Program | None:
    program = program_of(container)
    if program is None or program.name not in SERVES_METRICS:
        return None
    return Program(f"{cluster.name}/{program.name}", pod)


def _members(monitor: Object, endpoint: str, observed: Observed) -> Iterator[Target]:
    """Yield the members of the data store whose etcd a PodMonitor selects."""
    space, etcd = monitor["metadata"]["namespace"], dig(monitor, "spec", "selector", "matchLabels", _INSTANCE)
    for index, cluster in enumerate(observed.etcds.get((space, etcd), ())):
        pod = f"{etcd}-{index}"
        labels = _pod_labels(space, pod, ETCD, endpoint)
        yield Target(f"{space}/{pod}", f"{pod}.{etcd}.{space}.svc:2381", labels, Program(f"{cluster}/{ETCD}"))


def _pod_labels(namespace: str, pod: str, container: str, endpoint: str) -> dict[str, str]:
    return {"namespace": namespace, "pod": pod, "container": container, "endpoint": endpoint}


def _selects(monitor: Object, obj: Object) -> bool:
    spaces, own = monitor["spec"].get("namespaceSelector") or {}, monitor["metadata"]["namespace"]
    within = spaces.get("any") or obj["metadata"]["namespace"] in spaces.get("matchNames", (own,))
    return bool(within) and matches(_labels(obj), monitor["spec"]["selector"])


def _labels(obj: Object) -> Mapping[str, str]:
    return obj["metadata"].get("labels") or {}
