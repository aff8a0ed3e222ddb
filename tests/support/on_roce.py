"""Environment eu-south-03a, whose first tenant's pods share the ports of nodes on RoCE."""

from __future__ import annotations

from components.render.network.device_plugins import IMAGES
from components.specs.environment import Environment
from components.specs.hosts.instance_types import PortUse, RdmaSpec
from components.specs.reading.loader import load_environment
from components.specs.region.versions import Tool
from jacquard.machine import paths

NAME = IMAGES[PortUse.SHARED]
_PLUGIN = Tool(name=NAME, image=f"registry.cloud.example/{NAME}", digest=f"sha256:{'5' * 64}")


def sharing_roce() -> Environment:
    """Return the region with ports on RoCE that pods on the network of a node share."""
    environment = load_environment("eu-south-03a", paths.ROOT / "environments")
    catalog, shared = environment.instance_types, RdmaSpec(ports=PortUse.SHARED)
    kinds = tuple(
        kind.model_copy(update={"rdma": shared if kind.roce_ports else kind.rdma}) for kind in catalog.instance_types
    )
    versions = environment.versions
    return environment.model_copy(
        update={
            "instance_types": catalog.model_copy(update={"instance_types": kinds}),
            "versions": versions.model_copy(update={"tools": (*versions.tools, _PLUGIN)}),
        }
    )
