"""``jacquard show ENV images`` and ``uniformity``: tables, data, and reported versions of clusters."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.render.manifest import MANAGEMENT
from jacquard.observe.observation import Observation

Invoke = Callable[..., Result]
TODAY = ("--today", "2026-11-21")
POOLS = ["acme-train/infer", "acme-train/system", "acme-train/train", "globex-lab/lab"]


def lines(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return [line.rstrip() for line in result.output.splitlines()]


def test_images_are_tables_of_use_outdated_pools_and_compatibility(invoke: Invoke, data_folder: Path) -> None:
    del data_folder
    shown = lines(invoke("show", "laptop", "images", *TODAY))

    [used] = (line for line in shown if line.startswith("gpu-2026.11.1  supported"))
    assert used.split() == [
        *("gpu-2026.11.1", "supported", "candidate,", "latest,", "stable", "2027-05-03", "(163", "days)", "4"),
        *("globex-lab/lab", "(3", "groups)"),
    ]
    [behind] = (line for line in shown if line.startswith("acme-train/train  gpu-2026.10.2"))
    assert "image gpu-2026.10.2 -> gpu-2026.11.1" in behind
    assert behind.endswith("2027-04-06     -")
    [fits] = (line for line in shown if line.startswith("cpu-2026.10.2  cpu-gen4"))
    assert fits.split() == ["cpu-2026.10.2", "cpu-gen4", "v1.35.1", "bfb-3.2.0", "acme-train/system", "-"]


def test_images_are_data_of_a_day(invoke: Invoke, data_folder: Path) -> None:
    del data_folder
    answer = json.loads(invoke("show", "laptop", "images", "--today", "2027-04-06", "--format", "json").stdout)

    assert answer["today"] == "2027-04-06"
    assert {image["version"]: image["lifecycle"] for image in answer["images"]}["gpu-2026.10.2"] == "expired"
    assert [item["pool"] for item in answer["behind"]] == ["acme-train/train", "acme-train/infer"]


def test_uniformity_is_one_line_a_pool(invoke: Invoke, data_folder: Path) -> None:
    del data_folder
    shown = lines(invoke("show", "laptop", "uniformity"))

    assert [line.partition(":")[0] for line in shown if not line.startswith(" ")] == POOLS
    assert shown[0] == "acme-train/infer: 4 nodes, uniform"
    assert shown[1] == (
        "  image gpu-2026.10.2, image_sha256 97e48efb44c0..., kernel 6.8.0-84, gpu_driver 580.95.05,"
        " dpu_image bfb-3.2.0, kubelet v1.35.1"
    )


def test_an_open_rollout_shows_as_deviations(invoke: Invoke, data_folder: Path) -> None:
    del data_folder
    invoke("promote", "laptop", "acme-train/train", "--to", "gpu-2026.11.1", "--wave", "1", *TODAY)

    shown = lines(invoke("show", "laptop", "uniformity"))

    assert "  rollout to gpu-2026.11.1 is open at wave 1" in shown
    assert any(line.startswith("  acme-train/train/a0") and "kernel: 6.8.0-8" in line for line in shown)


def test_a_mixed_pool_is_compared_though_check_refuses_it(
    invoke: Invoke, data_folder: Path, edit: Callable[[Path, str, str], None]
) -> None:
    lock = data_folder / "laptop" / "images.lock.yaml"
    edit(lock, "lab/a01: gpu-2026.11.1@8c9509fe4bb8f7dd", "lab/a01: gpu-2026.10.2@45cb2afb43363d70")
    assert invoke("allocate", "laptop", "--accept-edits").exit_code == 0  # Signs the file

    assert invoke("check", "laptop", *TODAY).exit_code == 2
    assert any("lab/a01 image: gpu-2026.10.2" in line for line in lines(invoke("show", "laptop", "uniformity")))


def test_clusters_that_do_not_answer_leave_it_open(
    invoke: Invoke, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del data_folder
    silent = Observation(unreachable={MANAGEMENT: "gone"})
    monkeypatch.setattr("jacquard.cli.show_hosts.observe", lambda *_, **__: silent)

    answer = json.loads(invoke("show", "laptop", "uniformity", "--live", "--format", "json").stdout)
    text = invoke("show", "laptop", "uniformity", "--live")

    assert answer["unreachable"] == [MANAGEMENT]
    assert {pool["uniform"] for pool in answer["pools"]} == {None}
    shown = text.stdout.splitlines()
    assert "acme-train/infer: 4 nodes, unknown, 0 of 4 inspected" in shown
    assert shown[-1] == "cluster management cannot be read: gone"
    assert text.exit_code == 7
    assert text.stderr == "unreachable: laptop: 1 cluster cannot be read, so the state is unknown\n"
