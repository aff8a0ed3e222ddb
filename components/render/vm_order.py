"""An order of a tenant, as it could be applied: a VM with a root of its own, in a namespace of the tenant's."""

from __future__ import annotations

from typing import Any

from components.render.manifest import Json
from components.render.virtual_machine import CLOUD_INIT
from components.render.vm_images import NAMESPACE
from components.render.vm_offering import VmOfferingInput
from components.render.vm_sizes import instancetype, linux
from components.specs.vm_offering import ROOT, VmImage, VmSizeSpec


def vm_order(offering: VmOfferingInput, size: VmSizeSpec, image: VmImage, name: str) -> Json:
    """Return the VirtualMachine called ``name`` that a tenant applies to get ``size`` with ``image``.

    Its root is cloned, so it may be in any namespace and is kept until the VM is deleted. Who may log in is in the
    Secret ``<name>-keys`` beside it, a public SSH key an entry.
    """
    sized, preference = instancetype(offering.cluster, size), linux(offering.cluster)
    keys = {"source": {"secret": {"secretName": f"{name}-keys"}}, "propagationMethod": {"noCloud": {}}}
    template: dict[str, Any] = {
        "domain": {
            "devices": {
                "disks": [
                    {"name": ROOT, "disk": {"bus": "virtio"}, "bootOrder": 1},
                    {"name": CLOUD_INIT, "disk": {"bus": "virtio"}},
                ],
                "interfaces": [{"name": "default", "masquerade": {}}],
            }
        },
        "networks": [{"name": "default", "pod": {}}],
        "accessCredentials": [{"sshPublicKey": keys}],
        "volumes": [
            {"name": ROOT, "dataVolume": {"name": f"{name}-{ROOT}"}},
            {"name": CLOUD_INIT, "cloudInitNoCloud": {"userData": "#cloud-config\nusers: [default]\n"}},
        ],
    }
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name},
        "spec": {
            "runStrategy": "Always",
            "instancetype": {"kind": sized.kind, "name": sized.name},
            "preference": {"kind": preference.kind, "name": preference.name},
            "dataVolumeTemplates": [_root(offering, size, image, name)],
            "template": {"metadata": {"labels": {"app.kubernetes.io/name": name}}, "spec": template},
        },
    }


def _root(offering: VmOfferingInput, size: VmSizeSpec, image: VmImage, name: str) -> dict[str, Any]:
    """Return the root disk, cloned from the golden volume that the name of the image stands for."""
    return {
        "metadata": {"name": f"{name}-{ROOT}"},
        "spec": {
            "sourceRef": {"kind": "DataSource", "name": image.name, "namespace": NAMESPACE},
            "storage": {
                "storageClassName": offering.image_storage_class,
                "accessModes": ["ReadWriteMany"],
                "volumeMode": "Filesystem",
                "resources": {"requests": {"storage": size.root_disk}},
            },
        },
    }
