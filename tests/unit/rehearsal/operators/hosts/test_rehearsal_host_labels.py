"""CAPM3 copies labels of hosts to their Nodes, by the prefixes of the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.hosts import bare_metal, claims
from tests.support.objects.live_objects import obj

PLACE = "acme"
RACK, OLD, OTHER = "jacquard.dev/rack", "jacquard.dev/forged", "example.com/kept"
PREFIXES = {"metal3.io/metal3-label-sync-prefixes": " jacquard.dev, ,metal3.io"}


def copied(objects: Any, notes: dict[str, str], labels: dict[str, str], paused: dict[str, str]) -> dict[str, str]:
    """Return the labels of a Node with ``labels`` after those of its host were copied."""
    consumer = {"kind": "Metal3Machine", "name": "m1", "namespace": PLACE}
    owned = {"ownerReferences": [{"kind": "Machine", "name": "m1"}]}
    of_host = {"labels": {RACK: "a01", "jacquard.development/x": "y", "plain": "p"}, "annotations": paused}
    management = objects(
        obj(*bare_metal.HOST, "h1", {"consumerRef": consumer}, PLACE, metadata=of_host),
        obj(claims.API, "Metal3Machine", "m1", {}, PLACE, metadata=owned),
        obj(*claims.MACHINE, "m1", {"clusterName": PLACE}, PLACE, status={"nodeRef": {"name": "n1"}}),
        obj(*claims.CLUSTER, PLACE, {"infrastructureRef": {"name": PLACE}}, PLACE),
        obj(claims.API, "Metal3Cluster", PLACE, {}, PLACE, metadata={"annotations": notes}),
        obj(*bare_metal.HOST, "free", {}, PLACE),
    )
    cluster = objects(obj("v1", "Node", "n1", {}, "", metadata={"labels": labels}))

    claims.copy_labels(management, {PLACE: cluster}.get)

    return dict(cluster.get("Node", "n1")["metadata"]["labels"])


@pytest.mark.parametrize(
    ("notes", "paused", "labels"),
    [
        (PREFIXES, {}, {RACK: "a01", OTHER: "1"}),
        ({}, {}, {OLD: "x", OTHER: "1"}),
        (PREFIXES, {"baremetalhost.metal3.io/paused": ""}, {OLD: "x", OTHER: "1"}),
    ],
)
def test_labels_with_a_prefix_are_those_of_the_host_and_others_are_kept(
    objects: Any, notes: dict[str, str], paused: dict[str, str], labels: dict[str, str]
) -> None:
    assert copied(objects, notes, {OLD: "x", OTHER: "1"}, paused) == labels


def test_a_changed_label_of_a_host_replaces_that_of_the_node(objects: Any) -> None:
    assert copied(objects, PREFIXES, {RACK: "b02"}, {}) == {RACK: "a01"}
