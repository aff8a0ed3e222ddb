"""Values of the chart ``virtual-machine``: an order, and the cluster's catalogue that resolves names in orders."""

from typing import Any

from components.render.manifest import Json
from components.render.objects import given
from components.render.vms.virtual_machine import EVICTION, Machine
from components.render.vms.vm_images import NAMESPACE, root_volume
from components.render.vms.vm_offering import VmOfferingInput
from components.render.vms.vm_placement import tolerating
from components.render.vms.vm_sizes import instancetype, preference
from components.render.vms.vm_volumes import storage
from components.specs.storage.storage import StorageClassSpec
from components.specs.vms.guests import GuestSystem
from components.specs.vms.vm_chart import ChartCatalogSpec
from components.specs.vms.vm_sizes import VmSizeSpec


def chart_values(offering: VmOfferingInput, machine: Machine) -> Json:
    """Return the chart values that create ``machine`` in the cluster of ``offering``."""
    order = machine.spec.model_dump(mode="json", exclude_defaults=True)
    catalog = chart_catalog(offering).model_dump(mode="json", exclude_defaults=True)
    return {**order, **given(keys_secret=machine.keys_secret), "catalog": catalog}


def chart_catalog(offering: VmOfferingInput) -> ChartCatalogSpec:
    """Return the catalogue that resolves names of orders in the cluster of ``offering``."""
    return ChartCatalogSpec.model_validate(
        {
            "namespace": NAMESPACE,
            "preference": preference(offering.cluster).name,
            "sizes": {size.name: _size(offering, size) for size in offering.sizes},
            "images": {
                image.name: {size.root_disk: root_volume(image, size.root_disk) for size in offering.sizes}
                for image in offering.images
                if image.os is GuestSystem.LINUX
            },
            "storage_classes": {name: _class(spec) for name, spec in offering.classes.items()},
            "public_addresses": dict(offering.public_addresses),
            **tolerating(offering.taints),
        }
    )


def _size(offering: VmOfferingInput, size: VmSizeSpec) -> dict[str, Any]:
    return {
        "instancetype": instancetype(offering.cluster, size).name,
        "root_disk": size.root_disk,
        "eviction": None if size.eviction is EVICTION else size.eviction,
    }


def _class(spec: StorageClassSpec) -> dict[str, Any]:
    claim = storage(spec, "1Gi")
    [access] = claim["accessModes"]
    return {"access_mode": access, "volume_mode": claim["volumeMode"]}
