"""A change of a version with an unchanged digest: every command that compares with a base rejects it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode
from jacquard.machine import settings
from tests.support.checks.places import resolved
from tests.support.checks.waived import VERSION_WAIVER
from tests.support.data.repositories import committed

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
EDITS = {
    "charts[10].version": (
        "versions.yaml",
        'csi-driver-nfs", version: 4.13.4',
        'csi-driver-nfs", version: 4.14.0',
        ("4.14.0", "4.13.4", "charts.csi-driver-nfs.version", "digest", "write the digest of 4.14.0", "csi-driver-nfs"),
    ),
    "images[0].profile.kernel_arguments": (
        "images.yaml",
        "hugepagesz=1G]",
        "hugepagesz=2M]",
        (
            "iommu=pt hugepagesz=2M",
            "iommu=pt hugepagesz=1G",
            "images.gpu-2026.10.2.profile.kernel_arguments",
            "sha256",
            "add a separate image with its own sha256",
            "gpu-2026.10.2",
        ),
    ),
    "images[0].profile.sysctls.vm.max_map_count": (
        "images.yaml",
        "vm.max_map_count: 1048576",
        "vm.max_map_count: 65530",
        (
            "65530",
            "1048576",
            "images.gpu-2026.10.2.profile.sysctls.vm.max_map_count",
            "sha256",
            "add a separate image with its own sha256",
            "gpu-2026.10.2",
        ),
    ),
    "manifests[3].version": (
        "versions.yaml",
        'kubevirt-operator", version: v1.9.0',
        'kubevirt-operator", version: v1.9.1',
        (
            "v1.9.1",
            "v1.9.0",
            "manifests.kubevirt-operator.version",
            "digest",
            "write the digest of v1.9.1",
            "kubevirt-operator",
        ),
    ),
    "cluster_api.core": (
        "versions.yaml",
        "core: v1.13.5",
        "core: v1.13.6",
        (
            "v1.13.6",
            "v1.13.5",
            "cluster_api.core",
            "digest of cluster-api-providers",
            "write the digest of an artefact with v1.13.6",
            "cluster-api-providers",
        ),
    ),
    "ironic.version": (
        "versions.yaml",
        'version: "35.0"',
        'version: "37.0"',
        ("37.0", "35.0", "ironic.version", "digest", "write the digest of 37.0", "ironic"),
    ),
    "images[2].contents.gpu_driver": (
        "images.yaml",
        "kernel: 6.8.0-87, gpu_driver: 590.44.01",
        "kernel: 6.8.0-87, gpu_driver: 590.48.01",
        (
            "590.48.01",
            "590.44.01",
            "images.gpu-2026.12.0.contents.gpu_driver",
            "sha256",
            "add a separate image with its own sha256",
            "gpu-2026.12.0",
        ),
    ),
    "images[2].contents.nfs_rdma": (
        "images.yaml",
        "nfs_rdma: true, kubelet: v1.35.2, containerd: 2.2.0",
        "nfs_rdma: false, kubelet: v1.35.2, containerd: 2.2.0",
        (
            "false",
            "true",
            "images.gpu-2026.12.0.contents.nfs_rdma",
            "sha256",
            "add a separate image with its own sha256",
            "gpu-2026.12.0",
        ),
    ),
    "images[2].contents.volume_groups": (
        "images.yaml",
        "containerd: 2.2.0, dpu_interface: enp1s0f0np0, volume_groups: [nvme]",
        "containerd: 2.2.0, dpu_interface: enp1s0f0np0, volume_groups: [nvme, scratch]",
        (
            "nvme, scratch",
            "nvme",
            "images.gpu-2026.12.0.contents.volume_groups",
            "sha256",
            "add a separate image with its own sha256",
            "gpu-2026.12.0",
        ),
    ),
    "dpu_images[2].version": (
        "images.yaml",
        "version: bfb-3.2.1",
        "version: bfb-3.2.2",
        (
            "bfb-3.2.2",
            "bfb-3.2.1",
            "dpu_images.bfb-3.2.2.version",
            "sha256",
            "add a separate image with its own sha256",
            "bfb-3.2.2",
        ),
    ),
    "images[0].version": (
        "vm_offerings.yaml",
        "version: ubuntu-24.04.3-20261015",
        "version: ubuntu-24.04.4-20261115",
        (
            "ubuntu-24.04.4-20261115",
            "ubuntu-24.04.3-20261015",
            "images.ubuntu-24-04.version",
            "sha256",
            "add a separate image with its own sha256",
            "ubuntu-24.04.4-20261115",
        ),
    ),
    "firmware_baselines[1].components.bmc.version": (
        "firmware.yaml",
        "version: 25.02.1",
        "version: 25.03.0",
        (
            "25.03.0",
            "25.02.1",
            "firmware_baselines.hgx-2026.11.components.bmc.version",
            "url",
            "write the URL of 25.03.0",
            "hgx-2026.11",
        ),
    ),
}


@pytest.fixture
def repository(data_folder: Path) -> Path:
    return committed(data_folder)


@pytest.mark.parametrize(("path", "edit_of"), EDITS.items(), ids=EDITS)
def test_an_edited_version_with_its_old_digest_is_refused(
    repository: Path, invoke: Invoke, edit: Edit, path: str, edit_of: tuple[str, str, str, tuple[str, ...]]
) -> None:
    file, old, new, (now, before, mark, key, remedy, subject) = edit_of
    edit(repository / "catalog" / file, old, new)

    result = invoke("impact", "laptop")

    there = f"../catalog/{file}:<{mark}>"
    text = (
        "environments/laptop: 1 problem\n"
        f"  {there}  {path}: {now} instead of {before} (base: {there}), but the {key} is the same; restore {before}, or"
        f" {remedy}; if the change is right, add a waiver of digests.changed for {subject}\n"
    )
    assert (result.stderr, result.exit_code) == (resolved(text, repository / "laptop"), ExitCode.BAD_DATA)


def test_other_commands_that_compare_refuse_it_too(repository: Path, invoke: Invoke, edit: Edit) -> None:
    file, old, new, _ = EDITS["charts[10].version"]
    edit(repository / "catalog" / file, old, new)

    preview = invoke("preview", "laptop", "--base", "HEAD")
    render = invoke("render", "laptop", "--base", "HEAD")

    assert [(one.exit_code, "4.14.0 instead of 4.13.4" in one.stderr) for one in (preview, render)] == [
        (ExitCode.BAD_DATA, True)
    ] * 2


def test_a_waiver_permits_a_correction_until_it_expires(
    repository: Path, invoke: Invoke, edit: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, old, new, _ = EDITS["charts[10].version"]
    edit(repository / "catalog" / file, old, new)
    waivers = repository / "laptop" / "waivers.yaml"
    waivers.write_text(waivers.read_text() + VERSION_WAIVER, encoding="utf-8")

    monkeypatch.setenv(settings.NOW, "2026-12-14T12:00:00+00:00")
    early = invoke("impact", "laptop")
    checked = json.loads(invoke("check", "laptop", "--format", "json").stdout)
    monkeypatch.setenv(settings.NOW, "2026-12-15T12:00:00+00:00")
    late = invoke("impact", "laptop")

    assert (early.exit_code, late.exit_code) == (ExitCode.OK, ExitCode.BAD_DATA)
    assert checked[0]["idle_waivers"] == []


def test_a_new_version_with_its_own_digest_and_an_added_fact_pass(repository: Path, invoke: Invoke, edit: Edit) -> None:
    catalog = repository / "catalog"
    file, old, new, _ = EDITS["manifests[3].version"]
    edit(catalog / file, old, new)
    edit(catalog / file, "sha256:21fbed784e4a", "sha256:21fbed784e40")
    edit(catalog / "images.yaml", "gpu_driver: 590.44.01", "gpu_driver: 590.44.01, imex: true")

    assert invoke("impact", "laptop").exit_code == ExitCode.OK
