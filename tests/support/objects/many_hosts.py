"""A region with many simulated hosts in memory, for the cost of one round of the simulated controllers.

`View` is the real class; only its API server and the mirror are replaced.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

from jacquard.lab.rehearsal.operators.hosts.agents import AGENTS
from jacquard.lab.rehearsal.operators.hosts.claims import API as CAPM3
from jacquard.lab.rehearsal.operators.hosts.claims import CLUSTER_LABEL
from jacquard.lab.rehearsal.operators.network.dpus import API as DPF
from jacquard.lab.rehearsal.operators.releases.chart_pods import merged
from jacquard.lab.rehearsal.operators.releases.helm import RELEASE
from jacquard.lab.rehearsal.operators.sealed import sealed
from jacquard.lab.rehearsal.operators.view import View
from jacquard.providers.kube import ObjectRef

CLUSTER = "acme-train"
_CAPI, _BOOTSTRAP, _METAL = "cluster.x-k8s.io/v1beta2", "bootstrap.cluster.x-k8s.io/v1beta2", "metal3.io/v1alpha1"
_READY = [{"type": "Ready", "status": "True"}]
_STATUS = {"conditions": _READY}
_HOST = "metal3.io/BareMetalHost"
"""Annotation of a Metal3Machine with namespace and name of its host."""
_PER_RACK = 8


class Store:
    """The objects of one API server, as its client and as the mirror of a `View`; each change is counted."""

    def __init__(self) -> None:
        self.changes: Counter[tuple[str, str]] = Counter()
        """Number of requests by verb and kind."""
        self._versions = itertools.count(1)
        self._kinds: dict[tuple[str, str], dict[tuple[str, str], dict[str, Any]]] = {}

    @property
    def view(self) -> View:
        """Return a view for one round."""
        return View(self, self)  # type: ignore[arg-type]

    def add(self, *bodies: dict[str, Any]) -> None:
        """Add objects without counting a request."""
        for body in bodies:
            self._put(body)

    def objects(self, api_version: str, kind: str) -> dict[tuple[str, str], dict[str, Any]]:
        return dict(self._kinds.get((api_version, kind), {}))

    def changed(self, _: dict[str, Any]) -> None:
        """Ignore: the store is always current."""

    def create(self, body: dict[str, Any], **_: Any) -> dict[str, Any]:
        return self._counted("create", body)

    def apply(self, body: dict[str, Any], **_: Any) -> dict[str, Any]:
        return self._counted("apply", body)

    def patch(self, ref: ObjectRef, patch: dict[str, Any], **_: Any) -> dict[str, Any]:
        before = self._kinds[ref.api_version, ref.kind][ref.namespace or "", ref.name]
        return self._counted("patch", merged(before, patch))

    def delete(self, ref: ObjectRef, **_: Any) -> None:
        self.changes["delete", ref.kind] += 1
        del self._kinds[ref.api_version, ref.kind][ref.namespace or "", ref.name]

    def _counted(self, verb: str, body: dict[str, Any]) -> dict[str, Any]:
        self.changes[verb, body["kind"]] += 1
        return self._put(body)

    def _put(self, body: dict[str, Any]) -> dict[str, Any]:
        number = str(next(self._versions))
        metadata = {"uid": f"uid-{number}", "generation": 1, **body["metadata"], "resourceVersion": number}
        stored: dict[str, Any] = sealed({**body, "metadata": metadata})
        place = (metadata.get("namespace", ""), metadata["name"])
        self._kinds.setdefault((body["apiVersion"], body["kind"]), {})[place] = stored
        return stored


def instructions(task: Callable[[], object]) -> int:
    """Return the number of Python's instructions that ``task`` executes, which is the same in each run."""
    count = 0

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        task()
    finally:
        sys.settrace(before)
    return count


def management(hosts: int, *, claimed: bool = True) -> Store:
    """Return the management cluster of a region with ``hosts`` hosts and as many machines of one cluster.

    Unless the hosts are ``claimed``, no host has an image yet, and each machine can claim one.
    """
    store = Store()
    cluster = {"apiVersion": _CAPI, "kind": "Cluster", "metadata": {"name": CLUSTER, "namespace": CLUSTER}}
    store.add({**cluster, "status": {"initialization": {"infrastructureProvisioned": True}}})
    data = {"apiVersion": CAPM3, "kind": "Metal3DataTemplate", "metadata": {"name": "train", "namespace": CLUSTER}}
    store.add({**data, "spec": {"metaData": {"objectNames": [{"key": "name", "object": "baremetalhost"}]}}})
    for number in range(hosts):
        store.add(*_host(number, is_claimed=claimed))
    return store


