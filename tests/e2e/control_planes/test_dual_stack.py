"""A cluster with IPv6 in Kubernetes: API server and controller manager with the rendered ranges.

The flags are those that k0s derives from its configuration (k0sproject/k0s:pkg/component/controller).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.manifest import Manifest
from components.specs.reading.loader import load_environment
from jacquard.providers.kube import ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.machine.scaled_timeout import ScaledTimeout

pytestmark = pytest.mark.e2e

BY_CILIUM, BY_KUBE_OVN = "solstice-lab", "vireo-dev"
_SETTLED_SECONDS = 60.0


@pytest.fixture(scope="module")
def rendered() -> list[Manifest]:
    return [item for item in everything(load_environment("eu-south-03a", ENVIRONMENTS)) if isinstance(item, Manifest)]


def _spec(rendered: list[Manifest], kind: str, name: str) -> dict[str, Any]:
    [found] = [item.body["spec"] for item in rendered if (item.kind, item.name) == (kind, name)]
    return dict(found)


def _blocks(rendered: list[Manifest], cluster: str) -> dict[str, list[str]]:
    network = _spec(rendered, "Cluster", cluster)["clusterNetwork"]
    return {kind: network[kind]["cidrBlocks"] for kind in ("pods", "services")}


@pytest.fixture(scope="module", params=[BY_CILIUM, BY_KUBE_OVN])
def cluster(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def blocks(rendered: list[Manifest], cluster: str) -> dict[str, list[str]]:
    return _blocks(rendered, cluster)


@pytest.fixture(scope="module")
def server(
    rendered: list[Manifest], cluster: str, blocks: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LocalApiServer]:
    k0s = _spec(rendered, "K0smotronControlPlane", cluster)["k0sConfig"]["spec"]
    lengths = {"node-cidr-mask-size-ipv4": "24", **k0s["controllerManager"]["extraArgs"]}
    services = f"--service-cluster-ip-range={','.join(blocks['services'])}"
    running = LocalApiServer(
        tmp_path_factory.mktemp("dual-stack") / "server",
        kinds=(),
        controllers=("node-ipam-controller",),
        flags={
            "kube-apiserver": (services,),
            "kube-controller-manager": (
                services,
                "--allocate-node-cidrs",
                f"--cluster-cidr={','.join(blocks['pods'])}",
                *(f"--{name}={value}" for name, value in lengths.items()),
            ),
        },
    )
    yield running
    running.stop()


def _created(server: LocalApiServer, body: dict[str, Any]) -> dict[str, Any]:
    server.api.apply(body, field_manager="test")
    about = body["metadata"]
    found = server.api.get(ObjectRef(body["apiVersion"], body["kind"], about["name"], about.get("namespace")))
    assert found is not None
    return found


@pytest.mark.parametrize(("policy", "families"), [("PreferDualStack", 2), ("SingleStack", 1)])
def test_a_service_has_an_address_of_each_requested_family_ipv4_first(
    server: LocalApiServer, blocks: dict[str, list[str]], policy: str, families: int
) -> None:
    spec = {"ipFamilyPolicy": policy, "ports": [{"port": 80}], "selector": {"app": "web"}}
    about = {"name": policy.lower(), "namespace": "default"}

    made = _created(server, {"apiVersion": "v1", "kind": "Service", "metadata": about, "spec": spec})

    given = [ip_address(one) for one in made["spec"]["clusterIPs"]]
    assert [one.version for one in given] == [4, 6][:families]
    ranges = [ip_network(one) for one in blocks["services"]]
    assert all(one in within for one, within in zip(given, ranges[:families], strict=True))


def test_a_node_has_a_part_of_each_prefix_for_pods(server: LocalApiServer, blocks: dict[str, list[str]]) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "first"}}
    patience, found = ScaledTimeout(_SETTLED_SECONDS), _created(server, node)

    while "podCIDRs" not in found.get("spec", {}):
        assert not patience.is_over(), f"no part of a prefix was given; see {server.folder}"
        time.sleep(0.2)
        found = server.api.get(ObjectRef("v1", "Node", "first")) or {}

    parts = [ip_network(one) for one in found["spec"]["podCIDRs"]]
    assert [one.prefixlen for one in parts] == [24, 64]
    prefixes = [ip_network(one) for one in blocks["pods"]]
    assert all(one[0] in within for one, within in zip(parts, prefixes, strict=True))


def test_the_api_server_accepts_a_policy_with_blocks_of_both_families(
    server: LocalApiServer, rendered: list[Manifest]
) -> None:
    blocks = _blocks(rendered, BY_CILIUM)
    spec = _spec([item for item in rendered if item.cluster == BY_CILIUM], "NetworkPolicy", "solstice")
    about = {"name": "solstice", "namespace": "default"}

    made = _created(
        server, {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": about, "spec": spec}
    )

    [rule] = made["spec"]["ingress"]
    assert {blocks["pods"][1], blocks["services"][1]} <= {peer["ipBlock"]["cidr"] for peer in rule["from"]}
