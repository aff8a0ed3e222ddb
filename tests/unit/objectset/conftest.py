"""An API server small enough to read, and the provider in front of it, spoken to over gRPC as the engine does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import grpc
import pytest

from providers.objectset.provider import ObjectSetProvider
from providers.rpc.server import Engine, ReadableErrors
from providers.rpc.stubs import (
    ResourceProviderStub,
    add_ResourceProviderServicer_to_server,
    provider_pb2,
    status_pb2,
)
from providers.rpc.values import Properties, decode, encode

SPEC_FIELDS = {"online", "bootMACAddress", "consumerRef", "description"}
Key = tuple[str, str, str]


@dataclass
class FakeKube:
    """Config maps and bare-metal hosts, in memory; what a test wants refused is named in the fields."""

    objects: dict[Key, dict[str, Any]] = field(default_factory=dict)
    """By plural, namespace, name."""
    namespaces: set[str] = field(default_factory=lambda: {"inventory"})
    kinds: dict[str, str] = field(default_factory=lambda: {"baremetalhosts": "BareMetalHost"})
    refused: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    """Answer to every apply of the object of this name."""
    log: list[str] = field(default_factory=list)
    """Method, path, and query where there is one."""
    bodies: list[Any] = field(default_factory=list)
    uids: int = 0
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def host(self, name: str, *, labels: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
        """Put a host there that nobody applied."""
        body = {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", **more}
        body["metadata"] = {"name": name, "namespace": "inventory", "labels": labels or {}, **more.get("metadata", {})}
        return self.store(("baremetalhosts", "inventory", name), body)

    def store(self, key: Key, body: dict[str, Any]) -> dict[str, Any]:
        """Keep an object as a server does."""
        self.uids += 1
        old = self.objects.get(key, {}).get("metadata", {})
        kept = {"uid": old.get("uid", f"uid-{self.uids}"), "resourceVersion": str(self.uids)}
        finalizers = {"finalizers": old["finalizers"]} if old.get("finalizers") else {}
        live = {**body, "metadata": {**finalizers, **body["metadata"], **kept}}
        self.objects[key] = {"status": self.objects.get(key, {}).get("status", {}), **live}
        return self.objects[key]

    def writes(self) -> list[str]:
        """Return every request that could change something."""
        return [line for line in self.log if not line.startswith("GET") and "dryRun" not in line]

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        """Return status and body for one request."""
        parts = path.strip("/").split("/")
        if parts == ["api", "v1"]:
            return 200, {"resources": [{"name": "configmaps", "kind": "ConfigMap", "namespaced": True}]}
        if parts == ["apis", "metal3.io", "v1alpha1"]:
            kinds = [{"name": name, "kind": kind, "namespaced": True} for name, kind in self.kinds.items()]
            return (200, {"resources": kinds}) if kinds else (404, {"reason": "NotFound", "message": "no such group"})
        if parts == ["apis", "metal3.io"]:
            versions = [{"groupVersion": "metal3.io/v1beta1"}, {"groupVersion": "metal3.io/v1alpha1"}]
            return 200, {"preferredVersion": versions[0], "versions": versions}
        if "namespaces" not in parts:
            return 404, {"reason": "NotFound", "message": f"no {path}"}
        namespace, plural, *name = parts[parts.index("namespaces") + 1 :]
        if not name:
            return 200, {"items": self._listed(plural, namespace, query.get("labelSelector", ""))}
        return self._one(method, (plural, namespace, name[0]), query, body)

    def _listed(self, plural: str, namespace: str, selector: str) -> list[dict[str, Any]]:
        label, _, value = selector.partition("=")
        found = [body for key, body in self.objects.items() if key[:2] == (plural, namespace)]
        return [body for body in found if not label or body["metadata"].get("labels", {}).get(label) == value]

    def _one(self, method: str, key: Key, query: dict[str, str], body: Any) -> tuple[int, Any]:
        live = self.objects.get(key)
        missing = 404, {"reason": "NotFound", "message": f'{key[0]} "{key[2]}" not found'}
        if method == "GET":
            return (200, live) if live else missing
        if method == "DELETE":
            return self._delete(key, body) if live else missing
        return self._applied(key, query, body)

    def _applied(self, key: Key, query: dict[str, str], body: Any) -> tuple[int, Any]:
        if key[1] not in self.namespaces:
            return 404, {"reason": "NotFound", "message": f'namespaces "{key[1]}" not found'}
        if key[2] in self.refused:
            return self.refused[key[2]]
        unknown = set(body.get("spec", {})) - SPEC_FIELDS
        if unknown:
            reason = f".spec.{min(unknown)}: field not declared in schema"
            return 500, {"message": f"failed to create typed patch object ({key[1]}/{key[2]}): {reason}"}
        if "dryRun" in query:
            return 200, {**body, "metadata": {**body["metadata"], "uid": "fake"}}
        return 200, self.store(key, body)

    def _delete(self, key: Key, options: Any) -> tuple[int, Any]:
        metadata = self.objects[key]["metadata"]
        wanted = options.get("preconditions", {})
        if any(metadata[name] != value for name, value in wanted.items()):
            return 409, {"reason": "Conflict", "message": "the precondition does not hold"}
        if metadata.get("finalizers"):
            metadata["deletionTimestamp"] = "now"
        else:
            del self.objects[key]
        return 200, {}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet an answer: otherwise Nagle and delayed acknowledgements cost 40 ms each
    kube: FakeKube

    def _handle(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlparse(self.path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        body = json.loads(data) if data else None
        with self.kube.lock:
            self.kube.log.append(f"{self.command} {self.path}")
            self.kube.bodies.append(body)
            status, answer = self.kube.answer(self.command, url.path, query, body)
            text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PATCH = do_DELETE = _handle  # noqa: N815 - names of the standard library

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - signature of the standard library
        """Say nothing."""


class RecordingEngine(Engine):
    """Keeps what would be shown."""

    def __init__(self) -> None:
        super().__init__(None)
        self.lines: list[str] = []

    def _log(self, severity: Any, message: str, urn: str, *, ephemeral: bool) -> None:
        del severity, urn, ephemeral
        self.lines.append(message)


@dataclass
class Failure:
    """How a call failed, with what it asked the engine to record."""

    text: str
    reasons: list[str]
    inputs: Properties
    outputs: Properties
    raw_outputs: Any


@dataclass
class Driver:
    """The engine's side: calls with plain data."""

    stub: ResourceProviderStub
    servicer: ObjectSetProvider
    engine: RecordingEngine
    urn: str = "urn:pulumi:lab::toy::jacquard:index:ObjectSet::rack-a01"

    def configure(self, **settings: Any) -> None:
        self.stub.Configure(provider_pb2.ConfigureRequest(args=encode(settings)))

    def create(self, inputs: dict[str, Any], *, secrets: Any = (), preview: bool = False, timeout: float = 5) -> Any:
        request = provider_pb2.CreateRequest(
            urn=self.urn, properties=encode(inputs, secrets), preview=preview, timeout=timeout
        )
        return decode(self.stub.Create(request).properties).plain

    def update(
        self,
        old: dict[str, Any],
        new: dict[str, Any],
        outputs: dict[str, Any],
        *,
        preview: bool = False,
        timeout: float = 5,
    ) -> Any:
        request = provider_pb2.UpdateRequest(
            urn=self.urn,
            olds=encode(outputs),
            old_inputs=encode(old),
            news=encode(new),
            preview=preview,
            timeout=timeout,
        )
        return decode(self.stub.Update(request).properties).plain

    def read(self, inputs: dict[str, Any], secrets: Any = ()) -> tuple[str, Properties, dict[str, Any]]:
        answer = self.stub.Read(provider_pb2.ReadRequest(id="inventory/rack-a01", inputs=encode(inputs, secrets)))
        return answer.id, decode(answer.inputs), decode(answer.properties).plain

    def delete(self, inputs: dict[str, Any], timeout: float = 5) -> None:
        self.stub.Delete(
            provider_pb2.DeleteRequest(id="inventory/rack-a01", old_inputs=encode(inputs), timeout=timeout)
        )

    @staticmethod
    def failure(error: grpc.RpcError) -> Failure:
        """Open the error of a call."""
        detail = provider_pb2.ErrorResourceInitFailed()
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                assert status_pb2.Status.FromString(value).details[0].Unpack(detail)
        inputs, outputs = decode(detail.inputs), decode(detail.properties)
        return Failure(str(error.details()), list(detail.reasons), inputs, outputs, detail.properties)


@pytest.fixture
def kube() -> Iterator[FakeKube]:
    fake = FakeKube()
    handler = type("Handler", (_Handler,), {"kube": fake})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield fake
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def kubeconfig(kube: FakeKube, tmp_path: Path) -> Path:
    path = tmp_path / "kubeconfig.yaml"
    config = {
        "clusters": [{"name": "c", "cluster": {"server": kube.url}}],
        "contexts": [{"name": "c", "context": {"cluster": "c"}}],
        "current-context": "c",
    }
    path.write_text(json.dumps(config))
    return path


@pytest.fixture
def unconfigured() -> Iterator[Driver]:
    engine = RecordingEngine()
    servicer = ObjectSetProvider(engine)
    server = grpc.server(ThreadPoolExecutor(4), interceptors=[ReadableErrors(engine)])
    add_ResourceProviderServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield Driver(ResourceProviderStub(channel), servicer, engine)
    server.stop(None).wait()
    servicer.close()


@pytest.fixture
def provider(unconfigured: Driver, kubeconfig: Path) -> Driver:
    unconfigured.configure(kubeconfig=str(kubeconfig), clusterIdentifier="test")
    return unconfigured
