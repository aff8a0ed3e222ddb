"""Invariants of all rendered sets of objects."""

from __future__ import annotations

import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import ManifestSet
from components.specs.reading.loader import load_environment
from jacquard.machine import paths


@pytest.mark.parametrize("name", ["laptop", "lab", "eu-south-03a"])
def test_no_member_of_a_set_is_its_parent(name: str) -> None:
    """The parent of a set is a ConfigMap with the name of the set, in the namespace of the set."""
    environment = load_environment(name, paths.ROOT / "environments")
    sets = [
        item for piece in slices(environment) for item in manifests(environment, piece) if isinstance(item, ManifestSet)
    ]

    assert len(sets) > 3
    taken = [
        (item.namespace, item.name)
        for item in sets
        for member in item.members.values()
        if (member.kind, member.namespace, member.name) == ("ConfigMap", item.namespace, item.name)
    ]
    assert taken == []
