"""The management cluster's nodes exist from the start, and become ready with the CNI."""

from __future__ import annotations

from typing import Any

from jacquard.lab.rehearsal.operators.hosts import nodes as simulated


def test_nodes_are_created_once_with_a_network_and_a_zone_each(objects: Any) -> None:
    view = objects()

    simulated.create_management_nodes(view)
    view.edit("Node", "management-0", "", {"spec": {"unschedulable": True}})
    simulated.create_management_nodes(view)

    nodes = list(view.all("v1", "Node"))
    assert [node["metadata"]["name"] for node in nodes] == list(simulated.MANAGEMENT_NODES)
    assert len({node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in nodes}) == len(nodes)
    assert {node["status"]["conditions"][0]["status"] for node in nodes} == {"False"}
    assert nodes[0]["spec"] == {"unschedulable": True}
