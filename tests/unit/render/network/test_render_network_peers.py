"""Peers that network policies permit for a data store."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.network.network_peers import serving
from components.specs.environment import Environment


@pytest.mark.parametrize(
    ("endpoint", "peer"),
    [
        (
            "etcd-a-0.etcd-a.kamaji-system.svc:2379",
            {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kamaji-system"}}},
        ),
        (
            "etcd-a.stores.svc.cluster.local:2379",
            {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "stores"}}},
        ),
        ("10.0.0.7:2379", {"ipBlock": {"cidr": "10.0.0.7/32"}}),
        (
            "etcd.cloud.example:2379",
            {"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.1.0.0/16", "10.4.0.0/22", "10.64.0.0/10"]}},
        ),
        (
            "svc.cloud.example:2379",
            {"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.1.0.0/16", "10.4.0.0/22", "10.64.0.0/10"]}},
        ),
    ],
)
def test_the_peer_of_a_data_store_follows_from_its_address(laptop: Environment, endpoint: str, peer: Any) -> None:
    assert serving(endpoint, laptop.region.networks) == peer
