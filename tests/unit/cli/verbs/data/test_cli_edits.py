"""Verbs that write data: parallel runs lose no edits, and none writes data that ``check`` would reject."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from typer.testing import Result

from components.specs.reading.loader import load_environment
from jacquard.machine import edits, paths
from jacquard.machine.edits import Edit

Invoke = Callable[..., Result]
EditFile = Callable[[Path, str, str], None]
NEW = "gpu-2026.11.1"
TODAY = ("--today", "2026-11-21")
TRAIN = ("promote", "laptop", "acme-train/train", "--to", NEW, "--all", *TODAY)
INFER = ("promote", "laptop", "acme-train/infer", "--to", NEW, "--all", *TODAY)
OUT = ("host", "laptop", "a04-u06", "--to", "triage", "--reason", "GPU 5")
COMMAND = "from jacquard.cli.app import main; main()"


def content(data_folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(data_folder.rglob("*")) if path.is_file()}


def test_a_promotion_during_another_one_waits_and_both_pins_are_kept(
    invoke: Invoke, data_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, second = tmp_path / "notes", []
    original = Edit.write

    def write(edit: Edit, texts: Mapping[Path, str]) -> list[Path]:
        """Start the other promotion between the reads and the writes of this one."""
        with notes.open("w") as file:
            environment = {**os.environ, "PYTHONPATH": str(paths.ROOT)}
            second.append(subprocess.Popen([sys.executable, "-c", COMMAND, *INFER], stderr=file, env=environment))
        end = time.monotonic() + 120
        while "waiting for jacquard promote" not in notes.read_text():
            assert second[0].poll() is None, notes.read_text()
            assert time.monotonic() < end
            time.sleep(0.05)
        return original(edit, texts)

    monkeypatch.setattr(Edit, "write", write)
    first = invoke(*TRAIN)

    assert (first.exit_code, second[0].wait(120)) == (0, 0), first.output + notes.read_text()
    assert notes.read_text().startswith(f"note: waiting for jacquard promote, process {os.getpid()} on ")
    pins = load_environment("laptop", data_folder).image_pins.groups
    assert {key: name.partition("@")[0] for key, name in pins.items() if "/train/" in key or "/infer/" in key} == (
        dict.fromkeys(
            (key for key in pins if key.startswith(("acme-train/train/", "acme-train/infer/"))),
            NEW,
        )
    )
    assert invoke("check", "laptop", *TODAY).exit_code == 0


@pytest.mark.parametrize("arguments", [TRAIN, OUT, ("allocate", "laptop", "--release-hosts", "acme-train/train")])
def test_a_file_edited_meanwhile_is_not_overwritten(
    invoke: Invoke,
    data_folder: Path,
    edit: EditFile,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
) -> None:
    tenant = data_folder / "laptop" / "tenants" / "acme.yaml"
    edit(tenant, "nodes: 10\n", "nodes: 9\n" if arguments[0] == "allocate" else "nodes: 10\n")
    original = Edit.write

    def write(self: Edit, texts: Mapping[Path, str]) -> list[Path]:
        edit(tenant, "workload: inference", "workload: other")
        before.update(content(data_folder))
        return original(self, texts)

    before: dict[str, bytes] = {}
    monkeypatch.setattr(Edit, "write", write)
    result = invoke(*arguments)

    assert (result.exit_code, result.stderr) == (
        1,
        (
            "error: environments/laptop/tenants/acme.yaml: was changed while this command ran; nothing was written, run"
            " the command again\n"
        ),
    )
    assert {name: text for name, text in content(data_folder).items() if not name.endswith(edits.LOCK)} == {
        name: text for name, text in before.items() if not name.endswith(edits.LOCK)
    }


@pytest.mark.parametrize("next_command", [("check", "laptop", *TODAY), INFER, ("migrate", "laptop")])
def test_a_promotion_killed_between_both_lock_files_is_finished_by_the_next_command(
    invoke: Invoke, data_folder: Path, monkeypatch: pytest.MonkeyPatch, next_command: tuple[str, ...]
) -> None:
    class KilledError(BaseException):
        pass

    original, moved = Path.replace, []

    def replace(old: Path, new: Path) -> Path:
        moved.append(new.name)
        if len(moved) == 2:
            raise KilledError
        return original(old, new)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", replace)
        with pytest.raises(KilledError):
            invoke(*TRAIN)
    assert moved == ["allocations.lock.yaml", "images.lock.yaml"]

    result = invoke(*next_command)

    assert result.exit_code == 0, result.output
    pins = load_environment("laptop", data_folder).image_pins.groups
    assert {name.partition("@")[0] for key, name in pins.items() if key.startswith("acme-train/train/")} == {NEW}
    assert invoke("check", "laptop", *TODAY).exit_code == 0
    assert sorted(path.name for path in data_folder.iterdir()) == ["catalog", "laptop"]


DEVICE = "nvidia.com/GH100_H100_SXM5_80GB"
GPU = f'{{device: {DEVICE}, pci_selector: "10DE:2330", count: 1}}'
GPU_SIZE = f"sizes:\n  - {{name: h100-1, cpus: 24, memory: 240Gi, root_disk: 80Gi, gpu: {GPU}}}\n"
REFUSED = "note: nothing was written, because 'jacquard check' would refuse the result\n"


REPORT = f"""\
{REFUSED}environments/laptop: 1 problem
  tenants/acme.yaml:LINE  vms.offerings[1]: 'h100-1' has 1 of {DEVICE}, but image {NEW} of pool infer has gpu_driver \
