"""VM images of a tenant: the sources from which CDI fills their golden volumes."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.manifest import objects
from components.render.vms.vm_offering import VmOfferingInput
from components.specs.struct import replace
from components.specs.vms.tenant_images import OwnImageSpec

SUM = "5b4e89ad7035fb700922256a720110a1766e2df71e0c6f63480ddd088fe4a614"


def own(**source: Any) -> OwnImageSpec:
    return OwnImageSpec.model_validate({"name": "weaver", "version": "weaver-7", "size": "8Gi", **source})


@pytest.mark.parametrize(
    ("given", "rendered"),
    [
        (
            {"http": {"url": "https://images.example/weaver", "sha256": SUM}},
            {"http": {"url": "https://images.example/weaver", "checksum": f"sha256:{SUM}"}},
        ),
        (
            {"http": {"url": "https://images.example/weaver", "sha256": SUM, "secret": "login"}},
            {"http": {"url": "https://images.example/weaver", "checksum": f"sha256:{SUM}", "secretRef": "login"}},
        ),
        (
            {"registry": {"image": f"registry.example/weaver@sha256:{SUM}", "secret": "login"}},
            {"registry": {"url": f"docker://registry.example/weaver@sha256:{SUM}", "secretRef": "login"}},
        ),
        ({"claim": {"namespace": "looms", "name": "disk"}}, {"pvc": {"namespace": "looms", "name": "disk"}}),
        ({"snapshot": {"namespace": "looms", "name": "disk"}}, {"snapshot": {"namespace": "looms", "name": "disk"}}),
    ],
)
def test_each_source_is_rendered_as_cdi_names_it(inputs_of: Any, given: Any, rendered: Any) -> None:
    [offering] = inputs_of(VmOfferingInput)
    items = [*objects(replace(offering, images=(*offering.images, own(**given))).render())]

    [golden] = [item for item in items if item.name == "weaver-7-80gi"]
    [source] = [item for item in items if (item.kind, item.name) == ("DataSource", "weaver")]
    [cloned] = [item for item in items if item.kind == "Role"]

    assert golden.body["spec"]["source"] == rendered
    assert source.body["spec"]["source"]["pvc"]["name"] == golden.name
    assert golden.name in cloned.body["rules"][0]["resourceNames"]
