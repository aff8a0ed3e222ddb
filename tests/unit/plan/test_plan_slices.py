"""Slices and their inputs."""

from __future__ import annotations

import pytest

from components.plan.build.inputs import inputs
from components.plan.build.manifests import manifests
from components.plan.build.slices import SliceKind, slices
from components.render.manifest import objects
from components.specs.environment import Environment
from components.specs.loader import load_environment
from toolchain import paths


@pytest.fixture(scope="module")
def laptop() -> Environment:
    """Return environment laptop."""
    return load_environment("laptop", paths.ROOT / "environments")


def test_slices_come_in_the_order_they_are_applied(laptop: Environment) -> None:
    assert [(part.kind, part.subject) for part in slices(laptop)] == [
        (SliceKind.FOUNDATION, ""),
        (SliceKind.INVENTORY, "a"),
        (SliceKind.TENANT, "acme"),
        (SliceKind.TENANT, "globex"),
        (SliceKind.CLUSTER, "acme-train"),
        (SliceKind.CLUSTER, "globex-lab"),
    ]


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
