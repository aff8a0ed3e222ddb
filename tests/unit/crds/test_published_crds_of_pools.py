"""Every custom object of a region that sets all node pool fields conforms to its published schema."""

from __future__ import annotations

from typing import Any, Protocol

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import objects
from components.specs.reading.loader import load_environment
from tests.support.data.complete_pools import with_complete_pools
from tests.support.data.environment_data import ENVIRONMENTS

KINDS = {
    "BareMetalHost",
    "HostFirmwareComponents",
    "HostFirmwareSettings",
    "HostUpdatePolicy",
    "MachineDeployment",
    "MachineDrainRule",
    "Metal3MachineTemplate",
}


class Oracle(Protocol):
    """Type of the fixture ``published``."""

    def problems(self, body: Any) -> list[str]: ...


def test_all_fields_of_a_pool_conform_to_the_published_schemas(published: Oracle) -> None:
    environment = with_complete_pools(load_environment("laptop", ENVIRONMENTS))
    rendered = [item for part in slices(environment) for item in objects(manifests(environment, part))]
    custom = [item for item in rendered if item.kind in KINDS]

    assert {item.kind for item in custom} == KINDS
    assert {item.key: problems for item in custom if (problems := published.problems(item.body))} == {}
