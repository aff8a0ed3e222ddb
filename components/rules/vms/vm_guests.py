"""Rules about guest systems of virtual machines: suitable setup method, and minimum size."""

from collections.abc import Iterator

from components.lookups.pools import problem, system_of, tenant_file, vms_of
from components.rules.rule import Rules
from components.specs.base import bytes_of
from components.specs.environment import Environment
from components.specs.reading.loader import VM_OFFERINGS
from components.specs.reading.problems import Problem
from components.specs.vms.guests import GuestSystem
from components.specs.vms.vm_offering import VirtualMachineSpec
from components.specs.vms.vm_sizes import LEAST_WINDOWS_CPUS, LEAST_WINDOWS_MEMORY

_ANSWER = "store an answer file of Windows Setup in a Secret, name it as sysprep_secret, and remove this"


def set_up(environment: Environment) -> Iterator[Problem]:
    """Report users and Secrets that a guest system does not read: cloud-init is for Linux, answer files for Windows."""
    for tenant in environment.tenants:
        for path, vm in vms_of(tenant):
            system = system_of(environment, tenant, vm)
            for key, text in _unread(vm, system):
                yield problem(environment, tenant_file(tenant), (*path, key), text)


def _unread(vm: VirtualMachineSpec, system: GuestSystem | None) -> Iterator[tuple[str, str]]:
    if system is GuestSystem.WINDOWS and vm.users:
        yield "users", f"is for cloud-init, but {vm.image} is Windows, which does not read it; {_ANSWER}"
    if system is GuestSystem.WINDOWS and vm.user_data_secret is not None:
        yield "user_data_secret", f"is for cloud-init, but {vm.image} is Windows, which does not read it; {_ANSWER}"
    if system is GuestSystem.LINUX and vm.sysprep_secret is not None:
        yield "sysprep_secret", f"is for Windows, but {vm.image} is Linux, which reads no answer file; remove it"


def least(environment: Environment) -> Iterator[Problem]:
    """Report Windows VMs whose size is below the minimum of KubeVirt's preference."""
    sizes = environment.vm_catalog.sizes_by_name()
    for tenant in environment.tenants:
        for path, vm in vms_of(tenant):
            size = sizes.get(vm.size)
            if size is None or system_of(environment, tenant, vm) is not GuestSystem.WINDOWS:
                continue
            if size.cpus < LEAST_WINDOWS_CPUS or bytes_of(size.memory) < bytes_of(LEAST_WINDOWS_MEMORY):
                text = (
                    f"'{vm.size}' has {size.cpus} CPUs and {size.memory} ({VM_OFFERINGS}), but Windows requires at"
                    f" least {LEAST_WINDOWS_CPUS} and {LEAST_WINDOWS_MEMORY}; pick a larger one"
                )
                yield problem(environment, tenant_file(tenant), (*path, "size"), text)


RULES = Rules(data=(set_up, least))
