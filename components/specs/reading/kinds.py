"""Kinds of data files, with path, model and writer."""

from collections.abc import Iterator
from pathlib import Path

from components.specs.add_ons.add_ons import AddOnCatalog
from components.specs.base import DataFile
from components.specs.fleet.campaign import CampaignSpec
from components.specs.fleet.fleet import FleetSpec
from components.specs.fleet.order import OrderSpec
from components.specs.health.node_checks import HealthCatalog
from components.specs.hosts.firmware import FirmwareCatalog
from components.specs.hosts.host_tests import HostTestsFile
from components.specs.hosts.instance_types import InstanceTypeCatalog
from components.specs.hosts.out_of_service import OutOfServiceFile
from components.specs.locks import AllocationsLock, ImagesLock, LockFile
from components.specs.reading.loader import (
    ALLOCATIONS,
    APPROVALS,
    CATALOG,
    HOST_TESTS,
    IMAGE_PINS,
    OUT_OF_SERVICE,
    POLICY,
    REGION,
    WAIVERS,
    environments,
)
from components.specs.region.approvals import ApprovalsFile
from components.specs.region.catalog import ImageCatalog
from components.specs.region.policy import PolicySpec, WaiversSpec
from components.specs.region.region import RegionSpec
from components.specs.region.tenant import TenantSpec
from components.specs.region.versions import VersionVector
from components.specs.struct import Struct
from components.specs.vms.vm_offering import VmCatalog


class FileKind(Struct):
    """Kind of YAML file."""

    name: str
    """Name of the kind; its schema and reference page have the same name."""
    path: str
    """Path pattern of the files, relative to the folder of an environment, or to ``environments/`` for the catalogue;
    ``*`` matches a name."""
    model: type[DataFile]
    """Model of each file of the kind."""
    shared: bool = False
    """Whether all environments share the file."""
    of_region: bool = True
    """Whether the file describes the desired state of a region. False for files that render nothing, such as approvals
    and test results of hosts."""

    @property
    def locked(self) -> bool:
        """Return whether only ``jacquard allocate`` and ``promote`` write the file."""
        return issubclass(self.model, LockFile)

    def files(self, folder: Path, environment: str) -> list[Path]:
        """Return the sorted files of this kind that belong to ``environment`` in ``folder`` (of all environments)."""
        home = folder if self.shared else folder / environment
        return sorted(path for path in home.glob(self.path) if not path.name.startswith("."))


KINDS = (
    FileKind(name="region", path=REGION, model=RegionSpec),
    FileKind(name="tenant", path="tenants/*.yaml", model=TenantSpec),
    FileKind(name="out_of_service", path=OUT_OF_SERVICE, model=OutOfServiceFile),
    FileKind(name="host_tests", path=HOST_TESTS, model=HostTestsFile, of_region=False),
    FileKind(name="policy", path=POLICY, model=PolicySpec),
    FileKind(name="waivers", path=WAIVERS, model=WaiversSpec),
    FileKind(name="approvals", path=APPROVALS, model=ApprovalsFile, of_region=False),
    FileKind(name="images", path=f"{CATALOG}/images.yaml", model=ImageCatalog, shared=True),
    FileKind(name="instance_types", path=f"{CATALOG}/instance_types.yaml", model=InstanceTypeCatalog, shared=True),
    FileKind(name="firmware", path=f"{CATALOG}/firmware.yaml", model=FirmwareCatalog, shared=True),
    FileKind(name="health", path=f"{CATALOG}/health.yaml", model=HealthCatalog, shared=True),
    FileKind(name="versions", path=f"{CATALOG}/versions.yaml", model=VersionVector, shared=True),
    FileKind(name="add_ons", path=f"{CATALOG}/add_ons.yaml", model=AddOnCatalog, shared=True),
    FileKind(name="vm_offerings", path=f"{CATALOG}/vm_offerings.yaml", model=VmCatalog, shared=True),
    FileKind(name="fleet", path="fleet.yaml", model=FleetSpec, shared=True, of_region=False),
    FileKind(name="order", path="orders/*.yaml", model=OrderSpec, shared=True, of_region=False),
    FileKind(name="campaign", path="campaigns/*.yaml", model=CampaignSpec, shared=True, of_region=False),
    FileKind(name="allocations.lock", path=ALLOCATIONS, model=AllocationsLock),
    FileKind(name="images.lock", path=IMAGE_PINS, model=ImagesLock),
)
"""All kinds of data files, in the order of the documentation."""


def data_files(folder: Path, names: list[str] | None = None) -> Iterator[tuple[Path, FileKind]]:
    """Yield each YAML file of the environments ``names`` (None for all) in ``folder`` once, with its kind."""
    seen: set[Path] = set()
    for name in environments(folder) if names is None else names:
        for kind in KINDS:
            for path in kind.files(folder, name):
                if path not in seen:
                    seen.add(path)
                    yield path, kind
