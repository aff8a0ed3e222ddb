"""Flash objects of DPUs conform to DPF's schema, in each revision, pinned or not."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from components.render.network.dpu_templates import REVISIONS, templates
from tests.support.changes.dpu_rollouts import INTENT

API = "provisioning.dpu.nvidia.com/v1alpha1"


class Oracle(Protocol):
    """Type of the fixture ``published``."""

    def problems(self, body: Any) -> list[str]: ...


def made(kind: str, name: str, spec: Any) -> dict[str, Any]:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name, "namespace": "dpf"}, "spec": dict(spec)}


@pytest.mark.parametrize("mirror", [None, "registry.example"])
@pytest.mark.parametrize("revision", REVISIONS)
def test_images_and_flavors_of_each_revision_fit_their_published_schema(
    published: Oracle, revision: int, mirror: str | None
) -> None:
    intent = INTENT.model_copy(update={"revision": revision, "mirror": mirror})
    found = templates(intent)

    assert published.problems(made("BFB", found.bfb_name, found.bfb)) == []
    assert published.problems(made("DPUFlavor", found.flavor_name, found.flavor)) == []
    assert published.problems(made("DPUFlavor", "other", {**found.flavor, "dpuMode": "trusted"})) != []
