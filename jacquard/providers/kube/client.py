"""A client of one Kubernetes API server: thread-safe, with keep-alive, without the OpenAPI document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from copy import copy
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
from jacquard.providers.kube.objects import ObjectRef

PAGE = 500
"""Objects per page of a list, the same as in kubectl."""
JSON = "application/json"
METADATA = JSON + ";as=PartialObjectMetadata{};g=meta.k8s.io;v=v1"
APPLY = "application/apply-patch+yaml"
PATCHES = {"merge": "application/merge-patch+json", "json": "application/json-patch+json"}
_ERRORS_FROM = 400
_UNAUTHORIZED = 401
_PATIENCE = Retry(
    4, connect=0, read=0, redirect=0, other=0, status_forcelist=[429], allowed_methods=None, raise_on_status=False
)
"""Retries only after 429, because the server has then not processed the request; the caller handles other errors."""


class ApiServer:
    """Client of an API server with the credentials of one user. All methods are thread-safe.

    Every method raises `ApiError` for an unsuccessful response (`Unreachable` without a response); methods with a kind
    raise `KindNotFound` if the server does not serve it.
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
        """Return a client for ``context`` (default: the current context) of the kubeconfig at ``path``.

        Raises:
            KubeconfigError: The file is missing or not usable; the server is not contacted here.
        """
        connection = kubeconfig.load(path, context)
        return cls(connection, user_agent=user_agent, connections=connections, timeout_seconds=timeout_seconds)

    def acting_as(self, user: str) -> ApiServer:
        """Return a client that impersonates ``user``; a service account gets its groups from the API server."""
        other = copy(self)
        other._headers = {**self._headers, "Impersonate-User": user}  # noqa: SLF001 - another object of this class
        return other

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
        """Send a request and return the decoded JSON of the response (text if it is not JSON, None if it is empty).

        Args:
            method: HTTP method.
            path: Absolute path on the server, such as ``/api/v1/namespaces``.
            query: Query parameters; None and empty values are omitted, True becomes ``true``.
            body: Sent as JSON, which is also YAML.
            content_type: Content type of the body.
            accept: Accepted content types of the response.
        """
        headers = {"Accept": accept} if body is None else {"Accept": accept, "Content-Type": content_type}
        data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        url = self._prefix + path + _query(query)
        answer = self._send(method, url, data, headers)
        if answer.status == _UNAUTHORIZED and self._renew is not None:
            # Tokens of a credential program are valid for minutes; an apply can take longer.
            self._headers = {**self._headers, **self._renew()}
            answer = self._send(method, url, data, headers)
        if answer.status >= _ERRORS_FROM:
            raise refusal(answer.status, _decode(answer.data))
        return _decode(answer.data)

    def lines(self, path: str, query: Mapping[str, str | int | bool | None]) -> Iterator[Any]:
        """Yield each line of a streaming response, such as a watch, decoded; uses a connection until the end."""
        url = self._prefix + path + _query(query)
        with self._send("GET", url, None, {"Accept": JSON}, preload_content=False) as answer:
            if answer.status >= _ERRORS_FROM:
                raise refusal(answer.status, _decode(answer.data))
            yield from map(json.loads, answer)

    def _send(self, method: str, url: str, data: bytes | None, headers: Mapping[str, str], **how: Any) -> Response:
        try:
            return self._pool.request(method, url, body=data, headers={**self._headers, **headers}, **how)
        except HTTPError as error:
            raise Unreachable(self.server, _reason(error)) from error

    def resource(self, api_version: str, kind: str) -> Resource:
        """Return the resource of a kind, queried once per group and version, and again if the kind is missing."""
        return self._discovery.resource(api_version, kind)

    def version(self, group: str, kind: str) -> str | None:
        """Return a served apiVersion of a kind, if possible the server's preferred version; None if there is none."""
        return self._discovery.version(group, kind)

    def path(self, ref: ObjectRef, subresource: str | None = None) -> str:
        """Return the path of an object."""
        base = f"{self._collection(ref.api_version, ref.kind, ref.namespace)}/{quote(ref.name, safe='')}"
        return f"{base}/{subresource}" if subresource else base

    def get(self, ref: ObjectRef, *, metadata_only: bool = False) -> dict[str, Any] | None:
        """Return the object, or None if it does not exist; ``metadata_only`` omits the values of a Secret."""
        path = self.path(ref)
        try:
            return dict(self.request("GET", path, accept=METADATA.format("") if metadata_only else JSON))
        except ApiError as error:
            if error.not_found:
                return None
            raise

    def list(self, api_version: str, kind: str, **options: Any) -> list[dict[str, Any]]:
        """Return all objects that `each` yields."""
        return [*self.each(api_version, kind, **options)]

    def each(
        self,
        api_version: str,
        kind: str,
        *,
        namespace: str | None = None,
        label_selector: str | None = None,
        field_selector: str | None = None,
        metadata_only: bool = False,
    ) -> Iterator[dict[str, Any]]:
        """Yield all objects of a kind, in all namespaces or in ``namespace``, with apiVersion and kind set."""
        resource = self.resource(api_version, kind)
        path = resource.collection(namespace) if namespace and resource.namespaced else resource.collection(None)
        query: dict[str, str | int | None] = {
            "limit": PAGE,
            "labelSelector": label_selector,
            "fieldSelector": field_selector,
        }
        while True:
            page = self.request("GET", path, query=query, accept=METADATA.format("List") if metadata_only else JSON)
            yield from ({**item, "apiVersion": api_version, "kind": kind} for item in page.get("items") or ())
            query["continue"] = page.get("metadata", {}).get("continue")
            if not query["continue"]:
                return

    def apply(
        self, body: Mapping[str, Any], *, field_manager: str, dry_run: bool = False, force: bool = False
    ) -> dict[str, Any]:
        """Apply an object by server-side apply, rejecting unknown fields, and return the resulting object.

        An existing object is adopted without an error; check for an existing object first if adoption is not intended.

        Raises:
            ApiError: With `conflicts` for fields of other managers, `undeclared_field` for a field that the schema
            lacks.
        """
        query = {"fieldManager": field_manager, "fieldValidation": "Strict", "force": force or None}
        query["dryRun"] = "All" if dry_run else None
        return dict(self.request("PATCH", self.path(ObjectRef.of(body)), query=query, body=body, content_type=APPLY))

    def create(self, body: Mapping[str, Any], *, field_manager: str) -> dict[str, Any]:
        """Create an object, rejecting unknown fields; status 409 ``AlreadyExists`` if it exists."""
        ref = ObjectRef.of(body)
        query = {"fieldManager": field_manager, "fieldValidation": "Strict"}
        path = self._collection(ref.api_version, ref.kind, ref.namespace)
        return dict(self.request("POST", path, query=query, body=body))

    def replace(self, body: Mapping[str, Any], *, field_manager: str, dry_run: bool = False) -> dict[str, Any]:
        """Replace the object with this ``resourceVersion``, rejecting unknown fields."""
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
        """Request the deletion of an object; finalizers can delay it. Return False if it did not exist.

        Raises:
            ApiError: 409 ``Conflict`` if the object has another ``uid`` or ``resource_version``.
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
    parameters = {key: "true" if value is True else value for key, value in (query or {}).items() if value}
    return f"?{urlencode(parameters)}" if parameters else ""


def _decode(data: bytes) -> Any:
    if not data:
        return None
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")


def _reason(error: HTTPError) -> str:
    """Return the innermost error message, without urllib3's prefix for the connection."""
    return re.sub(r"^\w+\(host=[^)]*\): ", "", str(getattr(error, "reason", None) or error))
