"""Pods of images that exist as local programs: cluster, permissions, and lifetime of each program."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from jacquard.lab.rehearsal import processes
from jacquard.lab.rehearsal.operators import programs
from jacquard.lab.rehearsal.operators.network.name_server import NameServer
from jacquard.lab.rehearsal.operators.view import SIMULATED, simulated_secret
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.lab.toolchain import binaries
from tests.support.objects.live_objects import obj

IMAGE = "quay.io/metallb/controller:v0.16.1"
PART = "acme/metallb-controller"


@pytest.fixture
def region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Region]:
    """Return a region with one cluster; the program is Python."""
    monkeypatch.setattr(binaries, "path", lambda _: Path(sys.executable).resolve())
    found = Region("laptop", tmp_path / "region")
    point_at(found, "https://127.0.0.1:1")
    yield found
    processes.kill(processes.running(found.folder))


def point_at(region: Region, server: str) -> None:
    cluster = {"name": "c", "cluster": {"server": server}}
    context = {"name": "c", "context": {"cluster": "c", "user": "admin"}}
    config = {"clusters": [cluster], "users": [{"name": "admin", "user": {"token": "all rights"}}]}
    path = region.kubeconfig("acme")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({**config, "contexts": [context], "current-context": "c"}))


def kubelets(region: Region) -> Callable[[str, Any], None]:
    """Return a function that reconciles the programs of a cluster, as one round of the operators does."""
    kubelet = programs.Programs(region, NameServer(region.folder, {}))
    return lambda cluster, view: kubelet.reconcile(cluster, view, processes.running(region.folder))


def pod(name: str = "controller-1", phase: str = "Running", image: str = IMAGE, **container: Any) -> Any:
    given = {"args": ["-c", "import time; time.sleep(600)"], **container}
    spec = {"containers": [{"name": "controller", "image": image, **given}]}
    return obj("v1", "Pod", name, spec, namespace="metallb-system", status={"phase": phase})


def running(region: Region, part: str = PART) -> list[processes.Process]:
    return [one for one in processes.running(region.folder) if one.part == part]


def kubeconfig_of(process: processes.Process) -> Path:
    [option] = [one for one in process.arguments if one.startswith("--kubeconfig=")]
    return Path(option.partition("=")[2])


def test_a_program_runs_with_the_rights_of_its_pod_as_long_as_that_runs(region: Region, objects: Any) -> None:
    kubelet, view = kubelets(region), objects(pod(), pod("web", image="nginx"))

    kubelet("acme", objects(pod(phase="Pending")))
    assert running(region) == []
    kubelet("acme", view)
    kubelet("acme", view)
    [process] = running(region)
    kubeconfig = yaml.safe_load(kubeconfig_of(process).read_text())
    assert [user["user"] for user in kubeconfig["users"]] == [{"token": "token of controller-1"}]
    kubelet("acme", objects())

    assert running(region) == []


def test_another_pod_or_api_server_gets_a_separate_process(region: Region, objects: Any) -> None:
    kubelet = kubelets(region)
    found = []
    for name, server in (
        ("one", "https://127.0.0.1:1"),
        ("two", "https://127.0.0.1:1"),
        ("two", "https://127.0.0.1:2"),
    ):
        body = pod(name)
        body["metadata"]["uid"] = f"uid of {name}"
        point_at(region, server)
        kubelet("acme", objects(body))
        [process] = running(region)
        found.append(process.pid)

    assert len(set(found)) == len(found)


def test_a_failed_program_is_not_restarted_immediately(region: Region, objects: Any) -> None:
    kubelet, view = kubelets(region), objects(pod())
    kubelet("acme", view)
    processes.kill(running(region))

    kubelet("acme", view)
    assert running(region) == []
    kubelets(region)("acme", view)

    assert len(running(region)) == 1


def test_external_dns_runs_in_the_management_cluster_with_its_secrets_and_follows_them(
    region: Region, objects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads a tenant's cluster with the kubeconfig in a Secret."""
    management = Region("laptop", region.folder)
    monkeypatch.setattr(Region, "kubeconfig", lambda *_: region.cluster_folder("acme") / "kubeconfig.yaml")
    body = pod(
        image="registry.k8s.io/external-dns/external-dns:v0.21.0",
        args=["-c", "import time; time.sleep(600)", "--kubeconfig=/etc/external-dns/kubeconfig/value"],
        env=[{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "dns-key", "key": "secret"}}}],
        volumeMounts=[{"name": "kubeconfig", "mountPath": "/etc/external-dns/kubeconfig"}],
    )
    body["spec"]["volumes"] = [{"name": "kubeconfig", "secret": {"secretName": "acme-kubeconfig"}}]
    place = body["metadata"]["namespace"]
    key, kubeconfig = (
        simulated_secret(*one) for one in (("dns-key", place, ["secret"]), ("acme-kubeconfig", place, ["value"]))
    )
    kubelet, part = kubelets(management), f"{MANAGEMENT}/external-dns"

    for lacking in ((), (key,), (kubeconfig,)):
        kubelet(MANAGEMENT, objects(body, *lacking))
        assert running(region, part) == []
    view = objects(body, key, kubeconfig)
    kubelet(MANAGEMENT, view)
    [process] = running(region, part)
    assert kubeconfig_of(process).read_text() == SIMULATED
    environment = Path(f"/proc/{process.pid}/environ").read_text().split("\0")
    assert f"KEY={SIMULATED}" in environment

    view.get("Secret", "acme-kubeconfig", place)["data"]["value"] = base64.b64encode(b"another").decode()
    kubelet(MANAGEMENT, view)
    [other] = running(region, part)
    assert (kubeconfig_of(other).read_text(), other.pid == process.pid) == ("another", False)
    kubelet("acme", view)
    assert running(region, "acme/external-dns") == []
