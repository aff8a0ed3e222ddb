"""Creation of clusters, with fake kind, docker and kubectl."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from jacquard.lab.rehearsal import backends, kind_configuration, processes, service
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.region import Region
from jacquard.lab.toolchain.kind import DEFAULT

KUBECONFIG = """apiVersion: v1
kind: Config
current-context: {name}
clusters: [{{name: c, cluster: {{server: "https://127.0.0.1:1"}}}}]
users: [{{name: u, user: {{token: t}}}}]
contexts: [{{name: {name}, context: {{cluster: c, user: u}}}}]
"""
KIND = """#!/bin/sh
echo "kind $@" >> "$CALLS"
case "$1 $2" in
  "get clusters") cat "$CLUSTERS" 2>/dev/null;;
  "create cluster") [ -r "$6" ] && echo "$4" >> "$CLUSTERS" && cp "$TEMPLATE" "$8";;
  "get kubeconfig") cat "$TEMPLATE";;
esac
"""
DOCKER = """#!/bin/sh
echo "docker $@" >> "$CALLS"
[ "$1 $2" != "image inspect" ] || [ "$5" != missing ] || { echo "No such image: missing" >&2; exit 1; }
"""
KUBECTL = """#!/bin/sh
for last; do :; done
[ "$last" = there ] || { echo "error: context was not found for specified context: $last" >&2; exit 1; }
cat "$TEMPLATE"
"""


@pytest.fixture
def region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Region]:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in {
        "kind": KIND,
        "docker": DOCKER,
        "kubectl": KUBECTL,
        "kwok": "#!/bin/sh\nexec sleep 60\n",
    }.items():
        (programs / name).write_text(text)
        (programs / name).chmod(stat.S_IRWXU)
    (tmp_path / "clusters").touch()
    (tmp_path / "template").write_text(KUBECONFIG.format(name="kind"))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("JACQUARD_BINARIES", str(programs))
    monkeypatch.setenv("JACQUARD_HOME", str(tmp_path / "home"))
    for name in ("CALLS", "CLUSTERS", "TEMPLATE"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    region = Region.of("lab")
    yield region
    processes.kill(processes.running(region.folder))


def calls(tmp_path: Path) -> list[str]:
    return (tmp_path / "calls").read_text().splitlines()


def test_kwok_is_the_default() -> None:
    assert isinstance(backends.chosen(), backends.Kwok)


def test_kind_without_its_programs_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JACQUARD_CLUSTER", "kind")
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(RehearsalError) as caught:
        backends.chosen()

    assert str(caught.value) == (
        "kind: is not on PATH; run 'go install sigs.k8s.io/kind@v0.32.0', or unset JACQUARD_CLUSTER\n"
        "docker: is not on PATH; install Docker Engine, or unset JACQUARD_CLUSTER"
    )


def test_kind_creates_a_cluster_once_and_deletes_it(region: Region, tmp_path: Path) -> None:
    name = backends.kind_name(region, "management")
    kubeconfig = region.cluster_folder("management") / "kubeconfig.yaml"
    configuration = region.cluster_folder("management") / "kind.yaml"
    backend = backends.Kind()

    backend.ensure(region, "management", lambda _: None)
    backend.ensure(region, "management", lambda _: None)

    assert calls(tmp_path) == [
        "kind get clusters",
        f"docker image inspect --format {{{{.Id}}}} {DEFAULT.name}",
        f"kind create cluster --name {name} --config {configuration} --kubeconfig {kubeconfig}",
        f"docker start {name}-control-plane",
        "kind get clusters",
        f"docker start {name}-control-plane",
    ]
    assert configuration.read_text() == kind_configuration.text(name, DEFAULT.name)
    assert "current-context: lab-management" in region.kubeconfig("management").read_text()
    assert region.kubeconfig("management").stat().st_mode & 0o777 == 0o600

    backend.remove(region, "management")

    assert calls(tmp_path)[-1] == f"kind delete cluster --name {name}"
    assert processes.running(region.folder) == []
    assert not region.kubeconfig("management").exists()


def test_two_clones_use_different_names_for_a_kind_cluster() -> None:
    names = {backends.kind_name(Region("lab", Path(folder)), "management") for folder in ("/a/lab", "/b/lab")}

    assert len(names) == 2


def test_kind_without_its_node_image_is_refused(region: Region, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACQUARD_KIND_IMAGE", "missing")

    with pytest.raises(RehearsalError) as caught:
        backends.Kind().ensure(region, "management", lambda _: None)

    assert str(caught.value) == (
        "docker: image missing does not exist; run 'docker pull missing', set JACQUARD_KIND_IMAGE to another image, or"
        " unset JACQUARD_CLUSTER"
    )


def test_a_context_is_selected_by_its_name(region: Region) -> None:
    backends.Context("there").ensure(region, "management", lambda _: None)

    assert "server: https://127.0.0.1:1" in region.kubeconfig("management").read_text()


def test_a_context_that_is_not_there_is_refused(region: Region) -> None:
    with pytest.raises(RehearsalError) as caught:
        backends.Context("gone").ensure(region, "management", lambda _: None)

    assert str(caught.value) == (
        "JACQUARD_CLUSTER: no context 'gone' in the kubeconfig; `kubectl config get-contexts` lists them"
    )


def test_a_cluster_is_never_continued_with_another_backend(region: Region) -> None:
    region.workdir.mkdir(parents=True)
    region.backend_mark("acme").write_text("kind")

    with pytest.raises(RehearsalError) as caught:
        service.up(region, "acme", lambda _: None)

    assert str(caught.value) == "cluster acme was created with kind; set JACQUARD_CLUSTER=kind, or remove it first"


def test_a_cluster_is_deleted_by_the_backend_that_created_it(region: Region, tmp_path: Path) -> None:
    region.workdir.mkdir(parents=True)
    region.backend_mark("management").write_text("kind")

    service.down(region, None)

    assert calls(tmp_path) == [f"kind delete cluster --name {backends.kind_name(region, 'management')}"]
    assert not region.folder.exists()
    assert list(region.folder.parent.iterdir()) == []
