"""Hosts of a hall, with one set of objects per rack. Host objects depend on the backend, DPF's DPU objects do not."""

from collections.abc import Iterator
from itertools import groupby

from components.render import labels as keys
from components.render.backends import BARE_METAL
from components.render.hosts.hosts import PlacedHost
from components.render.manifest import Manifest, ManifestSet
from components.render.namespaces import FREE_HOSTS
from components.render.network.dpus import NAMESPACE as DPUS
from components.render.objects import LABEL_LIMIT, fit, given, manifest
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.hosts.inventory import HostSpec
from components.specs.pools.nodes import FirmwareUpdate
from components.specs.struct import Struct

_DPU_NODE_LIMIT = 48


class InventoryInput(Struct):
    """Hosts of one hall."""

    name: str
    backend: BareMetalBackend
    dpf: bool
    """Whether DPF manages the hosts' DPUs."""
    firmware_updates: FirmwareUpdate
    """Time of firmware updates of hosts."""
    hosts: tuple[PlacedHost, ...]
    """Hosts of the hall, grouped by rack."""

    def render(self) -> tuple[ManifestSet, ...]:
        """Return one set of objects per rack, in the order of the racks."""
        racks = groupby(self.hosts, lambda placed: placed.host.rack)
        return tuple(_rack(self, rack, tuple(hosts)) for rack, hosts in racks)


def _rack(inventory: InventoryInput, rack: str, hosts: tuple[PlacedHost, ...]) -> ManifestSet:
    return ManifestSet(
        name=f"rack-{rack}",
        namespace=FREE_HOSTS,
        members={f"{placed.host.host}/{item.kind}": item for placed in hosts for item in _objects(inventory, placed)},
        patches=dict(BARE_METAL[inventory.backend].patches(hosts)),
    )


def _objects(inventory: InventoryInput, placed: PlacedHost) -> Iterator[Manifest]:
    yield from BARE_METAL[inventory.backend].host(placed, inventory.firmware_updates)
    if inventory.dpf:
        yield _dpu_device(placed)
        yield _dpu_node(placed)


def _dpu_device(placed: PlacedHost) -> Manifest:
    return manifest(
        "provisioning.dpu.nvidia.com/v1alpha1",
        "DPUDevice",
        _device_name(placed.host),
        namespace=DPUS,
        labels=placed.labels,
        spec={
            "serialNumber": placed.host.dpu_serial,
            "numberOfPFs": placed.dpu_functions,
            **given(bmcIp=placed.host.dpu_bmc and str(placed.host.dpu_bmc)),
        },
    )


def _dpu_node(placed: PlacedHost) -> Manifest:
    owner = placed.owner
    return manifest(
        "provisioning.dpu.nvidia.com/v1alpha1",
        "DPUNode",
        _dpu_node_name(placed.host),
        namespace=DPUS,
        labels={
            **placed.labels,
            **({} if placed.dpu_cluster is None else {keys.DPU_CLUSTER: placed.dpu_cluster}),
            **({} if owner is None else {keys.TENANT_NETWORK: owner.vpc}),
        },
        # Only the platform reboots a host for a change of its DPU, after a drain of the host.
        spec={"dpus": [{"name": _device_name(placed.host)}], "nodeRebootMethod": {"external": {}}},
    )


def names_of(host: HostSpec) -> tuple[str, str, str]:
    """Return the names of the objects of ``host``: the host object, the DPUDevice and the DPUNode."""
    return host.host, _device_name(host), _dpu_node_name(host)


def dpu_name(host: HostSpec) -> str:
    """Return DPF's name of the DPU of ``host``, which is also the name of the node in the DPU cluster."""
    return f"{_dpu_node_name(host)}-{_device_name(host)}"


def _device_name(host: HostSpec) -> str:
    return fit(f"{host.host}-dpu", LABEL_LIMIT)


def _dpu_node_name(host: HostSpec) -> str:
    return fit(host.host, _DPU_NODE_LIMIT)
