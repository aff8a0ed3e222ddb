"""A region's objects in memory, with the interface of `jacquard.lab.rehearsal.operators.view.View`."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.hosts import nodes
from jacquard.lab.rehearsal.operators.sealed import sealed


class Objects:
    """A `View` over a dictionary; each object gets the fields that the API server would add."""

    def __init__(self, *objects: dict[str, Any]) -> None:
        self._numbers = itertools.count(1)
        self.store: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.refused: set[str] = set()
        """Names of objects whose installation or change is rejected."""
        self.attempts: list[str] = []
        """Names of the objects whose change was requested."""
        self.unauthorized: set[str] = set()
        """Resources that no ServiceAccount may access."""
        self.asked: list[tuple[str, ...]] = []
        """Access reviews: namespace, ServiceAccount, verb, group and resource."""
        self.compared: list[str] = []
        """Names of objects that were compared with those of a release."""
        self.installed: list[tuple[str, str, str]] = []
        """Kind, namespace and field manager of each installed object."""
        for obj in objects:
            self.create(obj)

    def all(self, api_version: str, kind: str) -> Iterator[dict[str, Any]]:
        found = [obj for obj in self.store.values() if (obj["apiVersion"], obj["kind"]) == (api_version, kind)]
        return iter(sealed(found))

    def find(self, api_version: str, kind: str, name: str | None, namespace: str | None = None) -> Any:
        for place in (namespace or "", ""):
            obj = self.store.get((kind, place, name or ""))
            if obj and obj["apiVersion"] == api_version:
                return sealed(obj)
        return None

    def create(self, body: dict[str, Any]) -> None:
        obj = copy.deepcopy(body)
        obj["metadata"].setdefault("uid", f"uid-{next(self._numbers)}")
        obj["metadata"].setdefault("generation", 1)
        obj["metadata"].setdefault("resourceVersion", str(next(self._numbers)))
        self.store.setdefault(self._key(obj), obj)

    def apply(self, body: dict[str, Any]) -> None:
        self.create(body)
        self._merge(self.store[self._key(body)], copy.deepcopy(body))

    def install(self, body: dict[str, Any], namespace: str, field_manager: str) -> str:
        if body["metadata"]["name"] in self.refused:
            return f"{body['kind']} {body['metadata']['name']}: refused"
        self.installed.append((body["kind"], body["metadata"].get("namespace", namespace), field_manager))
        self.apply(body)
        return ""

    def differs(self, live: dict[str, Any], body: dict[str, Any], *_: str) -> bool:
        self.compared.append(body["metadata"]["name"])
        after = copy.deepcopy(live)
        self._merge(after, copy.deepcopy(body))
        return after != live

    def edit(self, kind: str, name: str, namespace: str, patch: dict[str, Any]) -> None:
        """Edit an object manually."""
        obj = self.store[kind, namespace, name]
        self._merge(obj, patch)
        obj["metadata"]["resourceVersion"] = str(next(self._numbers))

    def kubernetes(self) -> str:
        return "v1.36.3"

    def token(self, pod: dict[str, Any]) -> str:
        return f"token of {pod['metadata']['name']}"

    def account_token(self, namespace: str, account: str, **_: Any) -> str:
        return f"token of {namespace}/{account}"

    def allows(self, namespace: str, account: str, verb: str, group: str, resource: str) -> bool:
        self.asked.append((namespace, account, verb, group, resource))
        return resource not in self.unauthorized

    def patch(self, obj: dict[str, Any], patch: dict[str, Any], _subresource: str | None = None) -> bool:
        self.attempts.append(obj["metadata"]["name"])
        if obj["metadata"]["name"] in self.refused:
            return False
        self._merge(self.store[self._key(obj)], copy.deepcopy(patch))
        return True

    def status(self, obj: dict[str, Any], patch: dict[str, Any]) -> None:
        self.patch(obj, {"status": patch})

    def delete(self, obj: dict[str, Any]) -> None:
        del self.store[self._key(obj)]

    def get(self, kind: str, name: str, namespace: str = "") -> dict[str, Any]:
        return self.store[kind, namespace, name]

    @staticmethod
    def _key(obj: dict[str, Any]) -> tuple[str, str, str]:
        return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]

    def _merge(self, into: dict[str, Any], patch: dict[str, Any]) -> None:
        for key, value in patch.items():
            if value is None:
                into.pop(key, None)
            elif isinstance(value, dict):
                into[key] = into[key] if isinstance(into.get(key), dict) else {}
                self._merge(into[key], value)
            else:
                into[key] = value


@pytest.fixture
def objects() -> type[Objects]:
    """Return the class, with which a test creates a view."""
    return Objects


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the files in the bootstrap data of node n1, which runs on host h1."""
    written: dict[str, str] = {}

    def origins(_: Any) -> Any:
        listed = [{"path": path, "content": content} for path, content in written.items()]
        return {("acme", "n1"): nodes.Origin(host="h1", config={"spec": {"files": listed}})}

    monkeypatch.setattr(nodes, "origins", origins)
    return written
