"""Every custom object of a region that uses all a node pool can be told fits the schema that its project publishes."""

from __future__ import annotations

import datetime as dt
from typing import Any, Protocol

from environment_data import ENVIRONMENTS
from small_region import changed

from components.plan.manifests import manifests
from components.plan.slices import slices
from components.render.manifest import objects
from components.specs.catalog import BootMode
from components.specs.environment import Environment
from components.specs.loader import load_environment
from components.specs.node_pool import HealthSpec, NodePoolSpec, RolloutSpec
from components.specs.nodes import NodesSpec

NODES = NodesSpec.model_validate(
    {
        "burn_in": {"condition": "acme.example/BurnInPassed", "set_by": "fleet-tester"},
        "firmware_updates": "on-reboot",
        "join_service": {"image": f"registry.cloud.example/join@sha256:{'a' * 64}", "address": "10.0.0.40"},
    }
)
ROLLOUT = RolloutSpec.model_validate(
    {"strategy": "idle", "surge": 1, "paused": True, "after": dt.datetime(2026, 12, 1, tzinfo=dt.UTC)}
)
HEALTH = HealthSpec.model_validate({"burn_in": "gated", "min_ready_seconds": 300})
KINDS = {"BareMetalHost", "HostUpdatePolicy", "MachineDeployment", "MachineDrainRule", "Metal3MachineTemplate"}


class Oracle(Protocol):
    """What the fixture ``published`` gives."""

    def problems(self, body: Any) -> list[str]: ...


def everything(environment: Environment) -> Environment:
    def pool(spec: NodePoolSpec) -> NodePoolSpec:
        return changed(spec, autoscaling=True, rollout=ROLLOUT, health=HEALTH, annotations={"acme.example/a": "b"})

    images = tuple(
        changed(image, boot=BootMode.LIVE_ISO, firmware="hgx-2026.10") for image in environment.images.images
    )
    tenants = tuple(
        changed(
            tenant,
            clusters=tuple(
                changed(cluster, max_pods=200, pools=tuple(map(pool, cluster.pools))) for cluster in tenant.clusters
            ),
        )
        for tenant in environment.tenants
    )
    pins = {group: changed(pin, revision=2) for group, pin in environment.image_pins.groups.items()}
    return changed(
        environment,
        region=changed(environment.region, nodes=NODES),
        images=changed(environment.images, images=images),
        tenants=tenants,
        image_pins=changed(environment.image_pins, groups=pins),
    )


def test_all_that_a_pool_can_be_told_fits_the_published_schemas(published: Oracle) -> None:
    environment = everything(load_environment("laptop", ENVIRONMENTS))
    rendered = [item for part in slices(environment) for item in objects(manifests(environment, part))]
    custom = [item for item in rendered if item.kind in KINDS]

    assert {item.kind for item in custom} == KINDS
    assert {item.key: problems for item in custom if (problems := published.problems(item.body))} == {}
