"""Environment eu-south-03a, in which pods of the first tenant share the RoCE ports of their nodes."""

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
    """Return the region with RoCE ports that pods with the host network share."""
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
