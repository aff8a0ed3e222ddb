"""The command of the simulation, and its error messages."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jacquard.lab.rehearsal import processes
from jacquard.lab.rehearsal.__main__ import main
from jacquard.lab.rehearsal.manager import configurations
from jacquard.lab.rehearsal.region import Region
from jacquard.lab.toolchain.environment import ENGINE_MEMORY


@pytest.fixture(autouse=True)
def region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Region]:
    monkeypatch.setenv("JACQUARD_HOME", str(tmp_path))
    region = Region.of("lab")
    yield region
    processes.kill(processes.running(region.folder))


def test_the_status_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "lab"]) == 0
    assert capsys.readouterr().out == "lab: not running\n"
    assert main(["status", "lab", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"environment": "lab", "parts": []}


def test_the_status_names_running_and_missing_processes(region: Region, capsys: pytest.CaptureFixture[str]) -> None:
    programs = region.cluster_folder("acme") / "bin"
    programs.mkdir(parents=True)
    region.backend_mark("acme").write_text("kwok")
    (programs / "etcd").symlink_to(sys.executable)
    asleep = "import time; time.sleep(60)"
    etcd = [str(programs / "etcd"), "-c", asleep, "--listen-client-urls=http://127.0.0.1:21001"]
    processes.launch(etcd, log=region.logs / "etcd.log", environment=os.environ, folder=region.folder)

    assert main(["status", "lab", "--format", "json"]) == 0

    parts = {part["name"]: part for part in json.loads(capsys.readouterr().out)["parts"]}
    assert sorted(parts) == sorted(
        f"acme/{name}"
        for name in ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok-controller")
    )
    assert (parts["acme/etcd"]["alive"], parts["acme/etcd"]["port"]) == (True, 21001)
    assert parts["acme/kube-apiserver"] == {
        "name": "acme/kube-apiserver",
        "pid": None,
        "alive": False,
        "port": None,
        "since": None,
    }
    assert main(["status", "lab"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["PART", "STATE", "PROCESS", "PORT", "SINCE"]
    assert lines[1].split()[:2] == ["acme/etcd", "running"]
    assert lines[2].split() == ["acme/kube-apiserver", "dead"]


def test_taking_down_nothing_is_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["down", "lab"]) == 0
    assert main(["down", "lab", "--cluster", "acme"]) == 0
    assert capsys.readouterr().out == "lab is removed\nacme is removed\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["up", "lab", "--cluster", "a/b"], "cluster 'a/b'"),
        (["down", "lab", "--cluster", "../x"], "cluster '../x'"),
        (["status", "La b"], "environment 'La b'"),
    ],
)
def test_a_name_that_is_none_is_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    assert capsys.readouterr().err == (
        f"{message} is not a DNS label; write at most 63 lower-case letters, digits and '-'\n"
    )


def test_logs_show_the_end_of_each_part(region: Region, capsys: pytest.CaptureFixture[str]) -> None:
    inner = region.workdir / "logs-of-acme"
    inner.mkdir(parents=True)
    (inner / "etcd.log").write_text("".join(f"line {number}\n" for number in range(200)))
    region.logs.mkdir(parents=True)
    (region.logs / "acme").symlink_to(inner)
    (region.logs / "operators.log").write_text("hello\n")

    assert main(["logs", "lab", "acme/"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"==> acme/etcd  ({region.logs / 'acme' / 'etcd.log'})"
    assert (shown[1], shown[-1], len(shown)) == ("line 100", "line 199", 101)


def test_logs_of_an_unknown_part_name_those_there_are(region: Region, capsys: pytest.CaptureFixture[str]) -> None:
    region.logs.mkdir(parents=True)
    (region.logs / "operators.log").write_text("hello\n")

    assert main(["logs", "lab", "nope"]) == 1
    assert capsys.readouterr().err == "part 'nope' has no log; parts with logs: operators\n"


def test_there_are_no_logs_before_the_first_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "lab"]) == 1
    assert capsys.readouterr().err == ("lab: there are no logs; 'up' of the local region creates them\n")


@pytest.mark.parametrize(("limit", "left"), [(ENGINE_MEMORY, None), ("1GiB", "1GiB")])
def test_child_processes_do_not_inherit_the_engines_memory_limit(
    limit: str, left: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOMEMLIMIT", limit)

    main(["status", "lab"])

    assert os.environ.get("GOMEMLIMIT") == left


def test_a_region_without_monitoring_has_no_addresses(region: Region, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["monitoring", "lab"]) == 0
    assert capsys.readouterr().out == ""

    (region.folder / "monitoring").mkdir(parents=True)
    assert main(["monitoring", "lab"]) == 1
    assert capsys.readouterr().err == "lab: has no monitoring; run JACQUARD_MONITORING=on jacquard up lab\n"


def test_a_wrong_setting_is_wrong_usage(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("JACQUARD_SPEED", "fast")
    assert main(["up", "lab"]) == 2
    assert capsys.readouterr().err == (
        "JACQUARD_SPEED: 'fast' is not a number above 0; write 1 for the declared durations, 10 for a tenth\n"
    )


def test_a_home_that_is_no_folder_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("JACQUARD_HOME", str(tmp_path / "file"))
    assert main(["down", "lab"]) == 1
    assert capsys.readouterr().err == f"{tmp_path / 'file' / 'regions'}: not a directory\n"


def test_webhooks_point_at_this_machine() -> None:
    text = """
kind: ValidatingWebhookConfiguration
metadata: {name: validating-webhook-configuration}
webhooks:
  - name: validation.cluster.cluster.x-k8s.io
    failurePolicy: Fail
    clientConfig: {service: {name: webhook-service, namespace: system, path: /validate-x}}
"""
    [made] = configurations(text, 21001, "Q0E=")

    assert made["metadata"] == {"name": "capi-validating-webhook-configuration"}
    assert made["webhooks"] == [
        {
            "name": "validation.cluster.cluster.x-k8s.io",
            "failurePolicy": "Fail",
            "clientConfig": {"url": "https://127.0.0.1:21001/validate-x", "caBundle": "Q0E="},
        }
    ]