def _host(number: int, *, is_claimed: bool) -> list[dict[str, Any]]:
    rack = f"a{number // _PER_RACK:03}"
    name, machine, pool = f"{rack}-u{number % _PER_RACK:02}", f"train-{rack}-{number:05}", f"train-{rack}"
    consumer = {"apiVersion": CAPM3, "kind": "Metal3Machine", "name": machine, "namespace": CLUSTER}
    in_pool = {"namespace": CLUSTER, "labels": {CLUSTER_LABEL: CLUSTER}}
    owners = [{"kind": "Machine", "name": machine, "uid": machine}]
    of_machine = {**in_pool, "ownerReferences": owners, "annotations": {_HOST: f"{CLUSTER}/{name}"}}
    image = {"url": "https://images/gpu.raw"}
    reference = {"kind": "KubeadmConfig", "name": machine}
    provider = {"providerID": f"metal3://{CLUSTER}/{name}/{machine}"} if is_claimed else {}
    used = {"consumerRef": consumer, "image": image, "online": True} if is_claimed else {"online": True}
    state = "provisioned" if is_claimed else "available"
    return [
        {
            "apiVersion": _METAL,
            "kind": "BareMetalHost",
            "metadata": {"name": name, "namespace": CLUSTER, "labels": {"pool": pool}},
            "spec": {**used, "bmc": {"address": f"redfish-virtualmedia+https://10.1.{number // 200}.{number % 200}"}},
            "status": {"operationalStatus": "OK", "poweredOn": True, "provisioning": {"state": state}},
        },
        {
            "apiVersion": CAPM3,
            "kind": "Metal3Machine",
            "metadata": {"name": machine, **of_machine},
            "spec": {"hostSelector": {"matchLabels": {"pool": pool}}, "dataTemplate": {"name": "train"}, **provider},
            "status": _STATUS if is_claimed else {},
        },
        {
            "apiVersion": _CAPI,
            "kind": "Machine",
            "metadata": {"name": machine, **in_pool},
            "spec": {
                "clusterName": CLUSTER,
                "infrastructureRef": {"kind": "Metal3Machine", "name": machine},
                "version": "v1.35.2",
                "bootstrap": {"configRef": reference, "dataSecretName": machine},
            },
            "status": {"nodeRef": {"name": name}} if is_claimed else {},
        },
        {
            "apiVersion": _BOOTSTRAP,
            "kind": "KubeadmConfig",
            "metadata": {"name": machine, **in_pool},
            "spec": {"files": [{"path": "/etc/hosts", "content": "10.3.0.250 registry\n"}]},
        },
        {
            "apiVersion": DPF,
            "kind": "DPUDevice",
            "metadata": {"name": f"{name}-dpu", "namespace": "dpf", "labels": {"pool": pool}},
            "spec": {"serialNumber": name},
        },
        {
            "apiVersion": DPF,
            "kind": "DPUNode",
            "metadata": {"name": name, "namespace": "dpf", "labels": {"pool": pool}},
            "spec": {"dpus": [{"name": f"{name}-dpu"}]},
        },
    ]


def release(chart: str) -> dict[str, Any]:
    """Return an installed release of a chart in the cluster of the tenant."""
    spec = {
        "chartRef": {"kind": "OCIRepository", "name": chart},
        "targetNamespace": "system",
        "kubeConfig": {"secretRef": {"name": f"{CLUSTER}-kubeconfig"}},
    }
    metadata = {"name": chart, "namespace": CLUSTER}
    return {"apiVersion": RELEASE[0], "kind": RELEASE[1], "metadata": metadata, "spec": spec, "status": _STATUS}


def tenant(hosts: int, *, charts: tuple[str, ...] = ()) -> Store:
    """Return the cluster of the tenant with a node for each host, on which a pod of the agent of each chart runs."""
    store = Store()
    for number in range(hosts):
        name = f"a{number // _PER_RACK:03}-u{number % _PER_RACK:02}"
        annotations = {"kwok.x-k8s.io/node": "fake"}
        store.add(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": {}, "annotations": annotations},
                "spec": {"providerID": f"metal3://{CLUSTER}/{name}/train-{number}"},
                "status": {"nodeInfo": {"osImage": "gpu"}, "allocatable": {}, "conditions": _READY},
            }
        )
        store.add(*(_pod(AGENTS[chart].name, name) for chart in charts))
    return store


def _pod(agent: str, node: str) -> dict[str, Any]:
    owners = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": agent, "uid": agent}]
    registration = {"hostPath": {"path": "/var/lib/kubelet/plugins_registry"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{agent}-{node}", "namespace": "system", "ownerReferences": owners},
        "spec": {"nodeName": node, "containers": [{"name": "agent", "image": f"{agent}:1"}], "volumes": [registration]},
        "status": {"phase": "Running"},
    }
