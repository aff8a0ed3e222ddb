"""An order of a tenant, as it could be applied: a VM with a root of its own, in a namespace of the tenant's.

It is a machine as data could say it, so it has all that those have: what becomes of it in a drain, which taints it
bears. `vm_order` writes it as an object, `vm_chart` as values of the chart.
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
    """Return the machine called ``name`` that a tenant orders to get ``size`` with ``image``.

    Its root is cloned, so it may be in any namespace and is kept until the VM is deleted. Who may log in is in the
    Secret ``<name>-keys`` beside it, a public SSH key an entry.
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
    """Return the VirtualMachine that a tenant applies to get ``machine``, in the namespace that it likes."""
    sized, guest = instancetype(offering.cluster, machine.size), preference(offering.cluster)
    [item] = virtual_machine(offering.cluster, machine, sized.name, guest.name, offering.taints)
    labels = {key: value for key, value in item.body["metadata"]["labels"].items() if key != keys.MANAGED_BY}
    return {**item.body, "metadata": {"name": item.name, "labels": labels}}
