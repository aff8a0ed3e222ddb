"""The small region with a RoCE fabric of 4 rails, whose pods get 4 virtual functions of each of 4 ports."""

from __future__ import annotations

from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.network.rails import Rails
from components.render.network.tenant_network import TenantNetworkInput
from components.specs.base import Network
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType, RdmaSpec
from components.specs.network.fabrics import FabricSpec
from components.specs.reading.loader import load_environment
from components.specs.region.versions import Tool
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.data.small_region import NODE_TYPE, changed, small_region

RANGE = Network("10.200.0.0/16")


CLUSTER = "wisent-train"
"""Cluster of eu-south-03a whose pods have rails."""


def rails_of_reference() -> Rails:
    """Return the rails of `CLUSTER`."""
    region = load_environment("eu-south-03a", ENVIRONMENTS)
    every = (item for part in slices(region) for item in inputs(region, part))
    [found] = [one for one in every if isinstance(one, TenantNetworkInput) and one.cluster == CLUSTER]
    assert found.rails is not None
    return found.rails


def with_rails(prefixes: Network = RANGE) -> Environment:
    """Return the small region with a RoCE fabric of 4 rails, and 4 virtual functions of each of 4 ports in pods."""
    region = small_region()
    fabric = FabricSpec.model_validate(
        {
            "name": "roce",
            "kind": "ethernet",
            "vnis": "1-99",
            "roce": {"mtu_bytes": 9000, "priority": 3, "dscp": 26, "cnp_dscp": 48},
            "rails": 4,
            "rail_prefixes": str(prefixes),
            "max_hosts": 100,
        }
    )
    multus = Tool(name="multus-cni", image="registry.example/multus", digest=f"sha256:{'5' * 64}")
    kinds = (_cut(kind) if kind.name == NODE_TYPE else kind for kind in region.instance_types.instance_types)
    images = (changed(one, contents=changed(one.contents, roce=fabric.roce)) for one in region.images.images)
    return changed(
        region,
        region=changed(region.region, fabrics=(fabric,)),
        instance_types=changed(region.instance_types, instance_types=tuple(kinds)),
        images=changed(region.images, images=tuple(images)),
        versions=changed(region.versions, tools=(*region.versions.tools, multus)),
    )


def _cut(kind: InstanceType) -> InstanceType:
    ports = {"infiniband_ports": 0, "roce_ports": 4, "roce_interfaces": ("p0", "p1", "p2", "p3"), "rdma": RdmaSpec()}
    return changed(kind, **ports, dpu=changed(kind.dpu, virtual_functions=4))


def prefixes(region: Environment) -> dict[str, str]:
    """Return the rail prefix of each cluster, by name."""
    return {name: str(one.rail_prefixes["roce"]) for name, one in region.allocations.clusters.items()}
