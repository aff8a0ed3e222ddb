"""Environment laptop with an InfiniBand fabric, in which the VPC of its first tenant has a partition."""

from __future__ import annotations

from components.allocate.allocation import allocate
from components.render.network.device_plugins import IMAGES
from components.specs.environment import Environment
from components.specs.hosts.instance_types import RdmaSpec
from components.specs.network.fabrics import FabricSpec
from components.specs.region.versions import Tool

FABRIC = FabricSpec.model_validate(
    {
        "name": "ib-north",
        "kind": "infiniband",
        "pkeys": "0x10-0x20",
        "guids": "0x0200000000000000-0x020000000000ffff",
        "ufm_secret": "ufm-north",
        "max_hosts": 64,
    },
    strict=False,
)
_PLUGINS = tuple(
    Tool(name=name, image=f"registry.cloud.example/{name}", digest=f"sha256:{'5' * 64}") for name in IMAGES.values()
)


def on_infiniband(environment: Environment, rdma: RdmaSpec | None = None) -> Environment:
    """Return ``environment`` with a fabric, whose ports pods get according to ``rdma``."""
    first, *others = environment.tenants
    first = first.model_copy(
        update={"vpcs": tuple(vpc.model_copy(update={"fabrics": (FABRIC.name,)}) for vpc in first.vpcs)}
    )
    spec = environment.region.model_copy(update={"fabrics": (FABRIC,)})
    catalog = environment.instance_types
    kinds = tuple(
        kind.model_copy(update={"rdma": rdma if kind.infiniband_ports else None}) for kind in catalog.instance_types
    )
    changed = environment.model_copy(
        update={
            "region": spec,
            "tenants": (first, *others),
            "instance_types": catalog.model_copy(update={"instance_types": kinds}),
            "versions": environment.versions.model_copy(update={"tools": (*environment.versions.tools, *_PLUGINS)}),
        }
    )
    return changed.model_copy(update={"allocations": allocate(changed)[0]})
