"""Images that pools with volumes on local disks must not use."""

from __future__ import annotations

from typing import Any

import pytest

from components.intents.images import find_image, objections
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.storage.topolvm import TopolvmClassSpec
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.data.small_region import changed


def reported(environment: Environment, *, cluster: str = "vireo-train", **contents: Any) -> list[str]:
    """Return the problem with an image with ``contents`` on the nodes with GPUs of ``cluster``."""
    image = find_image(environment, "eth-2026.11.1")
    assert image is not None
    plain = changed(image, contents=changed(image.contents, **contents))
    [of] = [one for tenant in environment.tenants for one in tenant.clusters if one.name == cluster]
    [pool] = [one for one in of.pools if one.name in {"h100", "l40s"}]
    return objections(environment, plain, of, pool)


@pytest.fixture(scope="module")
def region() -> Environment:
    return load_environment("eu-south-03a", ENVIRONMENTS)


def test_a_pool_with_encrypted_volumes_gets_no_image_that_encrypts_nothing(region: Environment) -> None:
    text = "image eth-2026.11.1 does not encrypt disks (contents.encrypted_scratch)"

    assert reported(region, encrypted_scratch=False) == [f"{text}, and vireo-train has encrypted volumes of local"]
    assert reported(region, encrypted_scratch=True) == []


def test_an_image_without_encryption_fits_pools_that_require_none(region: Environment) -> None:
    storage = [
        changed(entry, encrypted=False) if isinstance(entry, TopolvmClassSpec) else entry
        for entry in region.region.storage
    ]
    plain = changed(region, region=changed(region.region, storage=tuple(storage)))

    assert reported(plain, encrypted_scratch=False) == []
    assert reported(region, encrypted_scratch=False, cluster="solstice-lab") == []


def test_a_pool_with_local_volumes_gets_no_image_without_their_volume_group(region: Environment) -> None:
    text = "image eth-2026.11.1 does not create volume group nvme (contents.volume_groups)"

    assert reported(region, volume_groups=("data",)) == [f"{text}, and vireo-train has volumes of local"]
    assert reported(region, volume_groups=()) == reported(region, volume_groups=("data",))
    assert reported(region, volume_groups=("data", "nvme")) == []
    assert reported(region, volume_groups=("data",), cluster="solstice-lab") == []


def test_an_image_that_declares_no_volume_groups_is_not_compared(region: Environment) -> None:
    assert reported(region, volume_groups=None) == []
