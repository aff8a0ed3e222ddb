"""A tenant's VM order, ready to apply: a VM with its own root disk, in a namespace of the tenant.

It uses the same model as VMs declared in data, so it has all their settings, such as eviction strategy and
tolerations. `vm_order` renders it as an object, `vm_chart` as values of the chart.
"""

from __future__ import annotations

from components.render import labels as keys
from components.render.manifest import Json
from components.render.vms.virtual_machine import Machine, virtual_machine
from components.render.vms.vm_offering import VmOfferingInput
from components.render.vms.vm_sizes import instancetype, preference
from components.specs.vms.vm_offering import RootSpec, VirtualMachineSpec, VmImage
from components.specs.vms.vm_sizes import VmSizeSpec


def ordered(offering: VmOfferingInput, size: VmSizeSpec, image: VmImage, name: str) -> Machine:
    """Return the machine ``name`` that a tenant orders with ``size`` and ``image``.

    Its root disk is cloned, so the VM can be in any namespace, and the disk is kept until the VM is deleted. Public SSH
    keys for login are entries of the Secret ``<name>-keys`` in the same namespace.
    """
    root = RootSpec(size=size.root_disk, storage_class=offering.image_storage_class)
    return Machine(
        spec=VirtualMachineSpec(name=name, size=size.name, image=image.name, root=root),
        size=size,
        image=image,
        classes=offering.classes,
        public_address=None,
        keys_secret=f"{name}-keys",
        through_api=True,
    )


def vm_order(offering: VmOfferingInput, machine: Machine) -> Json:
    """Return the VirtualMachine that a tenant applies for ``machine``, in a namespace of its choice."""
    sized, guest = instancetype(offering.cluster, machine.size), preference(offering.cluster)
    [item] = virtual_machine(offering.cluster, machine, sized.name, guest.name, offering.taints)
    labels = {key: value for key, value in item.body["metadata"]["labels"].items() if key != keys.MANAGED_BY}
    return {**item.body, "metadata": {"name": item.name, "labels": labels}}
