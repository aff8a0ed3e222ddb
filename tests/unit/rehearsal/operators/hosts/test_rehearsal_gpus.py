"""Resources of the simulated GPU device plug-in for rendered objects are those documented for tenants."""

from __future__ import annotations

import re
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.manifest import Manifest
from components.render.manifest import objects as flat
from components.reports.offerings import offerings
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal.operators.hosts import agents
from jacquard.machine import paths

_LABEL = re.compile(r"(nvidia\.com/[-\w.]+)=([-\w.]+)")

_FOUND = "feature.node.kubernetes.io/pci-0302_10de.present"


def labels_of(template: Manifest) -> dict[str, str]:
    """Return the NVIDIA labels with which nodes of a template register, from any part of the template."""
    return dict(_LABEL.findall(str(template.body["spec"])))


@pytest.mark.parametrize("name", ["eu-south-03a", "lab"])
def test_nodes_with_shared_gpus_offer_the_documented_resources(objects: Any, name: str) -> None:
    environment = load_environment(name, paths.ROOT / "environments")
    rendered = list(flat(everything(environment)))
    [shared] = offerings(environment).shared_gpus
    [labels] = [found for item in rendered if item.kind.endswith("ConfigTemplate") and (found := labels_of(item))]
    [release] = [
        item.body | {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        for item in rendered
        if item.kind == "HelmRelease"
        and item.body["spec"]["chartRef"]["name"] == "gpu-operator"
        and item.body["spec"]["kubeConfig"]["secretRef"]["name"] == f"{shared.cluster}-kubeconfig"
    ]
    plugin = agents.AGENTS["gpu-operator"].name
    view = objects(
        *(item.body for item in rendered if item.kind == "ConfigMap" and item.cluster == shared.cluster),
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n1", "labels": {**labels, _FOUND: "true"}},
            "status": {"nodeInfo": {"osImage": "gpu-1"}},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "plugin",
                "namespace": release["spec"]["targetNamespace"],
                "ownerReferences": [{"kind": "DaemonSet", "name": plugin}],
            },
            "spec": {"nodeName": "n1"},
            "status": {"phase": "Running"},
        },
    )

    for _ in range(3):
        agents.reconcile(objects(release), shared.cluster, view)

    assert view.get("Node", "n1")["status"]["allocatable"] == {shared.resource: str(shared.each_node)}
