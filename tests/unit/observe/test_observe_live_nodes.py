"""Properties that nodes and their Metal3 hosts report, in the terms of the data."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.manifest import MANAGEMENT
from components.reports.uniformity import LiveNode
from components.specs.environment import Environment
from jacquard.observe.nodes.live import live_nodes
from jacquard.observe.observation import Observation


def a_node(**others: Any) -> dict[str, Any]:
    labels = {"node-restriction.kubernetes.io/pool": "train", "node-restriction.kubernetes.io/failure-domain": "a01"}
    info = {
        "kernelVersion": "6.8.0-84-generic",
        "kubeletVersion": "v1.35.1",
        "containerRuntimeVersion": "containerd://2.1.4",
    }
    labels |= {"nvidia.com/cuda.driver-version.full": "580.95.05", "node.jacquard.dev/image": "gpu-2026.10.2"}
    return {
        "metadata": {"name": "x1", "labels": labels},
        "spec": {"providerID": "metal3://acme-train/a01-u01/acme-train-train-a01-x1"},
        "status": {"nodeInfo": info},
    } | others


def test_nodes_and_their_hosts_are_read_in_the_words_of_the_data(laptop: Environment) -> None:
    name = {"name": "a01-u01", "namespace": "acme-train"}
    components = [
        {"component": "bmc", "initialVersion": "1.0", "currentVersion": "1.1"},
        {"component": "nic:one", "initialVersion": "28.1"},
        {"component": "nic:two", "initialVersion": "28.2"},
    ]
    image = {"provisioning": {"image": {"checksum": "ab"}}}
    objects = {
        ("acme-train", "Node"): [a_node(), {"metadata": {"name": "control-plane"}}],
        (MANAGEMENT, "BareMetalHost"): [{"metadata": name, "status": image}],
        (MANAGEMENT, "HostFirmwareSettings"): [{"metadata": name, "status": {"settings": {"PcieAspm": "Disabled"}}}],
        (MANAGEMENT, "HostFirmwareComponents"): [{"metadata": name, "status": {"components": components}}],
    }

    assert live_nodes(laptop, Observation(objects=objects)) == [
        LiveNode(
            cluster="acme-train",
            name="x1",
            pool="train",
            failure_domain="a01",
            host="a01-u01",
            values={
                "image": "gpu-2026.10.2",
                "kernel": "6.8.0-84",
                "kubelet": "v1.35.1",
                "containerd": "2.1.4",
                "gpu_driver": "580.95.05",
                "image_sha256": "ab",
                "bios.PcieAspm": "Disabled",
                "firmware.bmc": "1.1",
                "firmware.nic": "28.1, 28.2",
                "nic_firmware": "28.1, 28.2",
            },
        )
    ]


@pytest.mark.parametrize("provider", [{}, {"providerID": "metal://acme-train/x1"}])
def test_a_node_without_a_known_host_is_read_from_the_node(laptop: Environment, provider: dict[str, str]) -> None:
    bare = a_node(spec=provider, status=None)

    [found] = live_nodes(laptop, Observation(objects={("acme-train", "Node"): [bare]}))

    assert (found.host, set(found.values)) == (None, {"image", "gpu_driver"})
