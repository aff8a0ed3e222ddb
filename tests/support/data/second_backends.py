"""Environment laptop with other backends: the same tenants and hosts, and no objects of the default backends."""

from __future__ import annotations

from typing import Any

from components.specs.control_planes.data_stores import DPU_STORE, DedicatedDataStoreSpec
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.hosts.netboot import NetbootSpec
from components.specs.locks import ImagesLock
from components.specs.network.tenant_network import Isolation, VpcSpec
from components.specs.region.region import ControlPlaneBackend
from components.specs.region.tenant import TenantSpec
from components.specs.storage.topolvm import TopolvmClassSpec

SCRATCH = TopolvmClassSpec(name="scratch", driver="topolvm", device_class="nvme")
OF_OTHERS = {"endpoints": ("etcd-a-0.etcd-a.kamaji-system.svc:2379",), "secret": "etcd-a-certs"}
"""Fields of a data store that only k0smotron needs; Kamaji creates the data store of DPUs all the same."""
OWN_STORE = DedicatedDataStoreSpec(members=3, size="50Gi", storage_class="nvme")

IRONCORE = BareMetalBackend.IRONCORE_METAL
_DIGEST = f"sha256:{'5' * 64}"
NETBOOT = NetbootSpec(
    boot_address="10.0.0.30",
    registry_address="10.0.0.31",
    probe_image=f"registry.cloud.example/metalprobe@{_DIGEST}",
    probe_os_image=f"images.cloud.example/probe@{_DIGEST}",
    registries=("images.cloud.example",),
)


def with_backends(
    environment: Environment,
    *,
    control_planes: ControlPlaneBackend = ControlPlaneBackend.K0SMOTRON,
    bare_metal: BareMetalBackend = BareMetalBackend.IRONCORE_METAL,
    isolation: Isolation = Isolation.KUBE_OVN,
    data_store: str = "dedicated",
) -> Environment:
    """Return ``environment`` with these backends, a data store for each cluster and a class on local disks."""
    region = environment.region
    stores = region.control_planes.data_stores
    if control_planes is ControlPlaneBackend.K0SMOTRON:
        stores = tuple(one if one.name == DPU_STORE else one.model_copy(update=OF_OTHERS) for one in stores)
    return environment.model_copy(
        update={
            "region": region.model_copy(
                update={
                    "control_planes": region.control_planes.model_copy(
                        update={"backend": control_planes, "data_stores": stores, "dedicated": OWN_STORE}
                    ),
                    "bare_metal": region.bare_metal.model_copy(
                        update={"backend": bare_metal, "netboot": NETBOOT if bare_metal is IRONCORE else None}
                    ),
                    "storage": (*region.storage, SCRATCH),
                }
            ),
            "tenants": tuple(_tenant(tenant, isolation, data_store) for tenant in environment.tenants),
            "image_pins": environment.image_pins.model_copy(
                update={
                    "control_planes": {
                        name: pin.model_copy(update={"data_store": data_store})
                        for name, pin in environment.image_pins.control_planes.items()
                    },
                    **_nodes(environment.image_pins, control_planes, bare_metal),
                }
            ),
        }
    )


def _nodes(pins: ImagesLock, control_planes: ControlPlaneBackend, bare_metal: BareMetalBackend) -> dict[str, Any]:
    """Return the pins of nodes as if these backends had created them."""
    made = {"control_planes": control_planes, "bare_metal": bare_metal}
    moved = {name: intent.model_copy(update=made) for name, intent in pins.intents.items()}
    return {
        "intents": {intent.name: intent for intent in moved.values()},
        "groups": {key: moved[name].name for key, name in pins.groups.items()},
    }


def _tenant(tenant: TenantSpec, isolation: Isolation, data_store: str) -> TenantSpec:
    def vpc(spec: VpcSpec) -> VpcSpec:
        return spec.model_copy(update={"isolation": isolation})

    def cluster(spec: ClusterSpec) -> ClusterSpec:
        control_plane = spec.control_plane.model_copy(update={"data_store": data_store})
        return spec.model_copy(update={"control_plane": control_plane, "storage": (*spec.storage, SCRATCH.name)})

    return tenant.model_copy(
        update={"vpcs": tuple(map(vpc, tenant.vpcs)), "clusters": tuple(map(cluster, tenant.clusters))}
    )
