"""The real registry with generated content: served names and digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3

from jacquard.lab.rehearsal import processes, registry
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.images import CONTENT_TYPE, ImageName, Store
from jacquard.lab.rehearsal.region import Region
from jacquard.lab.toolchain import binaries
from tests.support.machine.built_programs import built

DIGEST = f"sha256:{'a' * 64}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("nginx", "docker.io/library/nginx:latest"),
        ("team/app:1", "docker.io/team/app:1"),
        ("quay.io/cilium/cilium:v1.20.0", "quay.io/cilium/cilium:v1.20.0"),
        ("localhost/app", "localhost/app:latest"),
        ("registry.example:5000/a/b:1", "registry.example:5000/a/b:1"),
        (f"quay.io/a@{DIGEST}", f"quay.io/a@{DIGEST}"),
        (f"quay.io/a:1@{DIGEST}", f"quay.io/a:1@{DIGEST}"),
    ],
)
def test_a_name_is_completed_as_containerd_does(text: str, name: str) -> None:
    assert str(ImageName.of(text)) == name


@pytest.mark.parametrize("text", ["", "Nginx", "quay.io/a:b:c", "quay.io/a@sha256:1", "a b", "quay.io/a/"])
def test_a_name_that_containerd_rejects_is_none(text: str) -> None:
    assert ImageName.of(text) is None


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Region]:
    """Return a region with only its registry."""
    built(registry.NAME)
    folder = tmp_path_factory.mktemp("home")
    found = Region("laptop", folder / "region")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("JACQUARD_HOME", str(folder))
        registry.ensure(found, print)
        yield found
    processes.kill(processes.running(found.folder))


def ask(region: Region, text: str, method: str = "GET", part: str = "") -> urllib3.BaseHTTPResponse:
    name = ImageName.of(text)
    assert name is not None
    url = f"http://{registry.address(region)}/v2/{name.path}/{part or f'manifests/{name.reference}'}"
    return urllib3.request(method, url, headers={"Accept": CONTENT_TYPE})


def test_an_image_is_complete_and_has_the_digest_of_its_manifest(region: Region) -> None:
    Store(registry.storage(region)).serve(["quay.io/a/b:v1"])

    manifest = ask(region, "quay.io/a/b:v1")

    assert manifest.headers["Docker-Content-Digest"] == f"sha256:{hashlib.sha256(manifest.data).hexdigest()}"
    body: dict[str, Any] = json.loads(manifest.data)
    for blob in (body["config"], *body["layers"]):
        content = ask(region, "quay.io/a/b:v1", part=f"blobs/{blob['digest']}")
        assert (content.status, len(content.data)) == (200, blob["size"])
        assert f"sha256:{hashlib.sha256(content.data).hexdigest()}" == blob["digest"]


def test_unlisted_images_are_not_served(region: Region) -> None:
    Store(registry.storage(region)).serve(["quay.io/a/listed:v1", "NOT A NAME"])

    statuses = [ask(region, f"quay.io/a/{name}").status for name in ("listed:v1", "listed:v2", "other:v1")]

    assert statuses == [200, 404, 404]
    assert ask(region, "docker.io/a/listed:v1").status == 404


def test_a_listed_digest_is_served_without_its_content(region: Region) -> None:
    Store(registry.storage(region)).serve([f"quay.io/a/pinned@{DIGEST}"])

    found = ask(region, f"quay.io/a/pinned@{DIGEST}", "HEAD")

    assert (found.status, found.headers["Docker-Content-Digest"]) == (200, DIGEST)
    assert ask(region, f"quay.io/a/pinned@sha256:{'b' * 64}").status == 404
    assert ask(region, "quay.io/a/pinned").status == 404


def test_a_running_registry_is_kept_and_a_dead_one_is_restarted(region: Region) -> None:
    [before] = processes.running(region.folder)
    registry.ensure(region, print)
    assert processes.running(region.folder) == [before]

    processes.kill([before])
    assert registry.address(region) is None
    registry.ensure(region, print)

    assert ask(region, "quay.io/a/listed:v2").status == 404


def test_a_registry_that_does_not_start_shows_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACQUARD_HOME", str(tmp_path))
    program = tmp_path / "broken"
    program.write_text("#!/bin/sh\necho out of order\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(binaries, "path", lambda _: program)

    with pytest.raises(RehearsalError, match=r"registry did not start; last lines of .*\n  out of order"):
        registry.ensure(Region("laptop", tmp_path / "region"), print)
