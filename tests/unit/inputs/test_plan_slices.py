"""Slices and their inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from components.inputs.manifests import manifests
from components.inputs.slice_inputs import inputs
from components.lookups.slices import SliceKind, needs, slices
from components.render.manifest import Manifest, objects
from components.specs.environment import Environment
from tests.support.data.environment_data import REFERENCES, reference


@pytest.fixture(scope="module")
def laptop() -> Environment:
    """Return environment laptop."""
    return reference("laptop")


def test_slices_are_ordered_by_application(laptop: Environment) -> None:
    assert [(part.kind, part.subject) for part in slices(laptop)] == [
        (SliceKind.FOUNDATION, ""),
        (SliceKind.INVENTORY, "a"),
        (SliceKind.TENANT, "acme"),
        (SliceKind.TENANT, "globex"),
        (SliceKind.CLUSTER, "acme-train"),
        (SliceKind.CLUSTER, "globex-lab"),
    ]


def test_a_slice_depends_on_its_namespaces_claimed_hosts_and_api() -> None:
    east = reference("us-east-04a")
    found = needs(east)

    assert list(found) == [part.name for part in slices(east)]
    assert found["foundation"] == ()
    assert found["inventory-b"] == ("foundation",)
    for tenant in east.tenants:
        clusters = {cluster.name for cluster in tenant.clusters}
        pools = east.allocations.hosts
        halls = {host.hall for host in east.hosts if pools.get(host.host, "").partition("/")[0] in clusters}
        assert found[f"tenant-{tenant.tenant}"] == ("foundation", *(f"inventory-{hall}" for hall in sorted(halls)))
        for cluster in clusters:
            assert found[f"cluster-{cluster}"] == (f"tenant-{tenant.tenant}",)


@pytest.mark.parametrize("name", REFERENCES)
def test_no_object_refers_to_one_of_a_slice_that_its_own_does_not_need(name: str) -> None:
    environment = reference(name)
    rendered = {part.name: tuple(objects(manifests(environment, part))) for part in slices(environment)}
    makers: dict[tuple[str, str], list[tuple[Manifest, str]]] = {}
    for part, items in rendered.items():
        for item in items:
            makers.setdefault((item.cluster, item.name), []).append((item, part))

    wanted = {
        (part, maker)
        for part, items in rendered.items()
        for item in items
        for kind, namespace, name in references(item)
        for found, maker in makers.get((item.cluster, name), ())
        if kind in (None, found.kind) and found.namespace in (None, namespace) and maker != part
    }

    needed = needs(environment)
    assert {maker for _, maker in wanted} >= {"foundation"}
    assert [(part, maker) for part, maker in wanted if maker not in closure(needed, part)] == []


def references(item: Manifest) -> Iterator[tuple[str | None, str | None, str]]:
    """Yield kind, namespace and name of every object that an object references, including its namespace."""
    if item.namespace:
        yield "Namespace", None, item.namespace
    stack: list[Any] = [value for key, value in item.body.items() if key != "metadata"]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack += value.values()
            if isinstance(value.get("name"), str):
                yield value.get("kind"), value.get("namespace", item.namespace), value["name"]
        elif isinstance(value, list):
            stack += value


def closure(needed: dict[str, tuple[str, ...]], part: str) -> set[str]:
    """Return all slices on which a slice depends, directly or indirectly."""
    return {*needed[part], *(further for one in needed[part] for further in closure(needed, one))}


def test_a_tenant_gets_its_network_before_control_planes_and_those_before_pools(laptop: Environment) -> None:
    [acme] = (part for part in slices(laptop) if part.name == "tenant-acme")

    assert [(type(item).__name__, item.name) for item in inputs(laptop, acme)] == [
        ("TenantNetworkInput", "acme"),
        ("HostedControlPlaneInput", "acme-train"),
        ("NodePoolInput", "acme-train-system"),
        ("NodePoolInput", "acme-train-train"),
        ("NodePoolInput", "acme-train-infer"),
    ]


def test_every_host_of_a_group_can_be_claimed_by_its_machines(laptop: Environment) -> None:
    rendered = [item for part in slices(laptop) for item in objects(manifests(laptop, part))]
    hosts = [item for item in rendered if item.kind == "BareMetalHost"]

    for deployment in (item for item in rendered if item.kind == "MachineDeployment"):
        template = deployment.body["spec"]["template"]["spec"]["infrastructureRef"]["name"]
        [machine] = (item for item in rendered if item.kind == "Metal3MachineTemplate" and item.name == template)
        wanted = machine.body["spec"]["template"]["spec"]["hostSelector"]["matchLabels"]
        matching = [
            host
            for host in hosts
            if host.namespace == deployment.namespace and wanted.items() <= host.body["metadata"]["labels"].items()
        ]
        assert len(matching) >= deployment.body["spec"]["replicas"]
