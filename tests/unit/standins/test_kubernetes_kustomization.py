"""Folders that the real kubectl builds with kustomize for programs of the kubernetes stand-in."""

from __future__ import annotations

import contextlib
import stat
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.standins.kubernetes.objects import kustomization
from jacquard.lab.standins.kubernetes.objects.kustomization import FUNCTION, build
from jacquard.lab.toolchain import binaries
from jacquard.machine.errors import ToolchainError
from jacquard.providers.errors import ProviderError
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import decode, encode


@pytest.fixture
def _kubectl(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return the built kubectl, as in an environment of `jacquard env`; the user's one if it is not built."""
    with contextlib.suppress(ToolchainError):
        monkeypatch.setenv("PATH", str(binaries.path("kubectl").parent))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kustomization next to the program."""
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "looms"
    made.mkdir()
    (made / "kustomization.yaml").write_text("namePrefix: warp-\nnamespace: mill\nresources: [threads.yaml]\n")
    (made / "threads.yaml").write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: weft}, data: {count: '8'}}")
    return made


@pytest.mark.usefixtures("_kubectl", "folder")
def test_programs_get_the_output_of_kustomize(kube: Any) -> None:
    request = provider_pb2.InvokeRequest(tok=FUNCTION, args=encode({"directory": "looms"}))

    answer = kube.provider.Invoke(request, None)

    metadata = {"name": "warp-weft", "namespace": "mill"}
    assert decode(getattr(answer, "return")).plain["result"] == [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"count": "8"}}
    ]


@pytest.mark.usefixtures("_kubectl")
def test_errors_of_kustomize_are_reported_verbatim(folder: Path) -> None:
    (folder / "kustomization.yaml").write_text("namePrefx: warp-\n")

    with pytest.raises(ProviderError, match=r"^kustomize: 'looms': .*unknown field \"namePrefx\""):
        build("looms")


def test_a_folder_that_is_not_here_is_refused() -> None:
    address = "https://github.com/kubernetes-sigs/kustomize/tree/v3.3.1/examples/helloWorld"
    with pytest.raises(ProviderError) as error:
        build(address)

    assert str(error.value) == (
        f"kustomize: '{address}' is not a local folder; clone the git repository, or list its address under "
        "resources: of a local kustomization, which makes kustomize download it"
    )


@pytest.mark.usefixtures("folder")
def test_it_needs_a_kubectl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(ProviderError) as error:
        build("looms")

    assert str(error.value) == "kustomize: kubectl, which builds the folder, is not on PATH; install it"


def test_a_build_that_does_not_end_is_aborted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = folder.parent / "kubectl"
    slow.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    slow.chmod(slow.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder.parent))
    monkeypatch.setattr(kustomization, "TIMEOUT_SECONDS", 0.1)

    with pytest.raises(ProviderError) as error:
        build("looms")

    assert (
        str(error.value) == "kustomize: 'looms' was not built within 0.1 s; check whether it loads bases from a server"
    )
