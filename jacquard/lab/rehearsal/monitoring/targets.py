"""Targets of ServiceMonitors and PodMonitors, and the program of the region behind each.

Labels are those that prometheus-operator's configuration copies from discovered Services and pods
(PO:pkg/prometheus/promcfg.go). The pods of control planes and etcds do not exist: a Service of a control plane is one
target, and the etcd of each control plane is the next member of its data store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from components.lookups.monitor_targets import matches
from components.render import labels as keys
from jacquard.lab.rehearsal import manager
from jacquard.lab.rehearsal.monitoring.observed import Object, Observed
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
    """Kind, namespace and name, such as ``PodMonitor data-stores/shared-etcd``."""
    name: str
    """Name of the job in the configuration."""
    endpoint: Mapping[str, Any]
    targets: tuple[Target, ...]


def jobs(observed: Observed) -> Iterator[Job]:
    """Yield the endpoints of all monitors of the management cluster."""
    for monitor in observed.monitors:
        for index, endpoint in enumerate(monitor["spec"]["endpoints"]):
            yield _job("ServiceMonitor", monitor, index, endpoint, _services(monitor, endpoint["port"], observed))
    for monitor in observed.pod_monitors:
        for index, endpoint in enumerate(monitor["spec"]["podMetricsEndpoints"]):
            found = (*_pods(monitor, endpoint["port"], observed), *_members(monitor, endpoint["port"], observed))
            yield _job("PodMonitor", monitor, index, endpoint, found)


def without_program(observed: Observed) -> list[str]:
    """Return each monitor that selects nothing here, and each target that no program of the region serves."""
    found = set()
    for job in jobs(observed):
        found |= {f"{job.monitor}: {target.name}" for target in job.targets if target.program is None}
        found |= set() if job.targets else {job.monitor}
    return sorted(found)


def _job(kind: str, monitor: Object, index: int, endpoint: Mapping[str, Any], targets: Iterable[Target]) -> Job:
    of = f"{monitor['metadata']['namespace']}/{monitor['metadata']['name']}"
    return Job(f"{kind} {of}", f"{kind[0].lower()}{kind[1:]}/{of}/{index}", endpoint, tuple(targets))


def _services(monitor: Object, name: str, observed: Observed) -> Iterator[Target]:
    for service in observed.services:
        if not _selects(monitor, service):
            continue
        space, labels = service["metadata"]["namespace"], service["metadata"].get("labels") or {}
        named = service["metadata"]["name"]
        for port in service["spec"].get("ports") or ():
            if port.get("name") == name:
                job = labels.get(monitor["spec"].get("jobLabel"), named)
                given = {"job": job, "namespace": space, "service": named, "endpoint": name}
                program = _of_service(space, str(labels.get(keys.METRICS)), name)
                yield Target(f"{space}/{named}", f"{named}.{space}.svc:{port['port']}", given, program)


def _of_service(namespace: str, metrics: str, port: str) -> Program | None:
    if metrics == namespace and port in _CONTROL_PLANE:
        return Program(f"{namespace}/{_CONTROL_PLANE[port]}")
    return Program(_CONTROLLERS[metrics]) if metrics in _CONTROLLERS else None


def _pods(monitor: Object, name: str, observed: Observed) -> Iterator[Target]:
    for pod in observed.pods:
        if not _selects(monitor, pod) or dig(pod, "status", "phase") != "Running":
            continue
        space, named = pod["metadata"]["namespace"], pod["metadata"]["name"]
        for container in pod["spec"]["containers"]:
            for port in container.get("ports") or ():
                if port.get("name") == name:
                    program = program_of(container)
                    yield Target(
                        f"{space}/{named}",
                        f"{dig(pod, 'status', 'podIP') or named}:{port['containerPort']}",
                        _of_pod(monitor, space, named, container["name"], name),
                        Program(f"{MANAGEMENT}/{program.name}", f"{space}/{named}") if program else None,
                    )


def _members(monitor: Object, name: str, observed: Observed) -> Iterator[Target]:
    """Yield the members of the data store whose etcd a PodMonitor selects."""
    space, etcd = monitor["metadata"]["namespace"], dig(monitor, "spec", "selector", "matchLabels", _INSTANCE)
    for index, cluster in enumerate(observed.etcds.get((space, etcd), ())):
        pod = f"{etcd}-{index}"
        labels = _of_pod(monitor, space, pod, ETCD, name)
        yield Target(f"{space}/{pod}", f"{pod}.{etcd}.{space}.svc:2381", labels, Program(f"{cluster}/{ETCD}"))


def _of_pod(monitor: Object, namespace: str, pod: str, container: str, endpoint: str) -> dict[str, str]:
    job = f"{monitor['metadata']['namespace']}/{monitor['metadata']['name']}"
    return {"job": job, "namespace": namespace, "pod": pod, "container": container, "endpoint": endpoint}


def _selects(monitor: Object, obj: Object) -> bool:
    spaces, own = monitor["spec"].get("namespaceSelector") or {}, monitor["metadata"]["namespace"]
    within = spaces.get("any") or obj["metadata"]["namespace"] in spaces.get("matchNames", (own,))
    return bool(within) and matches(obj["metadata"].get("labels") or {}, monitor["spec"]["selector"])
