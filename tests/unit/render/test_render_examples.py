"""Example workloads for tenants."""

from __future__ import annotations

import pytest

from components.render.examples import gpu_pod


@pytest.mark.parametrize("joined", [True, False])
def test_a_pod_uses_the_host_network_on_nodes_with_the_fabric(*, joined: bool) -> None:
    pod = gpu_pod("h100-eth-8", (), {"nvidia.com/gpu": 8}, (), "example", host_network=joined)

    assert ("hostNetwork" in pod["spec"], "securityContext" in pod["spec"]["containers"][0]) == (joined, joined)
