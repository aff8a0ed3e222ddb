"""A small API server in a thread, and the kubernetes stand-in as its client."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from jacquard.lab.standins.kubernetes.provider import KubernetesProvider
from jacquard.providers.rpc.server import Engine
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import encode

KINDS = {
    "/api/v1": {
        "Namespace": ("namespaces", False),
        "ConfigMap": ("configmaps", True),
        "Secret": ("secrets", True),
        "Service": ("services", True),
        "Endpoints": ("endpoints", True),
        "PersistentVolumeClaim": ("persistentvolumeclaims", True),
    },
    "/apis/apps/v1": {"StatefulSet": ("statefulsets", True), "DaemonSet": ("daemonsets", True)},
    "/apis/networking.k8s.io/v1": {"Ingress": ("ingresses", True)},
    "/apis/storage.k8s.io/v1": {"StorageClass": ("storageclasses", False)},
    "/apis/toy.dev/v1": {"Loom": ("looms", True)},
    "/apis/apiextensions.k8s.io/v1": {"CustomResourceDefinition": ("customresourcedefinitions", False)},
}


class FakeApiServer:
    """Objects of the server and received requests; tests change both between requests.

    Attributes:
        objects: Objects by path.
        requests: Method, path and query of every request, in order.
        refusals: Responses that replace the normal ones, by (method, path): status and Status object.
        after_get: Called with the path after each successful GET of an object.
    """

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self.refusals: dict[tuple[str, str], tuple[int, dict[str, Any]]] = {}
        self.after_get: Callable[[str], None] = lambda _: None
        self.kinds = dict(KINDS)
        self.uids = 0

    def writes(self) -> list[tuple[str, str]]:
        """Return the requests that change something, as method and path; dry runs are marked."""
        return [
            (f"{method} dry-run" if query.get("dryRun") else method, path)
            for method, path, query in self.requests
            if method != "GET"
        ]

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        """Serve one request."""
        self.requests.append((method, path, query))
        if (method, path) in self.refusals:
            return self.refusals[method, path]
        if path in self.kinds:
            kinds = [
                {"kind": kind, "name": name, "namespaced": spaced} for kind, (name, spaced) in self.kinds[path].items()
            ]
            return 200, {"resources": kinds}
        if method == "GET":
            found = (200, self.objects[path]) if path in self.objects else (404, _not_found(path))
            self.after_get(path)
            return found
        if method == "PATCH" and isinstance(body, list):
            return self._move(path, body)
        return self._apply(path, query, body) if method in ("PATCH", "PUT") else self._delete(path, body)

    def _apply(self, path: str, query: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        old = self.objects.get(path, {"metadata": {}})
        if "uid" in old["metadata"]:
            uid = old["metadata"]["uid"]
        else:
            self.uids += 1
            uid = f"uid-{self.uids}"
        field = {"manager": query["fieldManager"], "operation": "Apply"}
        metadata = {
            **body["metadata"],
            "uid": uid,
            "resourceVersion": str(len(self.requests)),
            "managedFields": [field],
        }
        made = {**{key: old[key] for key in ("status",) if key in old}, **body, "metadata": metadata}
        if query.get("dryRun") != "All":
            self.objects[path] = made
        return 200, made

    def _move(self, path: str, patch: list[dict[str, Any]]) -> tuple[int, Any]:
        metadata = self.objects[path]["metadata"]
        wanted = {change["path"].rpartition("/")[2]: change["value"] for change in patch}
        if wanted["resourceVersion"] != metadata["resourceVersion"]:
            return 409, {"kind": "Status", "reason": "Conflict", "message": "the object has been modified"}
        metadata["managedFields"] = wanted["managedFields"]
        return 200, self.objects[path]

    def _delete(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if path not in self.objects:
            return 404, _not_found(path)
        metadata = self.objects[path]["metadata"]
        if body["preconditions"].get("uid") not in (None, metadata["uid"]):
            return 409, {"kind": "Status", "reason": "Conflict", "message": "the UID in the precondition differs"}
        if metadata.get("finalizers"):
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        else:
            del self.objects[path]
        return 200, {"kind": "Status", "status": "Success"}


def _not_found(path: str) -> dict[str, Any]:
    return {"kind": "Status", "reason": "NotFound", "message": f"{path} not found", "code": 404}


@pytest.fixture
def api_server(tmp_path: Path) -> Iterator[FakeApiServer]:
    """A running server; its kubeconfig is ``tmp_path / "kubeconfig"``."""
    fake = FakeApiServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, answer = fake.answer(self.command, parts.path, query, json.loads(raw) if raw else None)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PATCH = do_PUT = do_DELETE = handle_one  # noqa: N815 - the names that http.server looks for

        def log_message(self, *_: object) -> None:
            """Suppress the request log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        write_kubeconfig(tmp_path / "kubeconfig", f"http://127.0.0.1:{server.server_port}")
        yield fake
        server.shutdown()


