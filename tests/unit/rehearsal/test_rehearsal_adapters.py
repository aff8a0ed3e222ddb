"""What simulated device plugins of adapters offer is what tenants are told that they can ask for."""

from __future__ import annotations

from typing import Any

import pytest
from on_infiniband import on_infiniband

from components.plan.build.manifests import everything
from components.plan.report.offerings import offerings
from components.render.manifest import objects as flat
from components.specs.instance_types import PortUse, RdmaSpec
from components.specs.loader import load_environment
from rehearsal.operators import agents
from toolchain import paths


@pytest.mark.parametrize(("use", "count"), [(PortUse.WHOLE, "8"), (PortUse.SHARED, "110")])
def test_nodes_offer_ports_as_offerings_say(objects: Any, use: PortUse, count: str) -> None:
    region = on_infiniband(load_environment("laptop", paths.ROOT / "environments"), RdmaSpec(ports=use))
    [told] = offerings(region).rdma
    rendered = list(flat(everything(region)))
    [policy] = [item.body for item in rendered if item.kind == "NicNodePolicy"]
    [release] = [
        item.body | {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        for item in rendered
        if item.kind == "HelmRelease" and item.name == "network-operator"
    ]
    owners = [{"kind": "DaemonSet", "name": agents.AGENTS["network-operator"].name}]
    place = {"namespace": release["spec"]["targetNamespace"], "ownerReferences": owners}
    labels = {"n1": policy["spec"]["nodeSelector"], "n2": {}}
    view = objects(
        policy,
        *(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": found}, "status": {}}
            for node, found in labels.items()
        ),
        *(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"plugin-{node}", **place},
                "spec": {"nodeName": node},
                "status": {"phase": "Running"},
            }
            for node in labels
        ),
    )

    agents.reconcile(objects(release), told.cluster, view)

    assert view.get("Node", "n1")["status"]["allocatable"] == {told.resource: count}
    assert view.get("Node", "n2")["status"] == {}
