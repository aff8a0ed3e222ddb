"""Nodes that return after an outage: the requests of their kubelets and of two agents, without containers.

The requests of a kubelet that starts on a registered node, with their sources in kubernetes:pkg/kubelet:

- watches of its Node and of Services (kubelet.go), its pods (config/apiserver.go), RuntimeClasses
  (runtimeclass/runtimeclass_manager.go), CSIDrivers (volume_host.go), and of each ConfigMap and Secret of its pods
  (util/manager/watch_based_manager.go);
- POST of its Node, which exists, then GET and PATCH of the status (kubelet_node_status.go);
- GET and PUT of its Lease, again every 10 s (kubernetes:staging/src/k8s.io/component-helpers/apimachinery/lease);
- GET of its CSINode (kubernetes:pkg/volume/csi/nodeinfomanager), and events (kubelet.go, BirthCry);
- for each pod, POST of a token (token/token_manager.go), GET and PATCH of its status (status/status_manager.go).

kube-proxy watches Services, EndpointSlices and its Node (kubernetes:pkg/proxy/config). The network agent stands for
those that list an object of every node, as Cilium lists CiliumNodes (cilium:pkg/k8s/watchers); here it lists Nodes.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import json
from collections.abc import Iterable
from typing import Any

from tests.support.api_servers.api_clients import PATCH, Client, Watch
from tests.support.api_servers.http2 import Answer

NAMESPACE = "workloads"
ACCOUNT = "default"
FIRST_CONFIG = "kube-root-ca.crt"
SECRET = "registry"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
PROXY, NETWORK = "system:serviceaccount:kube-system:kube-proxy", "system:serviceaccount:kube-system:cilium"
PODS = 3
"""Pods of each node."""
_RENEW_SECONDS = 10.0
_EXISTS = 409
_SLICES = "/apis/discovery.k8s.io/v1/endpointslices"


def now() -> str:
    """Return the current time as MicroTime of Kubernetes."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def node_body(name: str) -> dict[str, Any]:
    """Return a Node without a status."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}}


def lease_body(name: str) -> dict[str, Any]:
    """Return the Lease of a node."""
    spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now()}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": spec}


def pod_names(node: str, count: int) -> list[str]:
    """Return the names of a node's pods."""
    return [f"{node}-{number}" for number in range(count)]


class Member:
    """A process of a node: its watches, and its steps after the start."""

    def __init__(self, client: Client, watches: Iterable[Watch]) -> None:
        self.client, self.watches = client, tuple(watches)
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Send the requests of a start; return when all were executed and all watches have their initial events."""
        self._tasks = [asyncio.create_task(watch.run()) for watch in self.watches]
        work = asyncio.create_task(self._complete())
        done, _ = await asyncio.wait((work, *self._tasks), return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()

    async def stop(self) -> None:
        """End watches and renewals; the connection stays open."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _complete(self) -> None:
        await self._steps()
        for watch in self.watches:
            await watch.synced.wait()

    async def _steps(self) -> None:
        """Send the requests other than watches."""

    def _keep(self, work: Any) -> None:
        self._tasks.append(asyncio.create_task(work))


