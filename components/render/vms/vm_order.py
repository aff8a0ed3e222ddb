"""VM order of a tenant, ready to apply: a VM with a persistent root disk, in a namespace of the tenant.

An order uses the model of VMs declared in data and has all their settings, such as eviction strategy and tolerations.
`vm_order` renders an order as an object, `vm_chart` as values of the chart.
"""

from components.render import labels as keys
from components.render.manifest import Json
from components.render.vms.virtual_machine import Machine, virtual_machine
from components.render.vms.vm_offering import VmOfferingInput
from components.render.vms.vm_sizes import instancetype, preference
from components.specs.vms.vm_offering import RootSpec, VirtualMachineSpec, VmImage
from components.specs.vms.vm_sizes import VmSizeSpec


def ordered(offering: VmOfferingInput, size: VmSizeSpec, image: VmImage, name: str) -> Machine:
    """Return the machine ``name`` that a tenant orders with ``size`` and ``image``.

    The VM can be in any namespace, because its root disk is a clone. The disk is kept until the VM is deleted. Public
    SSH keys for login are entries of the Secret ``<name>-keys`` in the same namespace.
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
    """Return the VirtualMachine that a tenant applies for ``machine``, in any of its namespaces."""
    sized, guest = instancetype(offering.cluster, machine.size), preference(offering.cluster)
    [item] = virtual_machine(offering.cluster, machine, sized.name, guest.name, offering.taints)
    labels = {key: value for key, value in item.body["metadata"]["labels"].items() if key != keys.MANAGED_BY}
    return {**item.body, "metadata": {"name": item.name, "labels": labels}}
