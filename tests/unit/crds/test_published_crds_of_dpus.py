"""What DPUs are flashed from fits the schema that DPF publishes, in each revision, pinned somewhere or not."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from components.render.dpu_templates import KNOWS_UPLINKS, REVISIONS, templates
from components.specs.intents import DpuIntent

API = "provisioning.dpu.nvidia.com/v1alpha1"


class Oracle(Protocol):
    """What the fixture ``published`` gives."""

    def problems(self, body: Any) -> list[str]: ...


def made(kind: str, name: str, spec: Any) -> dict[str, Any]:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name, "namespace": "dpf"}, "spec": dict(spec)}


@pytest.mark.parametrize("mirror", [None, "registry.example"])
@pytest.mark.parametrize("revision", REVISIONS)
def test_images_and_flavors_of_each_revision_fit_their_published_schema(
    published: Oracle, revision: int, mirror: str | None
) -> None:
    intent = DpuIntent(
        revision=revision,
        image="bfb-1",
        url="https://images.example/bfb-1.bfb",
        sha256="0" * 64,
        bsp="4.13.0",
        doca="3.2.0",
        uefi="4.13.0",
        atf="4.13.0",
        virtual_functions=16,
        mtu_bytes=9000,
        uplink_mtu_bytes=9216 if revision >= KNOWS_UPLINKS else None,
        mirror=mirror,
    )
    found = templates(intent)

    assert published.problems(made("BFB", found.bfb_name, found.bfb)) == []
    assert published.problems(made("DPUFlavor", found.flavor_name, found.flavor)) == []
    assert published.problems(made("DPUFlavor", "other", {**found.flavor, "dpuMode": "trusted"})) != []
