"""``jacquard render --gitops``: the files of a layout, its page, and incompatible options."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import Result

from components.inputs.manifests import everything
from components.specs.environment import Environment
from jacquard.cli.errors import ExitCode
from jacquard.cli.views import render_tree
from jacquard.delivery import flux
from jacquard.delivery.layout import layout
from tests.support.docs.documents import DOCS, contained, yaml_blocks

Invoke = Callable[..., Result]
PAGE = DOCS / "how-to" / "deliver-with-gitops.md"
URL = "https://git.example.com/regions.git"
OMITTED = "omitted, because only 'jacquard up' patches objects: 2 StorageProfile\n"


def files(folder: Path) -> dict[str, Any]:
    return {str(path.relative_to(folder)): yaml.safe_load(path.read_bytes()) for path in folder.rglob("*.yaml")}


def test_the_layout_of_flux_has_each_object_once_and_its_kustomizations(
    invoke: Invoke, tmp_path: Path, laptop: Environment
) -> None:
    out = tmp_path / "out"
    result = invoke("render", "laptop", "--out", str(out), "--gitops", "flux", "--path", "regions/laptop")
    written = files(out)

    assert result.exit_code == ExitCode.OK, result.output
    assert result.stdout == f"laptop: {len(written)} objects in {out}, {len(written)} written\n{OMITTED}"
    parts = layout(laptop)
    for part in parts.parts:
        inside = [body for name, body in written.items() if name.startswith(f"{part.path}/")]
        assert sorted(map(named, inside)) == sorted(named(item.body) for item in part.objects)
    delivered = {name for name in written if name.startswith("delivery")}
    assert len(delivered) == len(list(flux.delivery(parts, flux.DEFAULT_SOURCE, ".")))
    assert len(written) == sum(len(part.objects) for part in parts.parts) + len(delivered)
    assert len(list(everything(laptop))) == len(written) - len(delivered) + sum(parts.omitted.values())


def named(body: Any) -> tuple[str, str, str, str]:
    metadata = body["metadata"]
    return body["apiVersion"], body["kind"], metadata.get("namespace", ""), metadata["name"]


def test_a_second_layout_writes_nothing_and_plain_files_replace_it(invoke: Invoke, tmp_path: Path) -> None:
    words = ("render", "laptop", "--out", str(tmp_path / "out"))
    gitops = ("--gitops", "flux", "--path", ".")
    first, second, plain = invoke(*words, *gitops), invoke(*words, *gitops), invoke(*words)

    assert (first.exit_code, plain.exit_code) == (ExitCode.OK, ExitCode.OK)
    assert second.stdout.splitlines()[0].endswith(f"{tmp_path / 'out'}, no changes")
    assert not (tmp_path / "out" / "delivery").exists()


def test_the_layout_of_argo_cd_as_json(invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ("--gitops", "argo-cd", "--source", URL, "--path", "argo/laptop", "--format", "json")
    found = json.loads(invoke("render", "laptop", "--out", str(out), *options).stdout)

    assert found["omitted"] == {"StorageProfile": 2}
    assert "delivery/application-laptop-tenant-acme.yaml" in found["written"]
    host = next(body for body in files(out).values() if body["kind"] == "BareMetalHost")
    assert host["metadata"]["annotations"]["argocd.argoproj.io/sync-options"] == "Prune=false,Delete=false"


def test_the_path_in_the_repository_is_the_relative_folder(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoke("render", "laptop", "--out", "./regions/laptop", "--gitops", "flux")
    body = yaml.safe_load((tmp_path / "regions/laptop/delivery/kustomization-laptop.yaml").read_text())

    assert result.exit_code == ExitCode.OK, result.output
    assert body["spec"]["path"] == "./regions/laptop/delivery"


SHOWN = [block.partition("\n") for block in yaml_blocks(PAGE) if "/laptop/" in block.partition("\n")[0]]


@pytest.mark.parametrize(("first", "block"), [(first, block) for first, _, block in SHOWN])
def test_objects_that_the_page_shows_are_those_of_the_layout(
    invoke: Invoke, tmp_path: Path, first: str, block: str
) -> None:
    path = Path(first.removeprefix("# "))
    folder, options = {
        "regions": ("regions/laptop", ("--gitops", "flux")),
        "argo": ("argo/laptop", ("--gitops", "argo-cd", "--source", URL)),
    }[path.parts[0]]
    invoke("render", "laptop", "--out", str(tmp_path / "out"), "--path", folder, *options)

    assert contained(yaml.safe_load(block), files(tmp_path / "out")[str(path.relative_to(folder))])


def test_the_page_shows_objects_of_both_controllers() -> None:
    assert len(SHOWN) == len(("flux", "argo-cd"))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            ("--gitops", "flux"),
            "--gitops: requires --out DIR, without --base; write: jacquard render ENV --out DIR --gitops flux",
        ),
        (
            ("--gitops", "argo-cd", "--out", "out", "--base", "HEAD"),
            "--gitops: requires --out DIR, without --base; write: jacquard render ENV --out DIR --gitops argo-cd",
        ),
        (("--out", "out", "--source", URL), "--source: requires --gitops; write --gitops flux or --gitops argo-cd"),
        (("--out", "out", "--path", "x"), "--path: requires --gitops; write --gitops flux or --gitops argo-cd"),
        (
            ("--gitops", "argo-cd", "--out", "/out"),
            (
                "--source: must be the URL of a Git repository by HTTPS or SSH, without a password (got ''); "
                "write such as ssh://git@git.example.com/regions.git\n"
                "--path: must be the path of the folder in the repository, relative to its root (got '/out'); "
                "write such as --path regions/edge-1, or --path . for the root"
            ),
        ),
        (
            ("--gitops", "flux", "--out", "out", "--path", "../out", "--source", "flux-system"),
            (
                "--source: must be the GitRepository or OCIRepository in namespace flux-system (got 'flux-system'); "
                "write KIND/NAME, such as GitRepository/flux-system\n"
                "--path: must be the path of the folder in the repository, relative to its root (got '../out'); "
                "write such as --path regions/edge-1, or --path . for the root"
            ),
        ),
    ],
)
def test_options_of_a_layout_that_do_not_fit_are_refused(invoke: Invoke, options: tuple[str, ...], text: str) -> None:
    result = invoke("render", "laptop", *options)

    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, f"error: {text}\n")
    assert not Path("out").exists()


def test_names_of_files_do_not_meet(laptop: Environment) -> None:
    for part in layout(laptop).parts:
        assert len(render_tree.files(part.objects)) == len(part.objects)
