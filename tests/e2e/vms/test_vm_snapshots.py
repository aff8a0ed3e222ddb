"""Snapshots of VMs: the commands of the rendered jobs, run by the real kubectl with their permissions."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.manifest import Manifest, objects
from components.render.vms.vm_images import NAMESPACE
from components.render.vms.vm_offering import VmOfferingInput
from components.render.vms.vm_snapshots import NAME
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal import crds
from jacquard.lab.toolchain import binaries
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import ENVIRONMENTS

pytestmark = pytest.mark.e2e
KIND = ("snapshot.kubevirt.io/v1beta1", "VirtualMachineSnapshot")
MACHINE = "forge"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    """An API server with the kind of VM snapshots, and without a snapshot controller."""
    found = LocalApiServer(tmp_path_factory.mktemp("snapshots") / "server", kinds=())
    try:
        known = crds.definitions("cobalt-one")
        crds.install(found.api, [crd for crd in known if crd["spec"]["names"]["kind"] == KIND[1]])
        found.namespace(NAMESPACE)
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="module")
def rendered() -> dict[str, list[Manifest]]:
    """Objects of us-east-04a for VM snapshots, by kind."""
    environment = load_environment("us-east-04a", ENVIRONMENTS)
    [part] = [one for one in slices(environment) if one.name == "cluster-cobalt-one"]
    [offering] = [one for one in inputs(environment, part) if isinstance(one, VmOfferingInput)]
    found: dict[str, list[Manifest]] = {}
    for item in objects(offering.render()):
        if item.name.startswith(NAME):
            found.setdefault(item.kind, []).append(item)
    return found


class Jobs:
    """The rendered jobs, run with their service account."""

    def __init__(self, server: LocalApiServer, rendered: dict[str, list[Manifest]], files: Path) -> None:
        self._server, self._rendered, self._files = server, rendered, files
        for kind in ("ServiceAccount", "Role", "RoleBinding"):
            for item in rendered[kind]:
                server.api.apply(item.body, field_manager="test")
        [config] = rendered["ConfigMap"]
        for name, text in config.body["data"].items():
            (files / name).write_text(text)

    def run(self, day: str) -> None:
        """Run all containers of the job for one day."""
        [job] = [item for item in self._rendered["CronJob"] if item.name == f"{NAME}-{day}"]
        for container in job.body["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]:
            [mount] = container["volumeMounts"]
            done = self.kubectl(*(one.replace(mount["mountPath"], str(self._files)) for one in container["args"]))
            assert done.returncode == 0, done.stderr

    def kubectl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run kubectl with their service account."""
        token = self._kubectl("create", "token", NAME, f"--namespace={NAMESPACE}")
        return self._kubectl(f"--token={token.stdout.strip()}", *arguments)

    def snapshots(self) -> dict[str, Any]:
        """Return the uid of each snapshot by its name."""
        found = self._server.api.list(*KIND, namespace=NAMESPACE)
        return {one["metadata"]["name"]: one["metadata"]["uid"] for one in found}

    def _kubectl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(binaries.path("kubectl")), f"--kubeconfig={self._server.kubeconfig}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def jobs(server: LocalApiServer, rendered: dict[str, list[Manifest]], tmp_path: Path) -> Jobs:
    """Return the jobs of the VMs of cobalt."""
    return Jobs(server, rendered, tmp_path)


def test_each_day_replaces_only_its_own_snapshot(jobs: Jobs) -> None:
    jobs.run("mon")
    jobs.run("tue")
    first = jobs.snapshots()
    jobs.run("mon")
    second = jobs.snapshots()

    assert set(first) == set(second) == {f"{MACHINE}-mon", f"{MACHINE}-tue"}
    assert first[f"{MACHINE}-mon"] != second[f"{MACHINE}-mon"]
    assert first[f"{MACHINE}-tue"] == second[f"{MACHINE}-tue"]


def test_the_service_account_has_no_other_permissions(jobs: Jobs) -> None:
    refused = jobs.kubectl("delete", "configmap", NAME, f"--namespace={NAMESPACE}")
    elsewhere = jobs.kubectl("get", "virtualmachinesnapshots.snapshot.kubevirt.io", "--namespace=default")

    assert "forbidden" in refused.stderr
    assert "forbidden" in elsewhere.stderr
