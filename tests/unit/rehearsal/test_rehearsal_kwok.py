"""Clusters of local processes, with a fake kwokctl."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from jacquard.lab.rehearsal import kwok, kwok_configuration, ports, processes
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.region import Region
from jacquard.lab.toolchain import binaries
from jacquard.machine.errors import ToolchainError

FAKE = """#!/bin/sh
# A kwokctl whose API server never gets to listen.
folder="$KWOK_WORKDIR/clusters/acme"
mkdir -p "$folder/pids" "$folder/logs"
echo "$@" >> "$KWOK_WORKDIR/calls"
echo "starting" > "$folder/logs/kube-apiserver.log"
echo "$REASON" >> "$folder/logs/kube-apiserver.log"
printf 999999999 > "$folder/pids/kube-apiserver.pid"
exec sleep 60
"""


@pytest.fixture
def region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Region]:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("etcd", "kwok", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"):
        (programs / name).touch()
    (programs / "kwokctl").write_text(FAKE)
    (programs / "kwokctl").chmod(stat.S_IRWXU)
    monkeypatch.setenv("JACQUARD_BINARIES", str(programs))
    monkeypatch.setenv("JACQUARD_HOME", str(tmp_path / "home"))
    region = Region.of("lab")
    yield region
    processes.kill(processes.running(region.folder))


@pytest.mark.usefixtures("region")
def test_everything_listens_on_loopback_at_the_chosen_ports() -> None:
    options = kwok_configuration.configuration([21001, 21002, 21003, 21004, 21005, 21006])["options"]

    assert options["bindAddress"] == "127.0.0.1"
    assert (options["runtime"], options["enableCRDs"]) == ("binary", ["Stage"])
    assert {key: value for key, value in options.items() if key.endswith("Port")} == {
        "etcdPort": 21001,
        "kubeApiserverPort": 21002,
        "kubeControllerManagerPort": 21003,
        "kubeSchedulerPort": 21004,
        "kwokControllerPort": 21005,
        "etcdPeerPort": 21006,
    }


def test_a_port_used_meanwhile_is_replaced_by_others(region: Region, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REASON", "listen tcp 127.0.0.1:21002: bind: address already in use")
    messages: list[str] = []
    ports = []
    write = kwok.replace_private

    def remember(path: Path, text: str) -> None:
        ports.append(json.loads(text)["options"]["kubeApiserverPort"])
        write(path, text)

    monkeypatch.setattr(kwok, "replace_private", remember)

    with pytest.raises(RehearsalError) as caught:
        kwok.ensure(region, "acme", messages.append)

    assert len(set(ports)) == 5
    assert messages == ["acme: a port is in use by another process; trying other ports"] * 5
    log = region.cluster_folder("acme") / "logs" / "kube-apiserver.log"
    assert str(caught.value) == (
        "cluster acme: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok-controller did not start; "
        f"last lines of {log}:\n  starting\n  listen tcp 127.0.0.1:21002: bind: address already in use"
    )
    assert not region.cluster_folder("acme").exists()


def test_a_part_that_gave_up_on_a_busy_machine_is_tried_again(region: Region, monkeypatch: pytest.MonkeyPatch) -> None:
    """A region failed at load 16: its controller manager had waited for a slow API server."""
    reason = "failed to wait for apiserver being healthy: timed out waiting for the condition"
    monkeypatch.setenv("REASON", f'"command failed" err="{reason}: failed to get apiserver /healthz status"')
    messages: list[str] = []

    with pytest.raises(RehearsalError, match=reason):
        kwok.ensure(region, "acme", messages.append)

    assert messages == ["acme: the API server did not become healthy in time; starting it again"] * 5
    assert (region.workdir / "calls").read_text().count("create cluster") == 5


SLOW = """#!/bin/sh
# A kwokctl whose controller manager gives up on a slow API server twice, while that and etcd run.
folder="$KWOK_WORKDIR/clusters/acme"
mkdir -p "$folder/bin" "$folder/pids" "$folder/logs"
echo "$1" >> "$KWOK_WORKDIR/calls"
run() { ln -sf /bin/sleep "$folder/bin/$1"; "$folder/bin/$1" 60 > /dev/null 2>&1 & echo $! > "$folder/pids/$1.pid"; }
if [ "$1" = create ]; then
    echo '{"options": {PORTS}}' > "$folder/kwok.yaml"
    for part in etcd kube-apiserver kube-scheduler kwok-controller; do run $part; done