class Kubelet(Member):
    """Kubelet of a node with ``pods`` pods."""

    def __init__(self, client: Client, name: str, pods: int) -> None:
        self.name, self._pods = name, pod_names(name, pods)
        self.renewals = 0
        """Number of renewals of the node's Lease."""
        space = f"/api/v1/namespaces/{NAMESPACE}"
        watches = (
            Watch(client, "/api/v1/nodes", f"metadata.name={name}"),
            Watch(client, "/api/v1/services", "spec.clusterIP!=None"),
            Watch(client, "/api/v1/pods", f"spec.nodeName={name}"),
            Watch(client, "/apis/node.k8s.io/v1/runtimeclasses"),
            Watch(client, "/apis/storage.k8s.io/v1/csidrivers"),
            Watch(client, f"{space}/configmaps", f"metadata.name={FIRST_CONFIG}"),
            Watch(client, f"{space}/secrets", f"metadata.name={SECRET}"),
        )
        super().__init__(client, watches)

    async def _steps(self) -> None:
        renewed = asyncio.Event()
        self._keep(self._renew(renewed))
        await asyncio.gather(self._register(), self._drivers(), renewed.wait(), *map(self._pod, self._pods))

    async def _register(self) -> None:
        _expect(await self.client.request("POST", "/api/v1/nodes", node_body(self.name)), _EXISTS)
        path = f"/api/v1/nodes/{self.name}"
        _expect(await self.client.request("GET", path))
        _expect(await self.client.request("GET", f"{path}?resourceVersion=0"))
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now()[:19] + "Z"}
        body = {"status": {"conditions": [ready]}}
        _expect(await self.client.request("PATCH", f"{path}/status", body, content=PATCH))
        for reason in ("Starting", "NodeReady"):
            _expect(
                await self.client.request("POST", "/api/v1/namespaces/default/events", _event(self.name, reason)), 201
            )

    async def _renew(self, renewed: asyncio.Event) -> None:
        lease: Any = None
        while True:
            lease = lease or _expect(await self.client.request("GET", f"{LEASES}/{self.name}"))
            lease["spec"]["renewTime"] = now()
            answer = await self.client.request("PUT", f"{LEASES}/{self.name}", lease)
            if answer.status == _EXISTS:  # Its answer was lost: read the Lease again, as the kubelet does.
                lease = None
                continue
            lease = _expect(answer)
            self.renewals += 1
            renewed.set()
            await asyncio.sleep(_RENEW_SECONDS)

    async def _drivers(self) -> None:
        _expect(await self.client.request("GET", f"/apis/storage.k8s.io/v1/csinodes/{self.name}"))

    async def _pod(self, name: str) -> None:
        space = f"/api/v1/namespaces/{NAMESPACE}"
        pod = _expect(await self.client.request("GET", f"{space}/pods/{name}"))
        bound = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": pod["metadata"]["uid"]}
        spec = {"audiences": [], "expirationSeconds": 3607, "boundObjectRef": bound}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        _expect(await self.client.request("POST", f"{space}/serviceaccounts/{ACCOUNT}/token", body), 201)
        status = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
        _expect(await self.client.request("PATCH", f"{space}/pods/{name}/status", status, content=PATCH))


class KubeProxy(Member):
    """kube-proxy of a node."""

    def __init__(self, client: Client, name: str) -> None:
        watches = (
            Watch(client, "/api/v1/services"),
            Watch(client, _SLICES),
            Watch(client, "/api/v1/nodes", f"metadata.name={name}"),
        )
        super().__init__(client, watches)


class NetworkAgent(Member):
    """Network agent of a node, which lists an object of every node."""

    def __init__(self, client: Client, name: str) -> None:
        watches = (
            Watch(client, "/api/v1/services"),
            Watch(client, _SLICES),
            Watch(client, "/api/v1/namespaces"),
            Watch(client, "/api/v1/pods", f"spec.nodeName={name}"),
            Watch(client, "/apis/networking.k8s.io/v1/networkpolicies"),
        )
        super().__init__(client, watches)

    async def _steps(self) -> None:
        answer = await self.client.request("GET", "/api/v1/nodes?resourceVersion=0")
        assert answer.status == 200, answer


def _event(node: str, reason: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{node}.", "namespace": "default"},
        "involvedObject": {"kind": "Node", "name": node, "uid": node},
        "reason": reason,
        "type": "Normal",
        "source": {"component": "kubelet", "host": node},
        "firstTimestamp": now()[:19] + "Z",
        "lastTimestamp": now()[:19] + "Z",
    }


def _expect(answer: Answer, status: int = 200) -> Any:
    assert answer.status == status, (answer.status, answer.body[:500])
    return json.loads(answer.body)
