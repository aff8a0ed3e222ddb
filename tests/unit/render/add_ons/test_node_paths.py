"""Paths on nodes that charts use: those of the Kubernetes distribution of the nodes."""

from __future__ import annotations

from typing import Any

from components.lookups.add_ons import facts as facts_of
from components.lookups.pools import clusters
from components.render.add_ons.add_on_values import GPU_OPERATOR, VALUES
from components.render.pools.node_paths import K0S, KUBEADM, KUBELET_ROOT
from components.specs.reading.loader import load_environment
from tests.support.add_ons.chart_values import record
from tests.support.add_ons.cluster_shape import facts
from tests.support.data.environment_data import ENVIRONMENTS


def toolkit(**shape: Any) -> dict[str, str]:
    values = VALUES[GPU_OPERATOR](facts(**shape))
    return {entry["name"]: entry["value"] for entry in values.get("toolkit", {}).get("env", ())}


def test_the_toolkit_adds_a_file_to_the_containerd_of_k0s_and_keeps_its_main_file() -> None:
    assert toolkit(node_paths=K0S) == {
        "CONTAINERD_CONFIG": "/etc/k0s/nvidia-toolkit.toml",
        "CONTAINERD_SOCKET": "/run/k0s/containerd.sock",
        "RUNTIME_CONFIG_SOURCE": "file=/etc/k0s/containerd.toml",
        "RUNTIME_DROP_IN_CONFIG": "/etc/k0s/containerd.d/nvidia.toml",
    }
    assert toolkit(node_paths=KUBEADM) == {}


def test_a_cluster_has_the_paths_of_its_control_planes() -> None:
    for name, paths in (("eu-south-03a", K0S), ("laptop", KUBEADM)):
        environment = load_environment(name, ENVIRONMENTS)

        assert {facts_of(environment, placed).node_paths for placed in clusters(environment)} == {paths}


def test_the_folder_of_the_kubelet_is_the_default_of_every_chart() -> None:
    charts = load_environment("laptop", ENVIRONMENTS).versions.charts
    records = [(chart.name, found) for chart in charts if (found := record(chart.name)) is not None]
    folders = {
        f"{name} {key}": value
        for name, found in records
        for key, value in found.defaults.items()
        if isinstance(value, str) and value.startswith("/") and "kubelet" in value
    }

    assert folders.keys() >= {"csi-driver-nfs kubeletDir", "vast-csi kubeletPath", "topolvm node.kubeletWorkDirectory"}
    assert {key: value for key, value in folders.items() if not value.startswith(KUBELET_ROOT)} == {}
