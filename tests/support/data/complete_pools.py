"""A region whose pools set every field, with the newest template revision."""

from __future__ import annotations

import datetime as dt

from components.intents.nodes import wanted_intent
from components.lookups.pools import pools
from components.specs.environment import Environment
from components.specs.keys import pool_of
from components.specs.pools.node_pool import HealthSpec, NodePoolSpec, RolloutSpec
from components.specs.pools.nodes import NodesSpec
from components.specs.region.catalog import BootMode
from components.specs.region.registry import RegistrySpec
from tests.support.data.small_region import changed

NODES = NodesSpec.model_validate(
    {
        "burn_in": {"condition": "acme.example/BurnInPassed", "set_by": "fleet-tester"},
        "firmware_updates": "on-reboot",
        "join_service": {"image": f"registry.cloud.example/join@sha256:{'a' * 64}", "address": "10.0.0.40"},
    }
)
MIRROR = RegistrySpec(mirror="registry.cloud.example", nodes=True)
ROLLOUT = RolloutSpec.model_validate(
    {"strategy": "idle", "surge": 1, "paused": True, "after": dt.datetime(2026, 12, 1, tzinfo=dt.UTC)}
)
HEALTH = HealthSpec.model_validate({"burn_in": "gated", "min_ready_seconds": 300})


def with_complete_pools(environment: Environment) -> Environment:
    """Return ``environment`` with pools that set every field."""

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
    edited = changed(
        environment,
        region=changed(environment.region, nodes=NODES, registry=MIRROR),
        images=changed(environment.images, images=images),
        tenants=tenants,
    )
    pins, by_key = edited.image_pins, {placed.key: placed for placed in pools(edited)}
    by_version = {image.version: image for image in images}
    moved = {
        group: wanted_intent(edited, by_key[pool_of(group)], by_version[pins.node(group).image])
        for group in pins.groups
    }
    named = {group: intent.name for group, intent in moved.items()}
    intents = {intent.name: intent for intent in moved.values()}
    return changed(edited, image_pins=changed(pins, groups=named, intents=intents))
