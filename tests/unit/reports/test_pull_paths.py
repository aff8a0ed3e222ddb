"""Registries of image pulls, and nodes that a registry change or a promotion replaces."""

from __future__ import annotations

from typing import Any

import pytest

from components.reports.pull_paths import moved_pulls, pull_path
from components.specs.environment import Environment
from components.specs.pools.intents import NodeIntent
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.data.small_region import changed

MIRROR = "registry.laptop.cloud.example"
DIRECT = "directly from the registries"
POOL = "acme-train/train"


@pytest.fixture(scope="module")
def laptop() -> Environment:
    return load_environment("laptop", ENVIRONMENTS)


def intent(laptop: Environment, **changes: Any) -> NodeIntent:
    found = next(pin for pin in laptop.image_pins.intents.values() if isinstance(pin, NodeIntent))
    return found.model_copy(update={"mirror": MIRROR, "upstreams": ("docker.io", "quay.io"), "revision": 2} | changes)


def with_registry(laptop: Environment, **changes: Any) -> Environment:
    assert laptop.region.registry is not None
    return changed(laptop, region=changed(laptop.region, registry=changed(laptop.region.registry, **changes)))


def pinned(laptop: Environment, **changes: Any) -> Environment:
    """Return laptop with the nodes of one pool on another intent."""
    new = intent(laptop, **changes)
    pins = laptop.image_pins
    groups = {key: new.name if key.startswith(f"{POOL}/") else name for key, name in pins.groups.items()}
    return changed(laptop, image_pins=changed(pins, groups=groups, intents={**pins.intents, new.name: new}))


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"mirror": None, "upstreams": ()}, DIRECT),
        ({}, f"through {MIRROR} at 10.3.0.250 for docker.io, quay.io"),
        ({"upstreams": ("quay.io", "gone.example")}, f"through {MIRROR} at 10.3.0.250 for quay.io"),
        ({"revision": 1}, DIRECT),  # One file for all registries, which the cache does not serve
        ({"mirror": "older.example"}, "through older.example"),
    ],
)
def test_a_path_is_the_pinned_one_if_the_registry_serves_it(
    laptop: Environment, changes: dict[str, Any], path: str
) -> None:
    assert pull_path(laptop, intent(laptop, **changes)) == path


def test_a_mirror_of_any_registry_has_no_upstreams(laptop: Environment) -> None:
    region = with_registry(laptop, cache=None)

    assert pull_path(region, intent(laptop, upstreams=())) == f"through {MIRROR} at 10.3.0.250"


def test_a_promotion_moves_the_nodes_of_its_pool(laptop: Environment) -> None:
    [moved] = moved_pulls(pinned(laptop, mirror=None, upstreams=()), pinned(laptop))

    assert (moved.pool, moved.nodes, moved.before) == (POOL, 10, DIRECT)
    assert moved.after == f"through {MIRROR} at 10.3.0.250 for docker.io, quay.io"


def test_a_new_address_only_replaces_nodes_that_pull_through_it(laptop: Environment) -> None:
    before = pinned(laptop)
    others = {moved.pool for moved in moved_pulls(before, with_registry(before, address="10.3.0.251"))}

    assert others >= {POOL}
    assert list(moved_pulls(before, changed(before, versions=changed(before.versions, release="other")))) == []
