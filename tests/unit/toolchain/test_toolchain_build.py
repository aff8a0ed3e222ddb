"""Binaries are built once, next to their destination; an interrupted or failed build is resumed."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from jacquard.lab.toolchain import binaries, build, process, tools
from jacquard.lab.toolchain.families import FAMILIES
from jacquard.lab.toolchain.family import Family
from jacquard.lab.toolchain.progress import Progress
from jacquard.lab.toolchain.tools import Tool
from jacquard.machine import paths
from jacquard.machine.errors import ToolchainError

BY_NAME = {family.name: family for family in FAMILIES}
ETCD, KWOK, CRDS = BY_NAME["etcd"], BY_NAME["kwok"], BY_NAME["crds"]


@pytest.fixture
def go(fake_go: Path) -> Tool:
    found = tools.find("go")
    assert found is not None
    assert found.path == fake_go
    return found


def built(*families: Family, go: Tool) -> list[str]:
    """Build and return the messages, without times."""
    stream = io.StringIO()
    build.build(families, go, Progress(stream))
    return [line.split(" in ")[0] for line in stream.getvalue().splitlines()]


def test_a_family_is_built_pinned_verified_and_in_separate_caches(
    cache: Path, go: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=mod")
    monkeypatch.setenv("GOOS", "plan9")
    monkeypatch.setenv("GOPROXY", "the user's choice")
    built(ETCD, go=go)

    binary = cache / "binaries" / f"etcd-{ETCD.digest()}-go1.26" / "bin" / "etcd"
    assert binaries.path("etcd") == binary
    command, *settings = binary.read_text().splitlines()
    partial = command.split(" -o ")[1].split()[0]
    assert command == f"build {' '.join(ETCD.flags())} -o {partial} go.etcd.io/etcd/server/v3"
    assert settings == [
        "CGO_ENABLED=0",
        f"GOCACHE={cache}/build/objects",
        "GOFLAGS=-mod=readonly -modcacherw",
        f"GOMODCACHE={cache}/build/downloads",
        "GOPROXY=the user's choice",
        "GOTOOLCHAIN=local",
        "GOWORK=off",
    ]
    assert not (cache / "build").exists()


def test_files_of_modules_are_kept_where_the_module_has_them(cache: Path, go: Tool) -> None:
    assert built(CRDS, go=go) == [
        "  build                       crds: about 0 s on two cores",
        "  kamaji-control-plane files  v0.20.0",
        "  baremetal-operator files    v0.13.2",
    ]

    folder = cache / "binaries" / f"crds-{CRDS.digest()}-go1.26" / "data" / "baremetal-operator"
    assert binaries.data("baremetal-operator") == folder
    assert (folder / "config/base/crds/bases/b.yaml").read_text() == "github.com/metal3-io/baremetal-operator@v0.13.2"
    assert not (folder / "config/crd").exists()


@pytest.mark.usefixtures("cache")
def test_a_family_that_another_clone_has_built_meanwhile_is_not_built_again(go: Tool) -> None:
    built(ETCD, go=go)
    binary = binaries.path("etcd")
    before = binary.stat()

    assert built(ETCD, go=go) == ["  build                       etcd: about 40 s on two cores"]
    assert binary.stat() == before


def test_a_failed_build_names_its_log_and_is_resumed(cache: Path, go: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_GO_FAILS", "sigs.k8s.io/kwok/cmd/kwokctl")
    with pytest.raises(ToolchainError) as caught:
        built(KWOK, go=go)

    log = cache / "logs" / "kwok-kwokctl.log"
    assert str(caught.value) == (
        f"kwokctl: failed after 0 s (exit code 1); last lines of {log}:\n"
        "    compiling sigs.k8s.io/kwok/cmd/kwokctl\n"
        "    undefined: everything"
    )
    with pytest.raises(ToolchainError) as missing:
        binaries.path("kwok")
    assert str(missing.value) == f"kwok: kwok {KWOK.version} is not built; run `make setup`"

    monkeypatch.delenv("FAKE_GO_FAILS")
    assert built(KWOK, go=go) == [
        "  build                       kwok: about 1 min 10 s on two cores",
        f"  kwok                        {KWOK.version} already built before the interruption",
        f"  kwokctl                     {KWOK.version}",
    ]
    assert binaries.path("kwokctl").is_file()


@pytest.mark.usefixtures("cache")
def test_a_family_that_lost_a_binary_is_built_again(go: Tool) -> None:
    built(KWOK, go=go)
    binaries.path("kwokctl").unlink()
    assert binaries.missing((KWOK, ETCD), go.version) == [KWOK, ETCD]

    built(KWOK, go=go)
    assert binaries.missing((KWOK, ETCD), go.version) == [ETCD]


@pytest.mark.usefixtures("cache")
def test_another_go_version_rebuilds_but_without_go_existing_binaries_are_used(go: Tool) -> None:
    built(ETCD, go=go)

    assert binaries.missing((ETCD,), (1, 27, 0)) == [ETCD]
    assert binaries.missing((ETCD,), (1, 26, 1)) == []
    assert binaries.missing((ETCD,), None) == []


@pytest.mark.usefixtures("cache")
def test_the_newest_go_serves(go: Tool) -> None:
    for version in ((1, 9, 0), (1, 27, 2), (1, 26, 8)):
        built(ETCD, go=replace(go, version=version))
    assert binaries.path("etcd").parent.parent.name.endswith("-go1.27")


@pytest.mark.usefixtures("cache")
def test_the_developers_folder_is_first(go: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built(ETCD, go=go)
    monkeypatch.setenv("JACQUARD_BINARIES", str(tmp_path))
    assert binaries.path("etcd") != tmp_path / "etcd"

    (tmp_path / "etcd").touch()
    assert binaries.path("etcd") == tmp_path / "etcd"
    assert binaries.missing((ETCD,), (1, 27, 0)) == []


@pytest.mark.usefixtures("cache", "search_path")
def test_missing_files_of_a_module_are_an_error() -> None:
    with pytest.raises(ToolchainError) as caught:
        binaries.data("cluster-api")
    assert str(caught.value) == (
        "cluster-api: the files of sigs.k8s.io/cluster-api are not downloaded; run `make setup`"
    )


RUN = """
import os, signal, sys
from pathlib import Path
from jacquard.lab.toolchain import command, process