def write_kubeconfig(path: Path, server: str) -> None:
    """Write a kubeconfig with one context ``toy`` for ``server``."""
    config = {
        "clusters": [{"name": "toy", "cluster": {"server": server}}],
        "contexts": [{"name": "toy", "context": {"cluster": "toy"}}],
        "current-context": "toy",
    }
    path.write_text(json.dumps(config))


class Listener(Engine):
    """An engine that records the warnings it receives."""

    def __init__(self) -> None:
        super().__init__(None)
        self.messages: list[str] = []

    def warning(self, message: str, urn: str = "") -> None:  # noqa: ARG002 - the signature of the engine
        self.messages.append(message)


class Stack:
    """One resource of the stand-in, called with plain inputs.

    The servicer is called directly; in the real server, an interceptor turns its exceptions into messages.
    """

    def __init__(self, engine: Engine, **inputs: str) -> None:
        self.provider = KubernetesProvider(engine)
        variables = {f"kubernetes:config:{name}": value for name, value in inputs.items()}
        self.provider.Configure(provider_pb2.ConfigureRequest(variables=variables), None)

    def create(self, inputs: dict[str, Any], *, preview: bool = False) -> Any:
        """Create the resource."""
        request = provider_pb2.CreateRequest(urn=_urn(inputs), properties=encode(inputs), preview=preview)
        return self.provider.Create(request, None)

    def update(self, state: dict[str, Any], inputs: dict[str, Any], *, preview: bool = False) -> Any:
        """Update the resource."""
        request = provider_pb2.UpdateRequest(
            urn=_urn(inputs), id="toy/a", olds=encode(state), news=encode(inputs), preview=preview
        )
        return self.provider.Update(request, None)

    def read(self, inputs: dict[str, Any], state: dict[str, Any]) -> Any:
        """Refresh the resource, or import it without inputs and state."""
        request = provider_pb2.ReadRequest(
            urn=_urn(inputs), id="toy/a", inputs=encode(inputs), properties=encode(state)
        )
        return self.provider.Read(request, None)

    def delete(self, inputs: dict[str, Any], state: dict[str, Any]) -> None:
        """Delete the resource."""
        request = provider_pb2.DeleteRequest(
            urn=_urn(inputs), id="toy/a", old_inputs=encode(inputs), properties=encode(state)
        )
        self.provider.Delete(request, None)


def _urn(inputs: dict[str, Any]) -> str:
    api_version = inputs.get("apiVersion", "v1")
    group = api_version if "/" in api_version else f"core/{api_version}"
    return f"urn:pulumi:dev::toy::kubernetes:{group}:{inputs.get('kind', 'ConfigMap')}::r"


@pytest.fixture
def engine() -> Listener:
    """An engine that records the warnings it receives."""
    return Listener()


@pytest.fixture
def configure(tmp_path: Path, engine: Listener) -> Callable[..., Stack]:
    """Return a function that configures the stand-in for the fake server, with further provider inputs."""

    def make(**inputs: str) -> Stack:
        given = {"kubeconfig": str(tmp_path / "kubeconfig"), "enableConfigMapMutable": "true", **inputs}
        return Stack(engine, **given)

    return make


@pytest.fixture
def kube(configure: Callable[..., Stack], api_server: FakeApiServer) -> Stack:  # noqa: ARG001 - it has to run
    """The stand-in, connected to the fake server."""
    return configure()
