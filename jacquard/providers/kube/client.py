"""A client of one Kubernetes API server: thread safe, keep-alive, no OpenAPI download."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urlencode

import urllib3
from urllib3 import BaseHTTPResponse as Response
from urllib3.exceptions import HTTPError, InsecureRequestWarning
from urllib3.util import Retry, Timeout, parse_url

from jacquard.providers.kube import kubeconfig
from jacquard.providers.kube.discovery import Discovery, Resource
from jacquard.providers.kube.errors import ApiError, Unreachable, refusal

PAGE = 500
"""Objects per page of a list, kubectl's own size."""
JSON = "application/json"
METADATA = JSON + ";as=PartialObjectMetadata{};g=meta.k8s.io;v=v1"
APPLY = "application/apply-patch+yaml"
PATCHES = {"merge": "application/merge-patch+json", "json": "application/json-patch+json"}
_ERRORS_FROM = 400
_UNAUTHORIZED = 401
_PATIENCE = Retry(
    4, connect=0, read=0, redirect=0, other=0, status_forcelist=[429], allowed_methods=None, raise_on_status=False
)
"""The server asks for patience with 429 and has then done nothing; all else is for the caller to judge."""


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """What identifies one object; ``namespace`` None means the context's namespace for a namespaced kind."""

    api_version: str
    kind: str
    name: str
    namespace: str | None = None

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> ObjectRef:
        """Return the reference of a whole object."""
        metadata = body["metadata"]
        return cls(body["apiVersion"], body["kind"], metadata["name"], metadata.get("namespace"))

    def __str__(self) -> str:
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {place}{self.name}"


