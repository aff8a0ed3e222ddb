"""Client of an API server for programs that run in clusters, with the standard library only."""

from __future__ import annotations

import base64
import json
import re
import ssl
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

_CONFLICTS = (404, 409)
"""Codes of a write to an object that was deleted or changed since it was read."""
_PAGE, _SECONDS, _NOT_FOUND = 500, 30, 404
_ENTRY = re.compile(r"^[ -]*(server|[a-z-]+-data): *[\"']?([^\s\"']+)[\"']?\s*$", re.MULTILINE)
"""Line of a kubeconfig with an address, a certificate or a key."""


class Api:
    """Client of an API server, with the permissions of one ServiceAccount or of a kubeconfig."""

    def __init__(self, server: str, login: Mapping[str, str], context: ssl.SSLContext, manager: str) -> None:
        """Store the connection: ``login`` are headers, and ``manager`` is the field manager of writes."""
        self._server, self._login, self._context = server, login, context
        self._manager = urllib.parse.urlencode({"fieldManager": manager})

    @classmethod
    def of_account(cls, server: str, account: Path, manager: str) -> Self:
        """Return a client of ``server`` with the token and the CA of ``account``, a folder."""
        token = (account / "token").read_text().strip()
        context = ssl.create_default_context(cafile=str(account / "ca.crt"))
        return cls(server, {"Authorization": f"Bearer {token}"}, context, manager)

    @classmethod
    def of_kubeconfig(cls, file: Path, manager: str) -> Self:
        """Return a client with the server, CA and client certificate of a kubeconfig, as Cluster API writes it.

        Raises:
            ValueError: The file has several clusters or users.
        """
        entries = _ENTRY.findall(file.read_text(encoding="utf-8"))
        values = dict(entries)
        if len(values) != len(entries):
            msg = f"{file} has several clusters or users; write a kubeconfig of one cluster"
            raise ValueError(msg)
        context = ssl.create_default_context(cadata=_decoded(values["certificate-authority-data"]))
        # The standard library reads key pairs from files only.
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as pair:
            pair.write("\n".join(_decoded(values[f"client-{part}-data"]) for part in ("certificate", "key")))
            pair.flush()
            context.load_cert_chain(pair.name)
        return cls(values["server"], {}, context, manager)

    def items(self, version: str, plural: str, namespace: str = "", **query: str) -> Iterator[dict[str, Any]]:
        """Yield all objects of a resource in a namespace, or in all namespaces, page by page.

        ``query`` are further parameters, such as ``fieldSelector``.
        """
        token, where = "", f"namespaces/{namespace}/" if namespace else ""
        while True:
            page = urllib.parse.urlencode({**query, "limit": _PAGE, "continue": token})
            answer = self._send("GET", f"{_base(version)}/{where}{plural}?{page}")
            yield from answer.get("items") or ()
            token = answer["metadata"].get("continue", "")
            if not token:
                return

    def get(self, version: str, plural: str, namespace: str, name: str) -> dict[str, Any] | None:
        """Return an object; None if it does not exist."""
        try:
            return self._send("GET", f"{_base(version)}/namespaces/{namespace}/{plural}/{name}")
        except urllib.error.HTTPError as error:
            if error.code != _NOT_FOUND:
                raise
            return None

    def ask(self, namespace: str, service: str, path: str, headers: Mapping[str, str]) -> dict[str, Any]:
        """Return the JSON that a Service, ``name:port``, answers at ``path``; the API server forwards the request."""
        return self._send(
            "GET", f"{_base('v1')}/namespaces/{namespace}/services/{service}/proxy{path}", headers=headers
        )

    def note(self, version: str, plural: str, body: dict[str, Any], notes: Mapping[str, str | None]) -> None:
        """Set annotations of an object that has not changed since it was read; None removes an annotation."""
        metadata = {"annotations": notes, "resourceVersion": body["metadata"]["resourceVersion"]}
        self._send("PATCH", f"{_path(version, plural, body)}?{self._manager}", {"metadata": metadata})

    def apply_status(self, plural: str, body: dict[str, Any], status: dict[str, Any]) -> None:
        """Apply fields of the status of an object that was read; other managers keep their fields."""
        same = {key: body["metadata"][key] for key in ("name", "namespace", "uid")}
        applied = {"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": same, "status": status}
        path = f"{_path(body['apiVersion'], plural, body)}/status?{self._manager}"
        self._send("PATCH", path, applied, patch="apply-patch+yaml")

    def patch_status(self, version: str, plural: str, body: dict[str, Any], status: dict[str, Any]) -> None:
        """Set fields of the status of an object that has not changed since it was read, whichever manager has them."""
        patch = {"metadata": {"resourceVersion": body["metadata"]["resourceVersion"]}, "status": status}
        self._send("PATCH", f"{_path(version, plural, body)}/status?{self._manager}", patch)

    def merge_conditions(
        self, version: str, plural: str, body: dict[str, Any], conditions: list[dict[str, Any]]
    ) -> None:
        """Set conditions of an object of Kubernetes' own API, in which other conditions stay unchanged."""
        patch = {"metadata": {"uid": body["metadata"]["uid"]}, "status": {"conditions": conditions}}
        path = f"{_path(version, plural, body)}/status?{self._manager}"
        self._send("PATCH", path, patch, patch="strategic-merge-patch+json")

    def create(self, version: str, plural: str, namespace: str, body: dict[str, Any]) -> None:
        """Create an object."""
        self._send("POST", f"{_base(version)}/namespaces/{namespace}/{plural}?{self._manager}", body)

    def delete(self, version: str, plural: str, body: dict[str, Any]) -> None:
        """Delete an object that has not changed since it was read."""
        same = {key: body["metadata"][key] for key in ("uid", "resourceVersion")}
        self._send("DELETE", _path(version, plural, body), {"preconditions": same})

    def _send(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        patch: str = "merge-patch+json",
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        kind = patch if method == "PATCH" else "json"
        sent = {**self._login, "Content-Type": f"application/{kind}", **(headers or {})}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._server + path, data, sent, method=method)  # noqa: S310 - https only
        with urllib.request.urlopen(request, timeout=_SECONDS, context=self._context) as answer:  # noqa: S310
            return dict(json.load(answer))


def is_written(write: Callable[..., object], *arguments: object) -> bool:
    """Call ``write``; return False if an object was deleted or changed since it was read."""
    try:
        write(*arguments)
    except urllib.error.HTTPError as error:
        if error.code not in _CONFLICTS:
            raise
        return False
    return True


def _base(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


def _path(version: str, plural: str, body: dict[str, Any]) -> str:
    namespace = body["metadata"].get("namespace")
    where = f"namespaces/{namespace}/" if namespace else ""
    return f"{_base(version)}/{where}{plural}/{body['metadata']['name']}"


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode()