580.105.08 for containers instead of binding 10DE:2330 to vfio-pci; in one of these pools, use an image that lists \
10DE:2330 in contents.vfio_devices (../catalog/images.yaml), or remove the offering
"""


def test_allocate_writes_no_first_pins_that_check_refuses(invoke: Invoke, data_folder: Path, edit: EditFile) -> None:
    tenant = data_folder / "laptop" / "tenants" / "acme.yaml"
    edit(data_folder / "catalog" / "vm_offerings.yaml", "sizes:\n", GPU_SIZE)
    edit(tenant, "  offerings: [cpu-4, cpu-16]", "  pools: [system, infer]\n  offerings: [cpu-4, h100-1]")
    for name in ("allocations", "images"):
        (data_folder / "laptop" / f"{name}.lock.yaml").unlink()
    before = content(data_folder)

    result = invoke("allocate", "laptop")

    assert (result.exit_code, result.stdout) == (2, "")
    assert re.sub(r"yaml:\d+", "yaml:LINE", result.stderr) == REPORT
    assert content(data_folder) == before


def test_promote_writes_no_pins_that_check_refuses(invoke: Invoke, data_folder: Path, edit: EditFile) -> None:
    tenant, images = data_folder / "laptop" / "tenants" / "acme.yaml", data_folder / "catalog" / "images.yaml"
    edit(data_folder / "catalog" / "vm_offerings.yaml", "sizes:\n", GPU_SIZE)
    edit(tenant, "  offerings: [cpu-4, cpu-16]", "  pools: [system, infer]\n  offerings: [cpu-4, h100-1]")
    edit(images, "gpu_driver: 580.95.05", 'vfio_devices: ["10DE:2330"]')
    edit(images, "[iommu=pt, hugepagesz=1G]", "[intel_iommu=on, iommu=pt, hugepagesz=1G]")
    assert invoke("check", "laptop", *TODAY).exit_code == 0
    before = content(data_folder)

    result = invoke(*INFER)

    assert (result.exit_code, result.stdout) == (2, "")
    assert re.sub(r"yaml:\d+", "yaml:LINE", result.stderr) == REPORT
    assert content(data_folder) == before


def test_promote_writes_no_pins_that_a_policy_refuses(invoke: Invoke, data_folder: Path, edit: EditFile) -> None:
    (data_folder / "laptop" / "policy.yaml").write_text("schema_version: 1\nrules: {unsigned-image: mandatory}\n")
    url = "https://images.cloud.example/gpu-2026.11.1.raw"
    signature = f'    signature: {{kind: cosign, url: "{url}.sig", provenance: "{url}.intoto.jsonl"}}\n'
    edit(data_folder / "catalog" / "images.yaml", signature, "")
    before = content(data_folder)

    result = invoke(*INFER)

    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr.startswith(
        "refused: nothing was written, because policies would refuse the result:\nunsigned-image: "
    )
    assert content(data_folder) == before


@pytest.mark.parametrize(
    "arguments",
    [
        TRAIN,
        OUT,
        ("allocate", "laptop"),
        ("approve", "laptop", "acme"),
        ("inventory", "import", "netbox", "hosts.csv", "--env", "laptop", "--hall", "a"),
        ("migrate",),
        ("new", "desk"),
        ("schema", "--write"),
        ("check", "--fix"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_verb_that_writes_data_waits_for_others(
    invoke: Invoke, data_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "hosts.csv").write_text("name\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(edits, "WAIT_SECONDS", 0.0)
    with edits.editing(data_folder, ["laptop"], "promote"):
        result = invoke(*arguments)

    holder = f"jacquard promote, process {os.getpid()} on {socket.gethostname()}"
    assert (result.exit_code, result.output) == (
        1,
        f"error: {data_folder}: locked by {holder}; wait for its end, then run this again\n",
    )


@pytest.mark.parametrize(
    "arguments",
    [(*INFER, "--plan"), ("allocate", "laptop", "--check"), ("migrate", "--check"), ("check", "laptop", *TODAY)],
)
def test_verbs_that_only_read_do_not_wait(
    invoke: Invoke, data_folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(edits, "WAIT_SECONDS", 0.0)
    with edits.editing(data_folder, ["laptop"], "promote"):
        assert invoke(*arguments).exit_code == 0
