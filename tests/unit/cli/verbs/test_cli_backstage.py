"""``jacquard backstage``: output, files, and invalid options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import Result

from jacquard.cli.errors import ExitCode

Invoke = Callable[..., Result]
OPTIONS = ("--owner", "group:infra/gpu", "--namespace", "gpus", "--grafana", "https://grafana.example")


def test_entities_are_printed_with_the_options(invoke: Invoke, data_folder: Path) -> None:
    del data_folder

    result = invoke("backstage", "laptop", *OPTIONS)

    first, *_, last = yaml.safe_load_all(result.stdout)
    system = next(item for item in yaml.safe_load_all(result.stdout) if item["kind"] == "System")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("# Written by 'jacquard backstage'; do not edit.\n")
    assert (first["kind"], first["metadata"]["namespace"], last["kind"]) == ("Group", "gpus", "Resource")
    assert first["metadata"]["links"][0]["url"] == "https://grafana.example/d/jacquard-tenant?var-tenant=acme"
    assert system["spec"]["owner"] == "group:infra/gpu"


def test_a_file_is_written_with_the_same_text_and_again(invoke: Invoke, data_folder: Path, tmp_path: Path) -> None:
    del data_folder
    out = tmp_path / "catalog-info.yaml"
    printed = invoke("backstage", *OPTIONS).stdout

    written = [invoke("backstage", *OPTIONS, "--out", str(out)) for _ in range(2)]

    count = len([*yaml.safe_load_all(printed)])
    assert [(item.exit_code, item.stdout) for item in written] == [(0, f"{count} entities in {out}\n")] * 2
    assert out.read_text() == printed


def test_another_file_is_not_overwritten(invoke: Invoke, data_folder: Path, tmp_path: Path) -> None:
    del data_folder
    out = tmp_path / "catalog-info.yaml"
    out.write_text("kind: Location\n")

    result = invoke("backstage", "--out", str(out))

    assert result.exit_code == ExitCode.BAD_DATA
    assert "exists and was not written by this command" in result.stderr
    assert out.read_text() == "kind: Location\n"


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        (
            "--owner",
            "platform",
            "must be a reference to a group or user (got 'platform'); write it like group:default/platform",
        ),
        ("--owner", "component:default/x", "must be a reference to a group or user"),
        (
            "--namespace",
            "GPU",
            "must be a DNS label of lower-case letters, digits and '-' (got 'GPU'); write it like gpu-cloud",
        ),
        ("--grafana", "grafana", "must be the address of Grafana without a login (got 'grafana')"),
        ("--grafana", "https://a:hunter2@grafana.example", "must be the address of Grafana without a login"),
        ("--grafana", "https://[", "must be the address of Grafana without a login"),
    ],
)
def test_an_option_in_another_form_is_rejected(invoke: Invoke, option: str, value: str, text: str) -> None:
    result = invoke("backstage", "laptop", option, value)

    assert (result.exit_code, result.stdout) == (ExitCode.BAD_DATA, "")
    assert text in " ".join(result.stderr.split())
    assert "hunter2" not in result.output
