"""Empty files: one problem instead of a list of missing keys."""

from __future__ import annotations

from typing import Any

import pytest

from components.specs.reading.problems import Problem

CHECKOUT = "restore the file with git checkout"
CASES = [
    (
        "region.yaml",
        "---\n",
        (
            f"contains no keys; {CHECKOUT}, or write its keys (required: schema_version, region, stage, stacks,"
            " image_channel, sites, failure_domain, networks, control_planes, dpus, storage)"
        ),
    ),
    (
        "tenants/globex.yaml",
        "",
        f"is empty; {CHECKOUT}, or write its keys (required: schema_version, tenant, contacts, vpcs, clusters)",
    ),
    (
        "../catalog/images.yaml",
        "\n",
        f"is empty; {CHECKOUT}, or write its keys (required: schema_version, images, dpu_images)",
    ),
    (
        "inventory/hall-a.csv",
        "\n",
        (
            f"is empty; {CHECKOUT}, or write the header rack,slot,host,instance_type,serial,bmc,bmc_secret,boot_mac,"
            "dpu_serial,leaf"
        ),
    ),
    ("waivers.yaml", "# none\n", "contains only comments; write schema_version: 1, or remove the file"),
    (
        "tenants/globex.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: globex}\n",
        f"is an object of Kubernetes, which does not belong here; move it, or {CHECKOUT}",
    ),
    ("images.lock.yaml", "", f"is empty; {CHECKOUT}; only jacquard writes it"),
]


@pytest.mark.parametrize(("file", "content", "text"), CASES)
def test_a_file_without_content_is_reported_once(laptop: Any, file: str, content: str, text: str) -> None:
    (laptop.folder / file).write_text(content, encoding="utf-8")

    assert laptop.problems() == (Problem(file, 1, "", text),)
