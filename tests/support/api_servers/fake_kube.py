"""A small in-memory API server for ConfigMaps, bare-metal hosts, and IronCore's BMCs and Servers.

It tracks field ownership only for firmware objects, which a controller creates and other managers fill.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlparse

from tests.support.api_servers.field_ownership import Owned, leaves

FIRMWARE = {"hostfirmwaresettings": "HostFirmwareSettings", "hostfirmwarecomponents": "HostFirmwareComponents"}
MAKER = "baremetal-operator (update)"
SPEC_FIELDS = {"online", "bootMACAddress", "consumerRef", "description"}
MODIFIED = 409, {"reason": "Conflict", "message": "the object has been modified"}
Key = tuple[str, str, str]


@dataclass
class FakeKube:
    """ConfigMaps and bare-metal hosts in memory; `refused` lists requests to reject."""

    objects: dict[Key, dict[str, Any]] = field(default_factory=dict)
    """By plural, namespace, name."""
    namespaces: set[str] = field(default_factory=lambda: {"inventory", ""})
    kinds: dict[str, str] = field(default_factory=lambda: {"baremetalhosts": "BareMetalHost", **FIRMWARE})
    fields: dict[Key, Owned] = field(default_factory=dict)
    """Field ownership of firmware objects."""
    refused: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    """Response to every apply of the object of this name."""
    rewrite: Callable[[dict[str, Any]], dict[str, Any]] = lambda spec: spec
    """Function that changes the spec of an applied object, as a webhook does."""
    log: list[str] = field(default_factory=list)
    """Method, path and query of each request."""
    bodies: list[Any] = field(default_factory=list)
    uids: int = 0
    cluster: str = "cluster-1"
    """uid of namespace kube-system."""
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def host(self, name: str, *, labels: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
        """Add a host that was not applied."""
        body = {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", **more}
        body["metadata"] = {"name": name, "namespace": "inventory", "labels": labels or {}, **more.get("metadata", {})}
        return self.store(("baremetalhosts", "inventory", name), body)

    def firmware(self, plural: str, name: str, **spec: Any) -> dict[str, Any]:
        """Add an empty firmware object, as the bare-metal operator creates it."""
        key = (plural, "inventory", name)
        self.fields[key] = Owned(spec, dict.fromkeys(dict(leaves(spec)), MAKER))
        return self._kept(key)

    def _kept(self, key: Key) -> dict[str, Any]:
        """Store a firmware object with its current fields."""
        owned = self.fields[key]
        metadata = {"name": key[2], "namespace": key[1], "managedFields": owned.managed_fields()}
        body = {"apiVersion": "metal3.io/v1alpha1", "kind": FIRMWARE[key[0]], "metadata": metadata}
        return self.store(key, {**body, "spec": owned.spec})

    def store(self, key: Key, body: dict[str, Any]) -> dict[str, Any]:
        """Store an object with a uid and a resource version."""
        self.uids += 1
        old = self.objects.get(key, {}).get("metadata", {})
        kept = {"uid": old.get("uid", f"uid-{self.uids}"), "resourceVersion": str(self.uids)}
        finalizers = {"finalizers": old["finalizers"]} if old.get("finalizers") else {}
        live = {**body, "metadata": {**finalizers, **body["metadata"], **kept}}
        # The host controller sets the status as soon as the host exists.
        status = self.objects.get(key, {}).get("status", {"provisioning": {"state": "available"}})
        self.objects[key] = {"status": status, **live}
        return self.objects[key]

    def writes(self) -> list[str]:
        """Return every request that could change something, without dry runs."""
        return [line for line in self.log if not line.startswith("GET") and "dryRun" not in line]

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        """Return status and body for one request."""
        parts = path.strip("/").split("/")
        known = self._about(parts)
        if known:
            return known
        if parts[:3] == ["apis", "metal.ironcore.dev", "v1alpha1"]:
            return self._of_ironcore(method, parts[3:], query, body)
        if "namespaces" not in parts:
            return 404, {"reason": "NotFound", "message": f"no {path}"}
        namespace, plural, *name = parts[parts.index("namespaces") + 1 :]
        if not name:
            return 200, {"items": self._listed(plural, namespace, query.get("labelSelector", ""))}
        return self._one(method, (plural, namespace, name[0]), query, body)

    def _about(self, parts: list[str]) -> tuple[int, Any] | None:
        """Answer requests for discovery and for the namespace kube-system."""
        if parts == ["api", "v1"]:
            maps = {"name": "configmaps", "kind": "ConfigMap", "namespaced": True}
            return 200, {"resources": [maps, {"name": "namespaces", "kind": "Namespace", "namespaced": False}]}
        if parts == ["api", "v1", "namespaces", "kube-system"]:
            return 200, {"metadata": {"name": "kube-system", "uid": self.cluster}}
        if parts == ["apis", "metal3.io", "v1alpha1"]:
            kinds = [{"name": name, "kind": kind, "namespaced": True} for name, kind in self.kinds.items()]
            return (200, {"resources": kinds}) if kinds else (404, {"reason": "NotFound", "message": "no such group"})
        if parts == ["apis", "metal3.io"]:
            versions = [{"groupVersion": "metal3.io/v1beta1"}, {"groupVersion": "metal3.io/v1alpha1"}]
            return 200, {"preferredVersion": versions[0], "versions": versions}
        return None

    def _of_ironcore(self, method: str, parts: list[str], query: dict[str, str], body: Any) -> tuple[int, Any]:
        """Answer requests for cluster-scoped kinds."""
        if not parts:
            kinds = {"bmcs": "BMC", "servers": "Server"}
            return 200, {
                "resources": [{"name": name, "kind": kind, "namespaced": False} for name, kind in kinds.items()]
            }
        if len(parts) == 1:
            return 200, {"items": self._listed(parts[0], "", query.get("labelSelector", ""))}
        return self._one(method, (parts[0], "", parts[1]), query, body)

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
        if method == "MERGE":
            return self._merged(key, query, body) if live else missing
        return self._filled(key, query, body) if key[0] in FIRMWARE else self._applied(key, query, body)

    def _filled(self, key: Key, query: dict[str, str], body: Any) -> tuple[int, Any]:
        """Apply to a firmware object."""
        refused = self._of_another(key, body) or self.refused.get(key[2])
        if refused:
            return refused
        owned, manager = self.fields.get(key, Owned({})), query["fieldManager"]
        found = owned.conflicts(body["spec"], manager)
        if found and "force" not in query:
            return conflict(*((f".spec.{'.'.join(path)}", owner.partition(" ")[0]) for path, owner in found))
        if self._is_stale(key, body):
            return MODIFIED
        after = owned.applied(body["spec"], manager)
        if "dryRun" in query:
            return 200, {**body, "spec": after.spec}
        self.fields[key] = after
        return 200, self._kept(key)

    def _merged(self, key: Key, query: dict[str, str], body: Any) -> tuple[int, Any]:
        """Merge into a firmware object."""
        if self._is_stale(key, body):
            return MODIFIED
        self.fields[key] = self.fields[key].merged(body["spec"], f"{query['fieldManager']} (update)")
        return 200, self._kept(key)

    def _of_another(self, key: Key, body: Any) -> tuple[int, Any] | None:
        """Reject a request whose UID is not that of the current object."""
        uid, live = body["metadata"].get("uid"), self.objects.get(key)
        if uid and not live:
            return 409, {"reason": "Conflict", "message": f"uid mismatch: {uid}, and no existing object was found"}
        if uid and live and uid != live["metadata"]["uid"]:
            cause = {"reason": "FieldValueInvalid", "field": "metadata.uid", "message": "field is immutable"}
            return 422, {"reason": "Invalid", "message": "metadata.uid: immutable", "details": {"causes": [cause]}}
        return None

    def _is_stale(self, key: Key, body: Any) -> bool:
        """Return whether the resource version of a change is outdated."""
        version = self.objects.get(key, body)["metadata"].get("resourceVersion")
        return bool(body["metadata"].get("resourceVersion", version) != version)

    def _applied(self, key: Key, query: dict[str, str], body: Any) -> tuple[int, Any]:
        if key[1] not in self.namespaces:
            return 404, {"reason": "NotFound", "message": f'namespaces "{key[1]}" not found'}
        if key[2] in self.refused and "force" not in query:
            return self.refused[key[2]]
        unknown = set(body.get("spec", {})) - SPEC_FIELDS if key[0] == "baremetalhosts" else ()
        if unknown:
            reason = f".spec.{min(unknown)}: field not declared in schema"
            return 500, {"message": f"failed to create typed patch object ({key[1]}/{key[2]}): {reason}"}
        body = {**body, **({"spec": self.rewrite(body["spec"])} if "spec" in body else {})}
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
    wbufsize = (
        -1
    )  # One packet for each response; otherwise Nagle's algorithm and delayed acknowledgements cost 40 ms each.
    kube: FakeKube

    def _handle(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlparse(self.path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        body = json.loads(data) if data else None
        with self.kube.lock:
            self.kube.log.append(f"{self.command} {self.path}")
            self.kube.bodies.append(body)
            merge = "merge-patch" in self.headers.get("Content-Type", "")
            status, answer = self.kube.answer("MERGE" if merge else self.command, url.path, query, body)
            text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PATCH = do_DELETE = _handle  # noqa: N815 - names of the standard library

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - signature of the standard library
        """Suppress the request log."""


def conflict(*fields: tuple[str, str]) -> tuple[int, dict[str, Any]]:
    """Return the conflict of an apply, with each field and its manager."""
    causes = [
        {
            "reason": "FieldManagerConflict",
            "field": path,
            "message": f'conflict with "{manager}" using metal3.io/v1alpha1',
        }
        for path, manager in fields
    ]
    message = f"Apply failed with {len(causes)} conflict"
    return 409, {"reason": "Conflict", "message": message, "details": {"causes": causes}}


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve on a free port of the loopback interface until the block ends; yield the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@contextmanager
def serve() -> Iterator[FakeKube]:
    """Serve a fake API server until the block ends; its address is in ``url``."""
    fake = FakeKube()
    with listening(type("Handler", (_Handler,), {"kube": fake})) as fake.url:
        yield fake