class ApiServer:
    """One API server as one user. Every method may be called from any thread.

    Every method raises `ApiError` for an answer other than success (`Unreachable` for none); those that name a kind
    raise `KindNotFound` when the server does not serve it.
    """

    def __init__(
        self,
        connection: kubeconfig.Connection,
        *,
        user_agent: str = "jacquard",
        connections: int = 8,
        timeout_seconds: float = 30.0,
    ) -> None:
        self.server = connection.server
        self.namespace = connection.namespace
        self.connections = connections
        url = parse_url(connection.server)
        self._prefix = (url.path or "").rstrip("/")
        self._headers = {"User-Agent": user_agent, **connection.headers}
        self._renew = connection.renew
        options: dict[str, Any] = {
            "maxsize": connections,
            "block": True,
            "timeout": Timeout(connect=min(timeout_seconds, 10.0), read=timeout_seconds),
            "retries": _PATIENCE,
        }
        if connection.tls is None:
            self._pool = urllib3.HTTPConnectionPool(str(url.host), url.port or 80, **options)
        else:
            if not connection.tls.check_hostname:
                urllib3.disable_warnings(InsecureRequestWarning)
                options |= {"assert_hostname": False, "cert_reqs": "CERT_NONE"}
            options |= {"ssl_context": connection.tls, "server_hostname": connection.tls_server_name}
            self._pool = urllib3.HTTPSConnectionPool(str(url.host), url.port or 443, **options)
        self._discovery = Discovery(self)

    @classmethod
    def from_kubeconfig(
        cls,
        path: Path,
        context: str | None = None,
        *,
        user_agent: str = "jacquard",
        connections: int = 8,
        timeout_seconds: float = 30.0,
    ) -> ApiServer:
        """Return a client for ``context`` (default: the current one) of the kubeconfig at ``path``.

        Raises:
            KubeconfigError: The file is missing or cannot be used; nothing is asked of the server here.
        """
        connection = kubeconfig.load(path, context)
        return cls(connection, user_agent=user_agent, connections=connections, timeout_seconds=timeout_seconds)

    def close(self) -> None:
        """Close all idle connections."""
        self._pool.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int | bool | None] | None = None,
        body: Any = None,
        content_type: str = JSON,
        accept: str = JSON,
    ) -> Any:
        """Send one request and return the decoded JSON of the answer (text when it is not JSON, None when empty).

        Args:
            method: HTTP method.
            path: Absolute path on the server, such as ``/api/v1/namespaces``.
            query: Parameters; None and empty ones are left out, True becomes ``true``.
            body: Sent as JSON, which is also YAML.
            content_type: Of the body.
            accept: What the answer may be.
        """
        headers = {"Accept": accept} if body is None else {"Accept": accept, "Content-Type": content_type}
        data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        url = self._prefix + path + _query(query)
        answer = self._send(method, url, data, headers)
        if answer.status == _UNAUTHORIZED and self._renew is not None:
            # Tokens of a credential program last for minutes, less than an apply may take.
            self._headers = {**self._headers, **self._renew()}
            answer = self._send(method, url, data, headers)
        if answer.status >= _ERRORS_FROM:
            raise refusal(answer.status, _decode(answer.data))
        return _decode(answer.data)

    def lines(self, path: str, query: Mapping[str, str | int | bool | None]) -> Iterator[Any]:
        """Yield each line of an answer that goes on, as a watch does, decoded; it holds a connection meanwhile."""
        url = self._prefix + path + _query(query)
        with self._send("GET", url, None, {"Accept": JSON}, preload_content=False) as answer:
            if answer.status >= _ERRORS_FROM:
                raise refusal(answer.status, _decode(answer.data))
            yield from map(json.loads, answer)

    def _send(self, method: str, url: str, data: bytes | None, headers: Mapping[str, str], **how: Any) -> Response:
        try:
            return self._pool.request(method, url, body=data, headers={**self._headers, **headers}, **how)
        except HTTPError as error:
            raise Unreachable(self.server, _why(error)) from error

    def resource(self, api_version: str, kind: str) -> Resource:
        """Return where objects of a kind live; asked once per group and version, again when the kind is missing."""
        return self._discovery.resource(api_version, kind)

    def version(self, group: str, kind: str) -> str | None:
        """Return an apiVersion in which the server serves a kind, the preferred one if it can; None for none."""
        return self._discovery.version(group, kind)

    def path(self, ref: ObjectRef, subresource: str | None = None) -> str:
        """Return the path of one object."""
        base = f"{self._collection(ref.api_version, ref.kind, ref.namespace)}/{quote(ref.name, safe='')}"
        return f"{base}/{subresource}" if subresource else base

    def get(self, ref: ObjectRef, *, metadata_only: bool = False) -> dict[str, Any] | None:
        """Return the object, or None when it is not there; of a Secret no values when ``metadata_only``."""
        path = self.path(ref)
        try:
            return dict(self.request("GET", path, accept=METADATA.format("") if metadata_only else JSON))
        except ApiError as error:
            if error.not_found:
                return None
            raise

    def list(self, api_version: str, kind: str, **options: Any) -> list[dict[str, Any]]:
        """Return all that `each` yields."""
        return [*self.each(api_version, kind, **options)]

    def each(
        self,
        api_version: str,
        kind: str,
        *,
        namespace: str | None = None,
        label_selector: str | None = None,
        metadata_only: bool = False,
    ) -> Iterator[dict[str, Any]]:
        """Yield all objects of a kind, of all namespaces unless one is given; with apiVersion and kind filled in."""
        resource = self.resource(api_version, kind)
        path = resource.collection(namespace) if namespace and resource.namespaced else resource.collection(None)
        query: dict[str, str | int | None] = {"limit": PAGE, "labelSelector": label_selector}
        while True:
            page = self.request("GET", path, query=query, accept=METADATA.format("List") if metadata_only else JSON)
            yield from ({**item, "apiVersion": api_version, "kind": kind} for item in page.get("items") or ())
            query["continue"] = page.get("metadata", {}).get("continue")
            if not query["continue"]:
                return

    def apply(
        self, body: Mapping[str, Any], *, field_manager: str, dry_run: bool = False, force: bool = False
    ) -> dict[str, Any]:
        """Apply an object on the server's side, refusing unknown fields, and return it as it is afterwards.

        An object that exists already is silently adopted: look first where that would be wrong.

        Raises:
            ApiError: With `conflicts` for fields of other managers, `undeclared_field` for one the schema lacks.
        """
        query = {"fieldManager": field_manager, "fieldValidation": "Strict", "force": force or None}
        query["dryRun"] = "All" if dry_run else None
        return dict(self.request("PATCH", self.path(ObjectRef.of(body)), query=query, body=body, content_type=APPLY))

    def create(self, body: Mapping[str, Any], *, field_manager: str) -> dict[str, Any]:
        """Create an object, refusing unknown fields; status 409 ``AlreadyExists`` when it is there."""
        ref = ObjectRef.of(body)
        query = {"fieldManager": field_manager, "fieldValidation": "Strict"}
        path = self._collection(ref.api_version, ref.kind, ref.namespace)
        return dict(self.request("POST", path, query=query, body=body))

    def replace(self, body: Mapping[str, Any], *, field_manager: str, dry_run: bool = False) -> dict[str, Any]:
        """Put an object in the place of the one whose ``resourceVersion`` it carries, refusing unknown fields."""
        query = {"fieldManager": field_manager, "fieldValidation": "Strict", "dryRun": "All" if dry_run else None}
        return dict(self.request("PUT", self.path(ObjectRef.of(body)), query=query, body=body))

    def patch(
        self,
        ref: ObjectRef,
        patch: Any,
        *,
        kind: Literal["merge", "json"] = "merge",
        subresource: str | None = None,
        field_manager: str,
    ) -> dict[str, Any]:
        """Patch an object or one of its subresources (``status``, ``scale``) and return it."""
        query = {"fieldManager": field_manager, "fieldValidation": "Strict"}
        path = self.path(ref, subresource)
        return dict(self.request("PATCH", path, query=query, body=patch, content_type=PATCHES[kind]))

    def delete(
        self,
        ref: ObjectRef,
        *,
        propagation: Literal["Background", "Foreground", "Orphan"] = "Background",
        uid: str | None = None,
        resource_version: str | None = None,
    ) -> bool:
        """Ask for an object's deletion; finalizers may keep it for a while. Return False when it was not there.

        Raises:
            ApiError: 409 ``Conflict`` when it no longer has this ``uid`` or ``resource_version``.
        """
        preconditions = {"uid": uid, "resourceVersion": resource_version}
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": propagation,
            "preconditions": {key: value for key, value in preconditions.items() if value},
        }
        path = self.path(ref)
        try:
            self.request("DELETE", path, body=options)
        except ApiError as error:
            if error.not_found:
                return False
            raise
        return True

    def _collection(self, api_version: str, kind: str, namespace: str | None) -> str:
        resource = self.resource(api_version, kind)
        return resource.collection((namespace or self.namespace) if resource.namespaced else None)


def _query(query: Mapping[str, str | int | bool | None] | None) -> str:
    given = {key: "true" if value is True else value for key, value in (query or {}).items() if value}
    return f"?{urlencode(given)}" if given else ""


def _decode(data: bytes) -> Any:
    if not data:
        return None
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")


def _why(error: HTTPError) -> str:
    """Return the innermost sentence, without the connection that urllib3 puts in front."""
    return re.sub(r"^\w+\(host=[^)]*\): ", "", str(getattr(error, "reason", None) or error))
