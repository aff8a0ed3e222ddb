"""A region in memory with nodes and whole racks, a fabric, three controllers, few VNIs, and tenants to allocate."""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import Any, TypeVar

from components.allocate.allocation import allocate
from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BootMethod, ControllerSpec
from components.specs.hosts.instance_types import Scale
from components.specs.hosts.inventory import HostSpec
from components.specs.hosts.out_of_service import HostState, OutOfServiceSpec
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.network.fabrics import FabricSpec
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.reading.loader import load_environment
from components.specs.region.tenant import ContractSpec, TenantSpec
from tests.support.data.environment_data import ENVIRONMENTS

_Spec = TypeVar("_Spec", bound=Spec)
NODE_TYPE, RACK_TYPE = "h100-ib-8", "nvl"
HOSTS_PER_RACK = 4
VNIS = 3
_IB = {
    "name": "ib",
    "kind": "infiniband",
    "pkeys": "0x10-0x17",
    "guids": "0x0000000000001000-0x0000000000009fff",
    "ufm_secret": "ufm",
    "max_hosts": 1000,
}


@cache
def _laptop() -> Environment:
    return load_environment("laptop", ENVIRONMENTS)


@cache
def small_region() -> Environment:
    """Return the region without allocations: 4 racks of nodes and 3 whole racks, in halls a and b."""
    laptop = _laptop()
    region, networks = laptop.region, laptop.region.networks
    kinds = laptop.instance_types.instance_types
    rack_scale = kinds[0].model_copy(update={"name": RACK_TYPE, "scale": Scale.RACK, "nodes_per_rack": HOSTS_PER_RACK})
    images = tuple(
        image.model_copy(update={"fits": (*image.fits, RACK_TYPE)} if NODE_TYPE in image.fits else {})
        for image in laptop.images.images
    )
    controllers = tuple(
        ControllerSpec(name=name, boot=BootMethod.VIRTUAL_MEDIA, max_hosts=size)
        for name, size in (("m-1", 20), ("m-2", 20), ("rest", 28))
    )
    changed_region = {
        "sites": (region.sites[0].model_copy(update={"halls": ("a", "b")}),),
        "networks": networks.model_copy(
            update={"vni": networks.vni.model_copy(update={"last": networks.vni.first + VNIS - 1})}
        ),
        "fabrics": (FabricSpec.model_validate(_IB),),
        "bare_metal": region.bare_metal.model_copy(update={"controllers": controllers, "free_hosts": "rest"}),
    }
    return changed(
        laptop,
        region=region.model_copy(update=changed_region),
        instance_types=laptop.instance_types.model_copy(update={"instance_types": (*kinds, rack_scale)}),
        images=laptop.images.model_copy(update={"images": images}),
        tenants=(),
        hosts=tuple(host for name in ("a1", "a2", "a10", "b1", "n1", "n2", "n3") for host in rack(name)),
        allocations=AllocationsLock(schema_version=1),
        image_pins=ImagesLock(schema_version=1),
    )


def rack(name: str) -> tuple[HostSpec, ...]:
    """Return the hosts of a rack: a whole rack if its name begins with ``n``; in hall b if it begins with ``b``."""
    changes = {"rack": name, "instance_type": RACK_TYPE if name[0] == "n" else NODE_TYPE}
    changes["hall"] = "b" if name[0] == "b" else "a"
    slots = range(1, HOSTS_PER_RACK + 1)
    model = _laptop().hosts[0]
    return tuple(model.model_copy(update=changes | {"slot": slot, "host": f"{name}-u{slot}"}) for slot in slots)


def tenant(name: str, *pools: NodePoolSpec, pods: int = 20, fabrics: tuple[str, ...] = ()) -> TenantSpec:
    """Return a tenant with one VPC of its name, and one cluster in it named ``<name>-one``."""
    model = _laptop().tenants[1]
    [vpc], [cluster] = model.vpcs, model.clusters
    return changed(
        model,
        tenant=name,
        vpcs=(changed(vpc, name=name, pods=pods, fabrics=fabrics),),
        clusters=(changed(cluster, name=f"{name}-one", vpc=name, pools=pools),),
    )


def nodes(count: int, **others: Any) -> NodePoolSpec:
    """Return a pool of nodes."""
    return NodePoolSpec(**{"name": "lab", "instance_type": NODE_TYPE, "nodes": count} | others)


def racks(count: int, **others: Any) -> NodePoolSpec:
    """Return a pool of whole racks."""
    return NodePoolSpec(**{"name": "rack", "instance_type": RACK_TYPE, "racks": count} | others)


def changed(spec: _Spec, **changes: Any) -> _Spec:
    """Return ``spec`` with other values, without validation."""
    return spec.model_copy(update=changes)


def allocated(region: Environment, **changes: Any) -> Environment:
    """Return ``region`` with ``changes``, and lock files allocated for them."""
    edited = changed(region, **changes)
    numbers, pins = allocate(edited)
    return changed(edited, allocations=numbers, image_pins=pins)


def broken(region: Environment, *hosts: str) -> Environment:
    """Return ``region`` with these hosts out of service."""
    return changed(region, out_of_service=faults(*hosts))


def faults(*hosts: str) -> dict[str, OutOfServiceSpec]:
    """Return the entries of ``out_of_service.yaml`` for broken ``hosts``."""
    return dict.fromkeys(hosts, OutOfServiceSpec(state=HostState.RMA, since=date(2026, 1, 1), reason="no fans"))


def sold_to(name: str, pool: NodePoolSpec, contracted: int) -> TenantSpec:
    """Return a tenant with one pool, and a contract for the same number of nodes."""
    contract = ContractSpec(instance_type=pool.instance_type, nodes=contracted)
    return changed(tenant(name, pool), contract=(contract,))


def sold_out() -> Environment:
    """Return a region whose two whole racks, and whose racks of nodes, are fully contracted."""
    hosts = tuple(host for host in small_region().hosts if host.rack != "n3")
    each = HOSTS_PER_RACK - 1  # One spare for each
    tenants = (sold_to("ant", racks(2, name="lab"), 2 * each), sold_to("bee", nodes(2 * each), 4 * each))
    return allocated(changed(small_region(), hosts=hosts), tenants=tenants)
