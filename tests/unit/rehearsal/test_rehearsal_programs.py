"""Pods of images that are here as programs: which program, with what arguments, and as long as the pod runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from live_objects import obj

from rehearsal import processes
from rehearsal.operators import programs
from rehearsal.region import Region
from toolchain import binaries

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


def pod(name: str = "controller-1", phase: str = "Running", image: str = IMAGE, **container: Any) -> Any:
    given = {"args": ["-c", "import time; time.sleep(600)"], **container}
    spec = {"containers": [{"name": "controller", "image": image, **given}]}
    return obj("v1", "Pod", name, spec, namespace="metallb-system", status={"phase": phase})


def running(region: Region) -> list[processes.Process]:
    return [one for one in processes.running(region.folder) if one.part == PART]


@pytest.mark.usefixtures("region")
@pytest.mark.parametrize(
    ("image", "program"),
    [
        (IMAGE, "metallb-controller"),
        ("registry:5000/quay/metallb/controller@sha256:0", "metallb-controller"),
        ("metallb/controller", "metallb-controller"),
        ("quay.io/notmetallb/controller:v1", None),
        ("quay.io/metallb/speaker:v0.16.1", None),
    ],
)
def test_a_program_is_known_by_the_end_of_its_images_name(image: str, program: str | None) -> None:
    assert programs.program_of(image) == program


def test_a_container_has_its_own_arguments_and_variables_but_for_ports_and_webhooks() -> None:
    filled = {"name": "METALLB_POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    elsewhere = {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    body = pod(args=["--port=9120", "--lb-class=x"], env=[filled, elsewhere, {"name": "MODE", "value": "frr-k8s"}])
    [container] = body["spec"]["containers"]

    assert programs.arguments(body, container, Path("/k"), 7001, 7002) == [
        "--port=9120",
        "--lb-class=x",
        "--port=7001",
        "--health-probe-port=7002",
        "--webhook-mode=disabled",
        "--namespace=metallb-system",
        "--kubeconfig=/k",
    ]
    assert programs.variables(body, container) == {"METALLB_POD_NAME": "controller-1", "MODE": "frr-k8s"}


def test_a_program_runs_with_the_rights_of_its_pod_as_long_as_that_runs(region: Region, objects: Any) -> None:
    kubelet, view = programs.Programs(region), objects(pod(), pod("web", image="nginx"))

    kubelet.reconcile("acme", objects(pod(phase="Pending")))
    assert running(region) == []
    kubelet.reconcile("acme", view)
    kubelet.reconcile("acme", view)
    [process] = running(region)
    [option] = [one for one in process.arguments if one.startswith("--kubeconfig=")]
    kubeconfig = yaml.safe_load(Path(option.partition("=")[2]).read_text())
    assert [user["user"] for user in kubeconfig["users"]] == [{"token": "token of controller-1"}]
    kubelet.reconcile("acme", objects())

    assert running(region) == []


def test_another_pod_or_api_server_gets_a_process_of_its_own(region: Region, objects: Any) -> None:
    kubelet = programs.Programs(region)
    found = []
    for name, server in (
        ("one", "https://127.0.0.1:1"),
        ("two", "https://127.0.0.1:1"),
        ("two", "https://127.0.0.1:2"),
    ):
        body = pod(name)
        body["metadata"]["uid"] = f"uid of {name}"
        point_at(region, server)
        kubelet.reconcile("acme", objects(body))
        [process] = running(region)
        found.append(process.pid)

    assert len(set(found)) == len(found)


def test_a_program_that_dies_is_not_started_again_at_once(region: Region, objects: Any) -> None:
    kubelet, view = programs.Programs(region), objects(pod())
    kubelet.reconcile("acme", view)
    processes.kill(running(region))

    kubelet.reconcile("acme", view)
    assert running(region) == []
    programs.Programs(region).reconcile("acme", view)

    assert len(running(region)) == 1
