"""Metrics of the programs of a region: their address is one of their options."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from jacquard.lab.rehearsal import processes
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.monitoring import server
from jacquard.lab.rehearsal.monitoring.observed import Apis
from jacquard.lab.rehearsal.monitoring.pages import Pages
from jacquard.lab.rehearsal.monitoring.targets import Program
from jacquard.lab.rehearsal.processes import Process
from jacquard.lab.rehearsal.region import Region

DNS = "management/external-dns"


@pytest.fixture
def region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Region]:
    """Return a region with an etcd and two instances of ExternalDNS, each with a page of metrics."""
    servers = {name: server.start(0, lambda _, name=name: f"{name} 1\n", tmp_path / "notices") for name in "abc"}
    addresses = {name: f"127.0.0.1:{one.server_port}" for name, one in servers.items()}

    def dns(name: str, pod: str) -> tuple[str, ...]:
        file = tmp_path / f"kwok/clusters/management/programs/{pod}/external-dns-0123456789ab.yaml"
        return ("external-dns", f"--metrics-address={addresses[name]}", f"--kubeconfig={file}")

    running = [
        Process("acme-train/etcd", 1, "", ("etcd", f"--listen-client-urls=http://{addresses['a']}")),
        Process(DNS, 2, "", dns("b", "external-dns/external-dns-1")),
        Process(DNS, 3, "", dns("c", "acme-train/external-dns-2")),
    ]
    monkeypatch.setattr(processes, "running", lambda _: running)
    yield Region("laptop", tmp_path)
    for one in servers.values():
        one.shutdown()
        one.server_close()


@pytest.mark.parametrize(
    ("program", "page"),
    [
        (Program("acme-train/etcd"), "a 1\n"),
        (Program(DNS, "external-dns/external-dns-1"), "b 1\n"),
        (Program(DNS, "acme-train/external-dns-2"), "c 1\n"),
    ],
)
def test_a_page_is_that_of_the_program_and_its_pod(region: Region, program: Program, page: str) -> None:
    assert Pages(region, Apis(region))(program) == page


@pytest.mark.parametrize(
    ("program", "error"),
    [
        (Program("globex-lab/etcd"), "globex-lab/etcd: not running"),
        (Program(DNS, "a/b"), "management/external-dns of pod a/b: not running"),
    ],
)
def test_a_program_that_does_not_run_has_no_page(region: Region, program: Program, error: str) -> None:
    with pytest.raises(RehearsalError, match=error):
        Pages(region, Apis(region))(program)


class Reviewing(BaseHTTPRequestHandler):
    """Serves metrics to one account."""

    def do_GET(self) -> None:
        self.send_response(200 if self.headers["Authorization"] == "Bearer token-2" else 401)
        self.end_headers()
        self.wfile.write(b"up 1\n")

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


class Api:
    """API server that gives another token for each request."""

    def __init__(self) -> None:
        self.applied: list[str] = []
        self.paths: list[str] = []

    def apply(self, body: dict[str, Any], *, field_manager: str) -> None:
        assert field_manager == "rehearsal-monitoring"
        self.applied.append(body["kind"])

    def request(self, method: str, path: str, *, body: dict[str, Any]) -> dict[str, Any]:
        assert (method, body["kind"]) == ("POST", "TokenRequest")
        self.paths.append(path)
        return {"status": {"token": f"token-{len(self.paths)}"}}


def test_a_program_that_reviews_accounts_gets_a_token_and_a_new_one_after_a_rejection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = ThreadingHTTPServer(("127.0.0.1", 0), Reviewing)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    arguments = ("metallb-controller", f"--port=http://127.0.0.1:{running.server_port}", "--kubeconfig=/p/a/b/c.yaml")
    monkeypatch.setattr(processes, "running", lambda _: [Process("acme-train/metallb-controller", 1, "", arguments)])
    api = Api()
    apis: Any = type("Apis", (), {"of": lambda _, cluster: {"acme-train": api}[cluster]})()
    pages, program = Pages(Region("laptop", tmp_path), apis), Program("acme-train/metallb-controller", "a/b")
    try:
        with pytest.raises(HTTPError, match="401"):
            pages(program)
        assert [pages(program), pages(program)] == ["up 1\n", "up 1\n"]
    finally:
        running.shutdown()
        running.server_close()
    assert api.paths == ["/api/v1/namespaces/kube-system/serviceaccounts/local-region-metrics/token"] * 2
    assert api.applied == ["ServiceAccount", "ClusterRoleBinding"] * 2
