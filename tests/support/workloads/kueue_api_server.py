"""Kueue's real controller and Kubernetes' scheduler at an API server with the queues and all nodes of a cluster.

`chart_controllers` describes what is real.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from components.inputs.workloads import queues
from components.lookups.pools import PlacedCluster
from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.workloads.queues import QueuesInput
from components.specs.environment import Environment
from components.specs.keys import pool_key
from jacquard.lab.rehearsal import ports
from jacquard.lab.toolchain import binaries
from jacquard.providers.kube import ApiError, ObjectRef
from tests.support.add_ons.chart_controllers import FLAGS, START_SECONDS, ChartController, node
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.local_regions.local_region import wait_until
from tests.support.machine.programs import Programs

JOB, WORKLOAD = ("batch/v1", "Job"), ("kueue.x-k8s.io/v1beta1", "Workload")
ABSENT = "test.example/no-pods"
"""Manager of jobs whose pods are not created; Kueue admits and evicts such jobs like all others."""
_CONTROLLERS = (
    "job-controller",
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "garbage-collector-controller",
    "pod-garbage-collector-controller",
)
_SERIES = re.compile(r"(?P<name>[a-z_]+)(\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')


class KueueCluster:
    """A cluster with our queues, Kueue and a scheduler; `stop` ends all programs.

    ``prepare`` is called with the API server before Kueue starts.

    Raises:
        ToolchainError: Kueue or the scheduler is not built.
    """

    def __init__(
        self,
        folder: Path,
        environment: Environment,
        placed: PlacedCluster,
        prepare: Callable[[LocalApiServer], None] = lambda _: None,
    ) -> None:
        self._folder, self._placed = folder, placed
        kueue, scheduler = binaries.path("kueue-controller"), binaries.path("kube-scheduler")
        [self.queues] = queues.of_cluster(environment, placed)
        self.objects: tuple[Manifest, ...] = ()
        self.hosts = {host.host: host for host in environment.hosts}
        self._programs = Programs(folder)
        self._server = LocalApiServer(folder / "api", kinds=(), controllers=_CONTROLLERS, flags=FLAGS)
        self.api = self._server.api
        controller = ChartController(
            chart="kueue",
            namespace="kueue-system",
            service="kueue-webhook-service",
            secret="kueue-webhook-server-cert",
            folder=folder,
            server=self._server,
        )
        try:
            self._metrics = controller.install(environment, placed)
            for name in (name for team in self.queues.spec.teams for name in team.namespaces):
                self._server.namespace(name)
            self.change(self.queues)
            self._add_nodes(environment)
            prepare(self._server)
            config, scheduling = f"--kubeconfig={self._server.kubeconfig}", ("--leader-elect=false", "--secure-port=0")
            self._programs.start("kube-scheduler", str(scheduler), config, *scheduling)
            arguments = (f"--config={controller.configuration}", "--zap-log-level=2")
            gates = "--feature-gates=VisibilityOnDemand=false"
            self._programs.start("kueue", str(kueue), config, *arguments, gates)
            controller.mount_certificates()
            wait_until(self._serves, timeout_seconds=START_SECONDS, what=f"Kueue's webhooks answer; see {folder}")
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        self._programs.stop()
        self._server.stop()

    def change(self, queued: QueuesInput) -> None:
        """Apply objects of other queues, and delete those that are no longer rendered, without waiting."""
        rendered = queued.render()
        for item in rendered:
            self.api.apply(dict(item.body), field_manager="jacquard", force=True)
        kept = {ObjectRef.of(item.body) for item in rendered}
        for item in reversed(self.objects):
            if ObjectRef.of(item.body) not in kept:
                self.api.delete(ObjectRef.of(item.body))
        self.queues, self.objects = queued, rendered

    def metrics(self) -> Iterator[tuple[str, dict[str, str], float]]:
        """Yield name, labels and value of each series that Kueue exports."""
        [user] = json.loads(self._server.kubeconfig.read_text())["users"]
        url, login = f"https://{ports.LOOPBACK}:{self._metrics}/metrics", f"Bearer {user['user']['token']}"
        trusted = ssl._create_unverified_context()  # noqa: S323  (Kueue makes a certificate that no file has)
        with urlopen(Request(url, headers={"Authorization": login}), context=trusted) as answer:
            for line in answer.read().decode().splitlines():
                if found := _SERIES.fullmatch(line):
                    yield found["name"], dict(_LABEL.findall(found["labels"] or "")), float(found["value"])

    def live(self, item: Manifest) -> dict[str, Any]:
        """Return the live object of a rendered object."""
        body = self.api.get(ObjectRef.of(item.body))
        assert body is not None, item
        return body

    def submit(
        self, name: str, namespace: str, nodes: int, group: str, *, rack: bool = False, pods: bool = True
    ) -> None:
        """Create a job in class ``group`` that takes all GPUs of ``nodes`` nodes, of one rack if ``rack``."""
        self._create(
            JOB,
            name,
            namespace,
            group,
            {
                "parallelism": nodes,
                "completions": nodes,
                "template": self._template(
                    {"kueue.x-k8s.io/podset-required-topology": keys.RACK} if rack else {}, "Never"
                ),
                **({} if pods else {"managedBy": ABSENT}),
            },
        )

    def deploy(self, name: str, namespace: str, replicas: int, group: str) -> None:
        """Create a deployment in class ``group``; each pod takes all GPUs of a node."""
        template = self._template({}, "Always")
        template["metadata"]["labels"] = {"app": name}
        spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
        self._create(("apps/v1", "Deployment"), name, namespace, group, spec)

    def finish(self, name: str, namespace: str) -> None:
        """Report a job without pods as complete, as its manager would."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        ref = ObjectRef(*JOB, name, namespace)
        count = (self.api.get(ref) or {})["spec"]["completions"]
        done = [{"type": kind, "status": "True", "reason": "Test"} for kind in ("SuccessCriteriaMet", "Complete")]
        times = {"startTime": now, "completionTime": now}
        status = {"status": {**times, "succeeded": count, "conditions": done}}
        self.api.patch(ref, status, subresource="status", field_manager="test")

    def workload(self, name: str, namespace: str) -> dict[str, Any]:
        """Return the workload of a job; empty until Kueue creates it."""
        for body in self.api.list(*WORKLOAD, namespace=namespace):
            if any(owner["name"] == name for owner in body["metadata"].get("ownerReferences", ())):
                return body
        return {}

    def is_true(self, kind: str, name: str, namespace: str) -> bool:
        return condition(self.workload(name, namespace), kind).get("status") == "True"

    def await_admission(self, name: str, namespace: str) -> None:
        wait_until(
            lambda: self.is_true("Admitted", name, namespace),
            timeout_seconds=120,
            what=f"{name} is admitted: {self.workload(name, namespace).get('status')}",
        )

    def await_refusal(self, name: str, namespace: str, reason: str) -> None:
        """Wait until Kueue reports ``reason`` for not admitting a job."""
        wait_until(
            lambda: reason in condition(self.workload(name, namespace), "QuotaReserved").get("message", ""),
            timeout_seconds=120,
            what=f"{name} waits because of {reason!r}",
        )
        assert not self.is_true("Admitted", name, namespace)

    def assigned(self, name: str, namespace: str) -> set[str]:
        """Return the hosts that Kueue assigned to an admitted job."""
        [podset] = self.workload(name, namespace)["status"]["admission"]["podSetAssignments"]
        return {domain["values"][-1] for domain in podset["topologyAssignment"]["domains"]}

    def pods(self, namespace: str, prefix: str) -> list[dict[str, Any]]:
        listed = self.api.list("v1", "Pod", namespace=namespace)
        return [pod for pod in listed if pod["metadata"]["name"].startswith(f"{prefix}-")]

    def run_pods(self, namespace: str) -> None:
        """Report pods that have a node as running and ready, as their kubelets do."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": now}
        status = {"status": {"phase": "Running", "startTime": now, "conditions": [ready]}}
        for pod in self.api.list("v1", "Pod", namespace=namespace):
            waits = pod["status"]["phase"] == "Pending" and not pod["metadata"].get("deletionTimestamp")
            if waits and pod["spec"].get("nodeName"):
                self._report(pod, status)

    def end_deleted_pods(self, namespace: str) -> None:
        """Report deleted pods as terminated and remove them, as kubelets would.

        The pod garbage collector removes pods without a node.
        """
        for pod in self.api.list("v1", "Pod", namespace=namespace):
            if pod["metadata"].get("deletionTimestamp") and pod["spec"].get("nodeName"):
                self._report(pod, {"status": {"phase": "Failed"}})
                options = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
                path = self.api.path(ObjectRef("v1", "Pod", pod["metadata"]["name"], namespace))
                with _unless_gone():
                    self.api.request("DELETE", path, body=options)

    def _report(self, pod: dict[str, Any], status: dict[str, Any]) -> None:
        ref = ObjectRef("v1", "Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
        with _unless_gone():
            self.api.patch(ref, status, subresource="status", field_manager="kubelet")

    def _template(self, annotations: dict[str, str], restart: str) -> dict[str, Any]:
        [(resource, count)] = [pool.gpus for pool in self.queues.pools if pool.gpus]
        amounts = {"cpu": "1", "memory": "1Gi", resource: str(count)}
        container = {"name": "main", "image": "example/job", "resources": {"requests": amounts, "limits": amounts}}
        return {"metadata": {"annotations": annotations}, "spec": {"restartPolicy": restart, "containers": [container]}}

    def _create(self, kind: tuple[str, str], name: str, namespace: str, group: str, spec: dict[str, Any]) -> None:
        labels = {"kueue.x-k8s.io/priority-class": group}
        metadata = {"name": name, "namespace": namespace, "labels": labels}
        body = {"apiVersion": kind[0], "kind": kind[1], "metadata": metadata, "spec": spec}
        self.api.create(body, field_manager="test")

    def _serves(self) -> bool:
        conditions = [condition(self.live(item), "Active") for item in self.objects if item.kind == "ClusterQueue"]
        return all(item.get("status") == "True" for item in conditions)

    def _add_nodes(self, environment: Environment) -> None:
        """Create a node for each host of the pools with quotas."""
        for pool in self.queues.pools:
            key = pool_key(self._placed.cluster.name, pool.name)
            for name in (name for name, owner in environment.allocations.hosts.items() if owner == key):
                self.api.create(node(self.hosts[name], pool), field_manager="test")


@contextmanager
def _unless_gone() -> Iterator[None]:
    """Ignore the error if a controller has removed the object in the meantime."""
    try:
        yield
    except ApiError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise


def condition(body: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return a condition of an object; empty if it has none."""
    conditions = body.get("status", {}).get("conditions", ())
    return next((item for item in conditions if item["type"] == kind), {})
