"""Isolation between namespaces of the management cluster, by an independent evaluator of network policies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from ipaddress import IPv4Address
from itertools import permutations
from typing import Any

import pytest

from components.inputs.manifests import manifests
from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.manifest import MANAGEMENT, objects
from components.render.network.network_peers import namespace_of
from components.render.objects import namespace
from components.render.region.dns import PODS
from components.render.region.isolation import IsolationInput
from components.render.region.operator_places import PLACES
from components.specs.control_planes.cluster_namespaces import PodSecurity
from tests.support.data.environment_data import REFERENCES, STARTER, reference
from tests.support.docs.documents import DOCS, text
from tests.support.network.network_policies import End, Pod, PolicyModel

NAMES = REFERENCES
JOB = {"batch.kubernetes.io/job-name": "resume-rollouts-1"}
OUTSIDE = IPv4Address("192.0.2.10")
BESIDE = "kube-system"
"""A namespace that exists before ours."""
PORTS = {
    "API server": 6443,
    "konnectivity": 8132,
    "etcd": 2379,
    "Redfish": 443,
    "Ironic": 6385,
    "images of Ironic": 6180,
    "DNS": 53,
    "metrics": 10257,
}


@cache
def bodies(environment: str) -> tuple[Any, ...]:
    loaded = reference(environment)
    first, *_ = slices(loaded)
    return tuple(item.body for item in objects(manifests(loaded, first)))


def of(environment: str, kind: str) -> list[Any]:
    return [body for body in bodies(environment) if body["kind"] == kind]


def judge(environment: str, *, pods_by_address: bool) -> PolicyModel:
    return PolicyModel((*bodies(environment), namespace(BESIDE).body), pods_by_address=pods_by_address)


def control_planes(environment: str) -> dict[str, str]:
    """Return the tenant of each namespace of a control plane."""
    labels = {body["metadata"]["name"]: body["metadata"]["labels"] for body in of(environment, "Namespace")}
    return {name: own["jacquard.dev/tenant"] for name, own in labels.items() if "jacquard.dev/cluster" in own}


def shared_stores(environment: str) -> list[str]:
    """Return the endpoints of the data stores that control planes share."""
    loaded = reference(environment)
    [walls] = (one for one in inputs(loaded, slices(loaded)[0]) if isinstance(one, IsolationInput))
    return list(walls.stores)


def inside(environment: str, network: str) -> IPv4Address:
    return getattr(reference(environment).region.networks, network)[9]


@pytest.mark.parametrize("name", NAMES)
def test_no_control_plane_reaches_another_nor_is_reached_by_it(name: str) -> None:
    worst = judge(name, pods_by_address=True)
    pods = [Pod(namespace=cluster, labels=labels) for cluster in control_planes(name) for labels in ({}, JOB)]

    reached = [
        (source, target, port)
        for source, target in permutations(pods, 2)
        for port in PORTS.values()
        if source.namespace != target.namespace and worst.reaches(source, target, port)
    ]

    vips = {cluster: lock.vip for cluster, lock in reference(name).allocations.clusters.items()}
    assert {
        (source.namespace, cluster)
        for source in pods
        for cluster, vip in vips.items()
        if any(worst.reaches(source, vip, port) for port in PORTS.values())
    } == {(cluster, cluster) for cluster in vips}
    # An identity provider, or a bucket, may be any external address at its port, and no control plane serves that port.
    assert {port for *_, port in reached} <= {443}
    assert all(not PolicyModel(bodies(name), pods_by_address=False).reaches(*one) for one in reached)


@pytest.mark.parametrize("name", NAMES)
def test_no_control_plane_reaches_controllers_of_hardware(name: str) -> None:
    worst = judge(name, pods_by_address=True)
    operators = [Pod(namespace=one) for one in {body["metadata"]["namespace"] for body in of(name, "NetworkPolicy")}]
    hidden = [one for one in operators if one.namespace not in control_planes(name)]
    hardware: list[End] = [inside(name, network) for network in ("bmc", "management", "dpu_loopbacks", "tenants")]

    for cluster in control_planes(name):
        for labels in ({}, JOB):
            source = Pod(namespace=cluster, labels=labels)
            to_hardware = {
                (end, port) for end in hardware for port in PORTS.values() if worst.reaches(source, end, port)
            }
            # The management cluster's own API, for Jobs only.
            assert to_hardware == ({(inside(name, "management"), 6443)} if labels else set())
            reached = {
                (one.namespace, port) for one in hidden for port in PORTS.values() if worst.reaches(source, one, port)
            }
            assert reached <= {(namespace_of(one), 2379) for one in shared_stores(name)}


def test_ovns_databases_are_reached_by_dpus_on_the_network_of_their_bmcs_and_by_no_vpc() -> None:
    worst, databases = judge("laptop", pods_by_address=True), Pod(namespace="dpf-operator-system")

    for port in (6641, 6642):
        assert worst.reaches(inside("laptop", "bmc"), databases, port)
        for end in (OUTSIDE, *(inside("laptop", network) for network in ("tenants", "ovn", "storage"))):
            assert not worst.reaches(end, databases, port)


@pytest.mark.parametrize("name", NAMES)
def test_control_planes_have_their_required_connections(name: str) -> None:
    strict = judge(name, pods_by_address=False)
    environment, stores = reference(name), shared_stores(name)
    asking = {cluster.name for tenant in environment.tenants for cluster in tenant.clusters if cluster.oidc is not None}
    for cluster in control_planes(name):
        own = Pod(namespace=cluster)
        assert all(strict.reaches(own, own, port) for port in PORTS.values())
        assert strict.reaches(own, Pod(namespace=BESIDE), 53, "UDP")
        assert all(strict.reaches(own, Pod(namespace=str(namespace_of(one))), 2379) for one in stores)
        assert strict.reaches(own, OUTSIDE, 443) is (cluster in asking)
        assert all(strict.reaches(end, own, 6443) for end in (OUTSIDE, inside(name, "tenants"), Pod(namespace=BESIDE)))
        assert strict.reaches(Pod(namespace="monitoring"), own, 10257)
        assert not strict.reaches(Pod(namespace=BESIDE), own, 10257)
        assert not strict.reaches(OUTSIDE, own, 2379)
    assert asking or name in {"lab", STARTER}


def test_pods_next_to_a_control_plane_reach_their_required_peers() -> None:
    environment = reference("us-east-04a")
    strict, worst = judge("us-east-04a", pods_by_address=False), judge("us-east-04a", pods_by_address=True)
    deployed = [
        item.body
        for part in slices(environment)
        for item in objects(manifests(environment, part))
        if item.kind == "Deployment" and item.cluster == MANAGEMENT
    ]
    quotas = {body["metadata"]["namespace"]: body["spec"]["hard"] for body in of("us-east-04a", "ResourceQuota")}
    ufm, vip = inside("us-east-04a", "management"), environment.allocations.clusters

    assert deployed
    for body in deployed:
        cluster = body["metadata"]["namespace"]
        pod = Pod(namespace=cluster, labels=body["spec"]["template"]["metadata"]["labels"])
        assert strict.reaches(pod, ufm, 443)
        assert strict.reaches(pod, vip[cluster].vip, 6443)
        hidden = [inside("us-east-04a", network) for network in ("bmc", "tenants")]
        assert not any(worst.reaches(pod, end, 443) for end in hidden)
        assert not any(worst.reaches(pod, ufm, port) for port in (6385, 6180, 6443))
        assert "requests.cpu" in quotas[cluster]


def test_only_external_dns_reaches_the_name_server() -> None:
    environment = reference("laptop")
    strict, worst = judge("laptop", pods_by_address=False), judge("laptop", pods_by_address=True)
    assert environment.region.dns is not None
    server, vips = environment.region.dns.server, environment.allocations.clusters
    writer, beside, nameless = (
        Pod(namespace=cluster, labels=labels)
        for cluster, labels in (("acme-train", PODS), ("acme-train", {}), ("globex-lab", PODS))
    )

    assert strict.reaches(writer, server, 53)
    assert strict.reaches(writer, vips["acme-train"].vip, 6443)
    assert not worst.reaches(beside, server, 53)
    assert not worst.reaches(nameless, server, 53)
    assert {port for port in PORTS.values() if worst.reaches(writer, inside("laptop", "management"), port)} == set()
    assert strict.reaches(Pod(namespace="external-dns"), server, 53)


@pytest.mark.parametrize("name", NAMES)
def test_webhooks_are_reachable_and_only_hardware_controllers_reach_bmcs(name: str) -> None:
    strict, worst = judge(name, pods_by_address=False), judge(name, pods_by_address=True)
    host, bmc = inside(name, "management"), inside(name, "bmc")
    running = [
        body["metadata"]["name"]
        for body in of(name, "Namespace")
        if body["metadata"]["name"] in PLACES or body["metadata"]["name"].startswith("baremetal-operator-")
    ]

    assert all(strict.reaches(host, Pod(namespace=one), 9443) for one in running)
    assert all(strict.reaches(Pod(namespace=one), host, 6443) for one in running)
    assert all(
        strict.reaches(Pod(namespace=one), Pod(namespace="monitoring"), 9443) is (one == "monitoring")
        for one in running
    )
    assert {one for one in running if worst.reaches(Pod(namespace=one), bmc, 443)} <= {
        "dpf-operator-system",
        "ironcore-metal-system",
    }


@pytest.mark.parametrize("name", NAMES)
def test_namespaces_without_pods_permit_no_pods_and_no_traffic(name: str) -> None:
    worst = judge(name, pods_by_address=True)
    empty = {
        body["metadata"]["namespace"] for body in of(name, "ResourceQuota") if body["spec"]["hard"] == {"pods": "0"}
    }
    tenants = set(control_planes(name).values())

    assert empty == {"operators", "inventory", *(f"tenant-{tenant}" for tenant in tenants)}
    for one in empty:
        assert not any(worst.reaches(Pod(namespace=one), end, 443) for end in (OUTSIDE, Pod(namespace=BESIDE)))
        assert not worst.reaches(Pod(namespace=BESIDE), Pod(namespace=one), 443)


@pytest.mark.parametrize("name", NAMES)
def test_every_namespace_has_a_wall_and_a_level(name: str) -> None:
    walled = {body["metadata"]["namespace"] for body in of(name, "NetworkPolicy") if not body["spec"]["podSelector"]}
    levels = {
        body["metadata"]["name"]: body["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
        for body in of(name, "Namespace")
    }

    assert walled == set(levels)
    assert set(levels.values()) <= {level.value for level in PodSecurity}
    assert {levels[cluster] for cluster in control_planes(name)} == {"baseline"}


def rows() -> Iterator[str]:
    """Yield source and target of all permitted connections in laptop, without pods matched by address."""
    name, tenant, other = "laptop", "acme-train", "globex-lab"
    strict = judge(name, pods_by_address=False)
    sources: dict[str, End] = {
        "API servers of a tenant": Pod(namespace=tenant),
        "Jobs of its control plane": Pod(namespace=tenant, labels=JOB),
        "operators": Pod(namespace="capi-system"),
        "Kamaji": Pod(namespace="kamaji-system"),
        "DPF": Pod(namespace="dpf-operator-system"),
        "monitoring": Pod(namespace="monitoring"),
        "hosts of the management cluster": inside(name, "management"),
        "BMCs": inside(name, "bmc"),
        "nodes of tenants": inside(name, "tenants"),
        "outside": OUTSIDE,
    }
    targets: dict[str, tuple[End, int]] = {
        "its API": (Pod(namespace=tenant), 6443),
        "its etcd": (Pod(namespace=tenant), 2379),
        "another's API": (Pod(namespace=other), 6443),
        "another's etcd": (Pod(namespace=other), 2379),
        "shared etcds": (Pod(namespace=str(namespace_of(shared_stores(name)[0]))), 2379),
        "operators": (Pod(namespace="capi-system"), 9443),
        "management API": (inside(name, "management"), 6443),
        "Ironic": (inside(name, "management"), 6385),
        "BMCs": (inside(name, "bmc"), 443),
        "outside": (OUTSIDE, 443),
    }
    yield f"| from \\ to | {' | '.join(targets)} |"
    yield f"|---|{'---|' * len(targets)}"
    for who, source in sources.items():
        answers = [
            "-"
            if not isinstance(source, Pod) and not isinstance(end, Pod)
            else "yes"
            if strict.reaches(source, end, port)
            else "no"
            for end, port in targets.values()
        ]
        yield f"| {who} | {' | '.join(answers)} |"


def test_the_page_shows_permitted_connections() -> None:
    page = re.sub(r"[*]", "", text(DOCS / "region/isolation.md"))

    assert "\n".join(rows()) in page
