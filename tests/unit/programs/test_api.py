"""The program's API server address, from the kubeconfig of Cluster API, and the paths of its requests."""

from __future__ import annotations

import base64
import ssl
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.programs.api import Api


class Context:
    """TLS context that records the key pair."""

    pair = ""

    def load_cert_chain(self, file: str) -> None:
        self.pair = Path(file).read_text()


def kubeconfig(**user: str) -> dict[str, Any]:
    def coded(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    pair = {"client-certificate-data": coded("certificate"), "client-key-data": coded("key")}
    return {
        "clusters": [
            {"name": "c", "cluster": {"server": "https://10.3.0.7:6443", "certificate-authority-data": coded("CA")}}
        ],
        "users": [{"name": "u", "user": {**pair, **user}}],
    }


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> Context:
    found = Context()

    def created(**options: str) -> Context:
        assert options == {"cadata": "CA"}
        return found

    monkeypatch.setattr(ssl, "create_default_context", created)
    return found


def test_a_kubeconfig_has_server_authority_and_key_pair(tmp_path: Path, context: Context) -> None:
    file = tmp_path / "value"
    file.write_text(yaml.dump(kubeconfig()))

    api = Api.of_kubeconfig(file, "test")

    assert vars(api)["_server"] == "https://10.3.0.7:6443"
    assert context.pair == "certificate\nkey"


def test_a_kubeconfig_of_several_clusters_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "value"
    file.write_text(2 * yaml.dump(kubeconfig()))

    with pytest.raises(ValueError, match="has several clusters or users; write a kubeconfig of one cluster"):
        Api.of_kubeconfig(file, "test")


def test_paths_of_core_and_other_groups(monkeypatch: pytest.MonkeyPatch, context: Context) -> None:
    api, sent = Api("https://server", {}, context, "test"), []  # type: ignore[arg-type]  # unused here

    def send(method: str, path: str, _body: Any = None, *, patch: str = "", headers: Any = None) -> dict[str, Any]:
        sent.append((method, path, patch if headers is None else headers))
        return {"items": [], "metadata": {}}

    monkeypatch.setattr(api, "_send", send)
    list(api.items("v1", "pods", fieldSelector="spec.nodeName=a"))
    list(api.items("batch/v1", "jobs", "node-tests"))
    api.ask("a", "b:80", "/c", {"d": "e"})
    api.create("batch/v1", "jobs", "node-tests", {})
    api.merge_conditions("v1", "nodes", {"metadata": {"name": "a", "uid": "u"}}, [])

    assert sent == [
        ("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Da&limit=500&continue=", ""),
        ("GET", "/apis/batch/v1/namespaces/node-tests/jobs?limit=500&continue=", ""),
        ("GET", "/api/v1/namespaces/a/services/b:80/proxy/c", {"d": "e"}),
        ("POST", "/apis/batch/v1/namespaces/node-tests/jobs?fieldManager=test", ""),
        ("PATCH", "/api/v1/nodes/a/status?fieldManager=test", "strategic-merge-patch+json"),
    ]
