"""Rendered objects of a cluster's VM offering, by kind."""

from __future__ import annotations

from typing import Any

from components.render.manifest import Manifest, objects
from components.render.vms.vm_offering import VmOfferingInput


def of(offering: VmOfferingInput, kind: str) -> list[Manifest]:
    """Return the objects of ``kind`` that ``offering`` renders."""
    return [item for item in objects(offering.render()) if item.kind == kind]


def machine_spec(offering: VmOfferingInput) -> dict[str, Any]:
    """Return the spec of the only machine of ``offering``."""
    [machine] = of(offering, "VirtualMachine")
    return dict(machine.body["spec"])
