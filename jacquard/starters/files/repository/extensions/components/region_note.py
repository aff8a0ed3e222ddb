"""Example component region-note: a ConfigMap in each cluster with the contact of the region. Change or remove it.

A component of this repository is a file of `extensions/components/` with a function `concepts`. Its objects are
checked, rendered, evaluated by policies and applied like Jacquard's own objects.
"""

from __future__ import annotations

from collections.abc import Iterator

from components.lookups.slices import Slice, SliceKind
from components.render.manifest import MANAGEMENT
from components.render.objects import manifest
from components.specs.environment import Environment
from jacquard import ExtensionInput

CONTACT = "platform@cloud.example"


def concepts(environment: Environment, part: Slice) -> Iterator[ExtensionInput]:
    """Yield the inputs that this component adds to the slice ``part`` of ``environment``."""
    clusters = {SliceKind.FOUNDATION: MANAGEMENT, SliceKind.CLUSTER: part.subject}
    cluster = clusters.get(part.kind)
    if cluster is None:
        return
    note = {"region": environment.name, "stage": environment.region.stage.value, "contact": CONTACT}
    placed = manifest("v1", "ConfigMap", "region-note", namespace="kube-public", cluster=cluster, data=note)
    yield ExtensionInput(name=f"{cluster}-note", objects=(placed,))
