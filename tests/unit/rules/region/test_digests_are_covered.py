"""Every digest of the data has its versions checked, or a documented exception."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from components.rules.region.digests import facts
from components.specs.environment import Environment
from tests.support.data.environment_data import reference

HEX = re.compile(r"[0-9a-f]{64}")
OF_PINS = "a pin: compared with the catalogue by locks.intents and digests.pinned"
EXCEPTIONS = {
    "AllocationsLock.digest": "of the file itself",
    "AllocationsLock.beside": "of the other lock file",
    "ImagesLock.digest": "of the file itself",
    "ImagesLock.beside": "of the other lock file",
    "RamdiskSpec.kernel_sha256": "no field has the version of a ramdisk",
    "RamdiskSpec.initramfs_sha256": "no field has the version of a ramdisk",
    "Tool.digest": "a tool has no version, unless it has a tag",
    "NodeIntent.sha256": OF_PINS,
    "DpuIntent.sha256": OF_PINS,
    "ChartIntent.digest": OF_PINS,
}
"""Fields with a digest but without a version in the catalogue, with the reason."""


def digests(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the digests in ``value``, each with its model and field."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple):
        for item in value:
            yield from digests(item)
    elif isinstance(value, BaseModel):
        for name, inner in value:
            if isinstance(inner, str):
                yield from ((f"{type(value).__name__}.{name}", digest) for digest in HEX.findall(inner))
            yield from digests(inner)


def of_data(environment: Environment) -> Iterator[tuple[str, str]]:
    yield from digests(tuple(getattr(environment, name) for name in type(environment).model_fields))


@pytest.mark.parametrize("name", ["us-east-04a", "laptop"])
def test_each_digest_has_the_versions_that_belong_to_it(name: str) -> None:
    environment = reference(name)
    known = {digest for fact in facts(environment) for digest in HEX.findall(fact.content)}
    found = set(of_data(environment))

    assert {field for field, digest in found if digest not in known} - EXCEPTIONS.keys() == set()
    assert {"Chart.digest", "ManifestArtefact.digest", "Tool.digest", "IronicSpec.image"} <= {
        field for field, _ in found
    }


def test_each_release_of_cluster_api_belongs_to_the_artefact_with_it() -> None:
    environment = reference("laptop")
    artefact = next(item for item in environment.versions.manifests if item.name == "cluster-api-providers")
    found = {fact.name for fact in facts(environment) if fact.content == artefact.digest}

    assert found == {"version", *(f"cluster_api.{name}" for name in environment.versions.cluster_api.releases)}
