"""Reachability of pods in teams' namespaces by the rendered objects, with an independent evaluator."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.inputs.cluster_namespaces import of_cluster
from components.lookups.pools import clusters
from components.render.control_planes.cluster_namespaces import ClusterNamespacesInput, TeamNamespace
from components.render.control_planes.control_plane import API_PORT
from components.render.network.packets import ALL
from components.render.objects import namespace
from components.reports.network.endpoints import endpoint
from components.reports.network.path_namespaces import NamespacePolicies
from components.specs.control_planes.cluster_namespaces import NamespaceSpec
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.storage.buckets import BucketSpec
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.network.network_policies import End, Pod, PolicyModel

NAMES = ("ant", "bee", "cat")
BESIDE = ("kube-system", "by-hand", "watch")
"""Namespaces without a policy: Kubernetes' own, a manually created one, and that of the monitoring."""
API, SERVICE = IPv4Address("10.9.0.7"), IPv4Address("10.3.0.1")
OUTSIDE = IPv4Address("192.0.2.10")
NODE, POD = IPv4Address("10.1.0.5"), IPv4Address("10.2.0.5")
ACME = IPv4Address("10.64.3.7")
"""Address of a pod of another VPC."""
HIDDEN = IPv4Address("10.8.0.9")
INSIDE = tuple(map(IPv4Network, ("10.1.0.0/24", "10.2.0.0/16", "10.3.0.0/20")))


@st.composite
def teams(draw: st.DrawFn) -> tuple[NamespaceSpec, ...]:
    drawn: list[dict[str, Any]] = []
    for name in NAMES:
        one: dict[str, Any] = {"name": name, "isolation": draw(st.sampled_from(("default-deny", "none")))}
        if one["isolation"] != "none":
            others = [other for other in (*NAMES, "kube-system") if other != name]
            one["admits"] = draw(st.lists(st.sampled_from(others), unique=True))
            one |= {key: draw(st.sampled_from(("public", "none"))) for key in ("ingress", "egress")}
        drawn.append(one)
    return tuple(map(NamespaceSpec.model_validate, drawn))


def judge(specs: tuple[NamespaceSpec, ...], *, by_address: bool) -> PolicyModel:
    made = ClusterNamespacesInput(
        name="one",
        cluster="one",
        namespaces=tuple(TeamNamespace(spec=spec) for spec in specs),
        api=API,
        service=SERVICE,
        inside=INSIDE,
        hidden=(IPv4Network("10.8.0.0/16"), IPv4Network("10.9.0.0/24")),
        watchers=("watch",),
    )
    items = (*made.render(), *map(namespace, BESIDE))
    return PolicyModel((item.body for item in items), pods_by_address=by_address)


def wanted(specs: tuple[NamespaceSpec, ...], source: str, target: str) -> bool:
    """Return whether the data permit pods of one namespace to reach those of another; both ends must permit it."""
    closed = {spec.name: spec for spec in specs if spec.isolation == "default-deny"}
    if source == target:
        return True
    consent = {name for name, spec in closed.items() if source in (*spec.admits, "watch")}
    lets_in = target not in closed or target in consent
    # A namespace without a policy accepts all connections; a closed one may only open those to namespaces that name it.
    lets_out = source not in closed or (target in consent)
    return lets_in and lets_out


def pairs() -> Iterator[tuple[str, str]]:
    everybody = (*NAMES, *BESIDE)
    return ((one, other) for one, other in product(everybody, everybody) if {one, other} & {*NAMES})


@given(teams())
@settings(max_examples=200)
def test_a_namespace_is_reached_only_from_admitted_namespaces(specs: tuple[NamespaceSpec, ...]) -> None:
    rendered = judge(specs, by_address=False)

    allowed = {(one, other): rendered.reaches(Pod(namespace=one), Pod(namespace=other), 8080) for one, other in pairs()}
    assert allowed == {(one, other): wanted(specs, one, other) for one, other in pairs()}


@pytest.mark.parametrize("by_address", [True, False])
@given(specs=teams())
@settings(max_examples=200)
def test_external_addresses_are_reached_as_declared_and_nodes_never(
    *, specs: tuple[NamespaceSpec, ...], by_address: bool
) -> None:
    rendered = judge(specs, by_address=by_address)
    for spec in specs:
        own, closed = Pod(namespace=spec.name), spec.isolation == "default-deny"
        out = not closed or spec.egress == "public"
        ends: dict[End, bool] = {OUTSIDE: out, NODE: not closed, POD: not closed, HIDDEN: not closed}
        assert {end: rendered.reaches(own, end, 443) for end in ends} == ends
        assert rendered.reaches(OUTSIDE, own, 443) == (not closed or spec.ingress == "public")
        assert rendered.reaches(own, API, 6443)
        assert rendered.reaches(own, SERVICE, 443)
        assert rendered.reaches(own, API, 22) == (not closed)


LAPTOP = load_environment("laptop", ENVIRONMENTS)


KEYS = {"cluster": "globex-lab", "namespaces": [NAMES[0]]}
BUCKET = BucketSpec.model_validate({"name": "runs", "store": "objects", "quota": "1Ti", "access": [KEYS]})


def lab(specs: tuple[NamespaceSpec, ...]) -> Environment:
    """Return environment laptop with other namespaces in its cluster globex-lab, the first of which has keys."""
    [tenant] = [one for one in LAPTOP.tenants if one.tenant == "globex"]
    cluster = tenant.clusters[0].model_copy(update={"namespaces": specs})
    others = tuple(one for one in LAPTOP.tenants if one != tenant)
    changed = tenant.model_copy(update={"clusters": (cluster,), "buckets": (BUCKET,)})
    return LAPTOP.model_copy(update={"tenants": (*others, changed)})


@given(teams())
@settings(max_examples=50)
def test_reported_paths_of_namespaces_match_the_policies(specs: tuple[NamespaceSpec, ...]) -> None:
    environment = lab(specs)
    [placed] = [one for one in clusters(environment) if one.cluster.name == "globex-lab"]
    [made] = of_cluster(environment, placed)
    rendered = PolicyModel((item.body for item in made.render()), pods_by_address=False)
    plan = environment.region.networks
    ends: dict[str, End] = {f"pod:globex-lab/{name}": Pod(namespace=name) for name in NAMES}
    ends |= {"api:globex-lab": made.api, "internet": OUTSIDE, "host:globex-lab/lab": made.inside[0][5]}
    ends |= {"management": plan.management[5], "storage": plan.storage[5], "pod:acme-train": ACME}

    for one, other in product(ends, ends):
        if one == other or not (isinstance(ends[one], Pod) or isinstance(ends[other], Pod)):
            continue
        source, target, walls = endpoint(environment, one), endpoint(environment, other), NamespacePolicies(environment)
        allowed = (*walls.leaves(source, target, ALL), *walls.enters(source, target))
        port = API_PORT if other == "api:globex-lab" else 443
        assert all(step.passes for step in allowed) == rendered.reaches(ends[one], ends[other], port), (one, other)


@pytest.mark.parametrize("protocol", ["UDP", "TCP"])
def test_a_namespace_reaches_only_the_name_server_of_its_cluster(protocol: str) -> None:
    rendered = judge((NamespaceSpec(name="ant"),), by_address=False)
    own, server = Pod(namespace="ant"), Pod(namespace="kube-system", labels={"k8s-app": "kube-dns"})

    assert rendered.reaches(own, server, 53, protocol)
    assert not rendered.reaches(own, server, 9153, protocol)
    assert not rendered.reaches(own, Pod(namespace="kube-system"), 53, protocol)