fi
if [ $(grep -c . "$KWOK_WORKDIR/calls") -lt 3 ]; then
    echo "failed to wait for apiserver being healthy: timed out" > "$folder/logs/kube-controller-manager.log"
    printf 999999999 > "$folder/pids/kube-controller-manager.pid"
    exec sleep 60
fi
run kube-controller-manager
"""


def test_a_slow_api_server_keeps_running_while_the_others_are_tried_again(
    region: Region, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    numbers = dict(zip([*kwok_configuration.PARTS.values(), "etcdPeerPort"], ports.free(6), strict=True))
    kwokctl = tmp_path / "bin" / "kwokctl"
    kwokctl.write_text(SLOW.replace("{PORTS}", json.dumps(numbers)))
    monkeypatch.setattr(kwok, "_wait_ready", lambda *_: True)
    messages: list[str] = []

    kwok.ensure(region, "acme", messages.append)

    assert (region.workdir / "calls").read_text().split() == ["create", "start", "start"]
    assert messages == ["acme: the API server is not healthy yet; starting the other parts again"]


def test_another_failure_is_reported_immediately(region: Region, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REASON", "unknown flag: --frob")

    with pytest.raises(RehearsalError) as caught:
        kwok.ensure(region, "acme", lambda _: None)

    assert str(caught.value).endswith("  starting\n  unknown flag: --frob")
    assert (region.workdir / "calls").read_text().count("create cluster") == 1


def test_a_partially_created_cluster_is_recreated(region: Region, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REASON", "no luck")
    left = region.cluster_folder("acme") / "etcd" / "half"
    left.parent.mkdir(parents=True)
    left.touch()

    with pytest.raises(RehearsalError):
        kwok.ensure(region, "acme", lambda _: None)

    assert not left.exists()
    assert "create cluster" in (region.workdir / "calls").read_text()


def test_a_missing_binary_is_named(region: Region, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JACQUARD_BINARIES")
    monkeypatch.setenv("JACQUARD_CACHE", str(tmp_path / "cache"))

    with pytest.raises(ToolchainError, match=r"^etcd: .* is not built; run `make setup`$"):
        kwok.ensure(region, "acme", lambda _: None)


def test_only_the_ports_are_changed_in_all_files(region: Region) -> None:
    folder = region.cluster_folder("acme")
    folder.mkdir(parents=True)
    numbers = dict(zip([*kwok_configuration.PARTS.values(), "etcdPeerPort"], range(11001, 11007), strict=True))
    config = {
        "options": {**numbers, "quota": 110011},
        "components": [{"args": ["--etcd-servers=http://127.0.0.1:11001"]}],
    }
    (folder / "kwok.yaml").write_text(json.dumps(config))
    (folder / "kubeconfig.yaml").write_text("server: https://127.0.0.1:11002\n")

    kwok._renumber(region, "acme")

    written = json.loads((folder / "kwok.yaml").read_text())
    new = written["options"]
    assert not set(numbers.values()) & {new[name] for name in numbers}
    assert written["components"] == [{"args": [f"--etcd-servers=http://127.0.0.1:{new['etcdPort']}"]}]
    assert new["quota"] == 110011
    assert (folder / "kubeconfig.yaml").read_text() == f"server: https://127.0.0.1:{new['kubeApiserverPort']}\n"


@pytest.mark.usefixtures("region")
def test_the_binaries_are_the_toolchains() -> None:
    options = kwok_configuration.configuration([1, 2, 3, 4, 5, 6])["options"]

    assert options["kubeApiserverBinary"] == str(binaries.path("kube-apiserver"))
    assert options["kwokControllerBinary"] == str(binaries.path("kwok"))


def test_the_controller_restarts_with_the_api_server(region: Region, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise it would not retry operations that failed while the API server was down."""
    folder = region.cluster_folder("acme")
    (folder / "bin").mkdir(parents=True)
    for part in kwok_configuration.PARTS.keys() - {"kube-apiserver"}:
        (folder / "bin" / part).symlink_to("/bin/sleep")
        processes.launch([str(folder / "bin" / part), "60"], log=folder / "log", environment={}, folder=folder)
    numbers = dict(zip([*kwok_configuration.PARTS.values(), "etcdPeerPort"], ports.free(6), strict=True))
    (folder / "kwok.yaml").write_text(json.dumps({"options": numbers}))
    running: list[str] = []

    def started(*_: object) -> bool:
        running.extend(process.part for process in processes.running(folder))
        return False

    monkeypatch.setattr(kwok, "_kwokctl", started)

    assert not kwok._start(region, "acme", lambda _: True)

    assert running == ["etcd", "kube-controller-manager", "kube-scheduler"]
