"""Output of ``jacquard show ENV images --platform``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema

from jacquard.cli.errors import ExitCode
from jacquard.machine import paths

Invoke = Callable[..., Any]


def test_each_artefact_is_a_line_and_tags_are_shown_with_their_reason(invoke: Invoke) -> None:
    result = invoke("show", "laptop", "images", "--platform")

    lines = [" ".join(line.split()) for line in result.output.splitlines()]
    assert result.exit_code == ExitCode.OK
    assert lines[0] == "form from version digest objects"
    assert "charts oci://registry.cloud.example/charts/vastcsi 2.5.0 5d36a787c87a 1" in lines
    assert "own-charts oci://registry.cloud.example/charts/baremetal-operator 0.13.2 18af8799bda4 1" in lines
    assert "manifests oci://registry.cloud.example/manifests/kubevirt-operator v1.9.0 21fbed784e4a 1" in lines
    assert any(line.startswith("cluster-api oci://registry.cloud.example/manifests/cluster-") for line in lines)
    tags = sum(" by tag " in line for line in lines)
    dpf = "DPF refers to charts of services on DPUs by version, and these charts to images by tag"
    artefacts = len(lines) - 5
    assert lines[-3:] == [
        f"{artefacts - tags} of {artefacts} are pinned by digest",
        f"by tag: dpu-charts, since {dpf}",
        f"by tag: images, since {dpf}; control planes use images with their version as tag",
    ]


def test_its_json_keeps_its_schema_and_has_whole_digests(invoke: Invoke) -> None:
    answer = json.loads(invoke("show", "laptop", "images", "--platform", "--format", "json").stdout)

    schema = json.loads((paths.ROOT / "schemas" / "platform-images.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(answer, schema)
    assert (answer["environment"], answer["by_tag"].keys()) == ("laptop", {"dpu-charts", "images"})
    [vast] = [image for image in answer["images"] if image["name"].endswith("/vastcsi")]
    assert len(vast["digest"]) == len("sha256:") + 64


def test_other_arguments_than_images_are_rejected(invoke: Invoke) -> None:
    result = invoke("show", "laptop", "capacity", "--platform")

    assert (result.exit_code, result.stderr) == (
        ExitCode.BAD_DATA,
        "error: --platform requires images; use: jacquard show laptop images --platform\n",
    )
