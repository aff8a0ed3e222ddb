"""A VPC as its backends see it: the tenant's wish and the numbers it was given."""

from __future__ import annotations

from dataclasses import dataclass

from components.specs.base import Address
from components.specs.locks import VpcAllocation
from components.specs.tenant_network import VpcSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Vpc:
    """One VPC, in the terms that no backend owns."""

    spec: VpcSpec
    tenant: str
    numbers: VpcAllocation
    control_planes: tuple[Address, ...]
    """Addresses of the control planes of the VPC's clusters, which its hosts must reach."""
