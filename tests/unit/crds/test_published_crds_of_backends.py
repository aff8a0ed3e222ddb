"""Every custom object of every combination of backends conforms to its published schema."""

from __future__ import annotations

from itertools import product
from typing import Any, Protocol

import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import objects
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.network.tenant_network import Isolation
from components.specs.reading.loader import load_environment
from components.specs.region.region import ControlPlaneBackend
from jacquard.machine import paths
from tests.support.data.second_backends import with_backends
from tests.support.objects.published_crds import BUILT_IN


class Oracle(Protocol):
    """Type of the fixture ``published``."""

    def problems(self, body: Any) -> list[str]: ...


@pytest.fixture(scope="module")
def laptop() -> Environment:
    return load_environment("laptop", paths.ROOT / "environments")


@pytest.mark.parametrize("data_store", ["dedicated", "shared-a"])
@pytest.mark.parametrize(
    ("control_planes", "bare_metal", "isolation"), list(product(ControlPlaneBackend, BareMetalBackend, Isolation))
)
def test_every_custom_object_fits_its_published_schema(
    published: Oracle,
    laptop: Environment,
    control_planes: ControlPlaneBackend,
    bare_metal: BareMetalBackend,
    isolation: Isolation,
    data_store: str,
) -> None:
    environment = with_backends(
        laptop, control_planes=control_planes, bare_metal=bare_metal, isolation=isolation, data_store=data_store
    )
    rendered = [item for part in slices(environment) for item in objects(manifests(environment, part))]
    custom = [item for item in rendered if item.api_version not in BUILT_IN]

    refused = {item.key: problems for item in custom if (problems := published.problems(item.body))}

    assert refused == {}
    assert len({item.key for item in rendered}) == len(rendered)
    assert len({item.kind for item in custom}) > 15
