"""Node settings of a region."""

from __future__ import annotations

from typing import Any

import pytest

from components.specs.pools.nodes import FirmwareUpdate, JoinServiceSpec, NodesSpec, RolloutLimitsSpec
from components.specs.reading.problems import shown
from tests.support.checks.spec_errors import error_texts

DIGEST = "a" * 64


def test_a_region_has_no_limits_and_waits_by_default() -> None:
    nodes = NodesSpec()

    assert nodes.rollouts == RolloutLimitsSpec(
        max_unavailable_per_pool=None, max_unavailable_per_fabric=None, max_rolling_nvlink_domains=None
    )
    assert (nodes.burn_in, nodes.join_service, nodes.firmware_updates) == (None, None, FirmwareUpdate.ON_PREPARING)


@pytest.mark.parametrize("image", [f"registry.example/join@sha256:{DIGEST}", f"r.example:5000/a/b:1@sha256:{DIGEST}"])
def test_a_join_service_is_an_image_by_digest(image: str) -> None:
    service = JoinServiceSpec.model_validate({"image": image, "address": "10.0.0.40"})

    assert service.image == image


@pytest.mark.parametrize(
    "image", ["registry.example/join", "registry.example/join:1", f"registry.example/join@md5:{DIGEST}", "@sha256:"]
)
def test_a_join_service_by_tag_is_refused(image: str) -> None:
    texts: dict[str, Any] = error_texts(JoinServiceSpec, {"image": image, "address": "10.0.0.40"})

    rule = "must be a container image with its digest, registry/name@sha256: and 64 hex digits"
    assert texts == {"image": f"{rule} (got {shown(image)})"}


def test_a_condition_has_the_form_of_a_condition() -> None:
    texts: dict[str, Any] = error_texts(
        NodesSpec, {"burn_in": {"condition": "burn in passed", "set_by": "fleet-tester"}}
    )

    assert texts == {
        "burn_in.condition": "must be a name of letters, digits, '-', '_' and '.', plain or after a domain and /"
        " (got 'burn in passed'); did you mean 'burn-in-passed'?"
    }
