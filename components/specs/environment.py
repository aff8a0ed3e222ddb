"""An environment: everything the files of one region and the shared catalogue say."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from components.specs.add_ons import AddOnCatalog
from components.specs.base import SCHEMA_VERSION, Spec
from components.specs.catalog import ImageCatalog, InstanceTypeCatalog, VersionVector
from components.specs.firmware import FirmwareCatalog
from components.specs.inventory import HostSpec
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.out_of_service import OutOfServiceSpec
from components.specs.policy import PolicySpec, WaiversSpec
from components.specs.positions import Positions
from components.specs.region import RegionSpec
from components.specs.tenant import TenantSpec
from components.specs.vm_offering import VmCatalog


class Environment(Spec):
    """One folder under ``environments/`` with the catalogue, loaded and valid on its own.

    Cross-references are checked by ``components.plan.checks``, not here.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    name: str
    """Name of the folder, equal to ``region.region``."""
    region: RegionSpec
    tenants: tuple[TenantSpec, ...]
    hosts: tuple[HostSpec, ...]
    """In order of files and their rows."""
    images: ImageCatalog
    instance_types: InstanceTypeCatalog
    versions: VersionVector
    vm_catalog: VmCatalog
    firmware: FirmwareCatalog = FirmwareCatalog(schema_version=SCHEMA_VERSION)
    add_ons: AddOnCatalog = AddOnCatalog(schema_version=SCHEMA_VERSION)
    out_of_service: dict[str, OutOfServiceSpec] = Field(default_factory=dict)
    """By host; a host that is not listed may work."""
    policy: PolicySpec = PolicySpec(schema_version=SCHEMA_VERSION)
    waivers: WaiversSpec = WaiversSpec(schema_version=SCHEMA_VERSION)
    allocations: AllocationsLock
    image_pins: ImagesLock
    positions: Positions = Field(default_factory=Positions, exclude=True, repr=False)
    """Where each value stands, for later errors."""
