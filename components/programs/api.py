"""Client of an API server for programs that run in clusters, with the standard library only."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

CONFLICTS = (404, 409)
"""Codes of a write to an object that was deleted or changed since it was read."""
_PAGE, _SECONDS, _NOT_FOUND = 500, 30, 404


class Api:
    """Client of the management cluster's API server, with the permissions of one ServiceAccount."""

    def __init__(self, server: str, account: Path, manager: str) -> None:
        """Read the token and the CA of ``account``, a folder; ``manager`` is the field manager of writes."""
        self._server, self._token = server, (account / "token").read_text().strip()
        self._context = ssl.create_default_context(cafile=str(account / "ca.crt"))
        self._manager = urllib.parse.urlencode({"fieldManager": manager})

    def items(self, version: str, plural: str, namespace: str = "") -> Iterator[dict[str, Any]]:
        """Yield all objects of a resource in a namespace, or in all namespaces, page by page."""
        token, where = "", f"namespaces/{namespace}/" if namespace else ""
        while True:
            query = urllib.parse.urlencode({"limit": _PAGE, "continue": token})
            answer = self._send("GET", f"/apis/{version}/{where}{plural}?{query}")
            yield from answer.get("items") or ()
            token = answer["metadata"].get("continue", "")
            if not token:
                return

    def get(self, version: str, plural: str, namespace: str, name: str) -> dict[str, Any] | None:
        """Return an object; None if it does not exist."""
        try:
            return self._send("GET", f"/apis/{version}/namespaces/{namespace}/{plural}/{name}")
        except urllib.error.HTTPError as error:
            if error.code != _NOT_FOUND:
                raise
            return None

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

    def delete(self, version: str, plural: str, body: dict[str, Any]) -> None:
        """Delete an object that has not changed since it was read."""
        same = {key: body["metadata"][key] for key in ("uid", "resourceVersion")}
        self._send("DELETE", _path(version, plural, body), {"preconditions": same})

    def _send(
        self, method: str, path: str, body: dict[str, Any] | None = None, *, patch: str = "merge-patch+json"
    ) -> dict[str, Any]:
        kind = patch if method == "PATCH" else "json"
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": f"application/{kind}"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._server + path, data, headers, method=method)  # noqa: S310 - https only
        with urllib.request.urlopen(request, timeout=_SECONDS, context=self._context) as answer:  # noqa: S310
            return dict(json.load(answer))


def _path(version: str, plural: str, body: dict[str, Any]) -> str:
    return f"/apis/{version}/namespaces/{body['metadata']['namespace']}/{plural}/{body['metadata']['name']}"
