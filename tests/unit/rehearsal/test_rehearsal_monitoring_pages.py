"""Metrics of the programs of a region: their address is one of their options."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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
