"""Rules about snapshots of virtual machines: required tools, and storage drivers that support them."""

from collections.abc import Iterator

from components.lookups.pools import DataPath, problem, tenant_file, vms_of
from components.render.platform_pods import KUBECTL
from components.rules.rule import Rules
from components.rules.tools import missing_tool
from components.specs.environment import Environment
from components.specs.reading.problems import Problem, one_of
from components.specs.region.tenant import TenantSpec
from components.specs.storage.snapshots import SnapshotMethod
from components.specs.storage.storage import StorageClassSpec
from components.specs.vms.vm_offering import VirtualMachineSpec


def tools(environment: Environment) -> Iterator[Problem]:
    """Report VM snapshots in a region without the tool image that requests snapshots."""
    missing = missing_tool(environment, KUBECTL)
    for tenant in environment.tenants if missing else ():
        if tenant.vms and tenant.vms.snapshots:
            yield problem(environment, tenant_file(tenant), ("vms", "snapshots"), f"requires {missing}")


def classes(environment: Environment) -> Iterator[Problem]:
    """Report volumes of VMs with snapshots whose driver archives a disk in use."""
    for tenant in environment.tenants:
        offered = _offered(environment, tenant)
        able = [name for name, entry in offered.items() if entry.VOLUME_SNAPSHOTS is SnapshotMethod.POINT_IN_TIME]
        for path, vm in vms_of(tenant):
            for place, name in _volumes(path, vm) if vm.snapshots else ():
                if name not in offered or offered[name].VOLUME_SNAPSHOTS is not SnapshotMethod.ARCHIVE:
                    continue
                remedy = f"pick {one_of(able)}" if able else "list a class of VAST for the cluster"
                text = (
                    f"'{name}' snapshots a volume only as a tar archive of the disk in use, but a VM snapshot requires"
                    " point-in-time snapshots of all volumes;"
                    f" {remedy}, or remove snapshots"
                )
                yield problem(environment, tenant_file(tenant), place, text)


def _offered(environment: Environment, tenant: TenantSpec) -> dict[str, StorageClassSpec]:
    """Return the storage classes of the cluster with the tenant's VMs, by name."""
    names = [
        name
        for cluster in tenant.clusters
        if tenant.vms and cluster.name == tenant.vms.cluster
        for name in cluster.storage
    ]
    return {entry.name: entry for entry in environment.region.storage if entry.name in names}


def _volumes(path: DataPath, vm: VirtualMachineSpec) -> Iterator[tuple[DataPath, str]]:
    """Yield path and storage class of each persistent volume claim of a VM."""
    if vm.root is not None:
        yield (*path, "root", "storage_class"), vm.root.storage_class
    for at, volume in enumerate(vm.volumes):
        yield (*path, "volumes", at, "storage_class"), volume.storage_class


RULES = Rules(data=(tools, classes))