signal.signal(signal.SIGTERM, command.stop)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is started with it ignored
child = "import os, pathlib, time; pathlib.Path(os.environ['MARK']).write_text(str(os.getpid())); time.sleep(600)"
process.run(
    [sys.executable, "-c", child], what="child", folder=Path.cwd(), environment=dict(os.environ),
    log=Path(os.environ["LOG"]), tick=lambda _seconds: None,
)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 128 + signal.SIGTERM)])
def test_an_interrupt_ends_the_children(tmp_path: Path, number: signal.Signals, code: int) -> None:
    mark = tmp_path / "mark"
    parent = subprocess.Popen(
        [sys.executable, "-c", RUN],
        cwd=paths.ROOT,
        env={"MARK": str(mark), "LOG": str(tmp_path / "log")},
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 30
    while not (mark.exists() and mark.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    parent.send_signal(number)

    assert parent.wait(timeout=30) == code
    child = int(mark.read_text())
    while time.monotonic() < deadline + 30 and Path(f"/proc/{child}").exists():
        time.sleep(0.02)  # Its new parent process reaps it.
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_program_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError) as caught:
        process.run(
            [tmp_path / "nothing"],
            what="etcd",
            folder=tmp_path,
            environment={},
            log=tmp_path / "log",
            tick=lambda _seconds: None,
        )
    assert str(caught.value) == f"etcd: cannot start {tmp_path / 'nothing'}: No such file or directory"
