"""The only reader of environments: it is strict, records positions, and reports all problems of all files."""

import re
from pathlib import Path
from typing import TypeVar

from components.specs.add_ons.add_ons import AddOnCatalog
from components.specs.base import SHORT_NAME, DataFile
from components.specs.cycle_collector import without_cycle_collector
from components.specs.environment import Environment
from components.specs.fleet.delegation import delegated, may_be_home
from components.specs.fleet.fleet import FleetDnsSpec, FleetSpec
from components.specs.health.node_checks import HealthCatalog
from components.specs.hosts.firmware import FirmwareCatalog
from components.specs.hosts.host_tests import HostTestsFile
from components.specs.hosts.instance_types import InstanceTypeCatalog
from components.specs.hosts.inventory import HostSpec
from components.specs.hosts.out_of_service import OutOfServiceFile
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.files import read_text, unreadable
from components.specs.reading.inventory_csv import read_inventory
from components.specs.reading.parsing import parsed
from components.specs.reading.positions import Place, Positions
from components.specs.reading.problems import Problem, SpecError, listed, nearest, suggestion
from components.specs.region.approvals import ApprovalsFile
from components.specs.region.catalog import ImageCatalog
from components.specs.region.dns import DnsSpec
from components.specs.region.policy import PolicySpec, WaiversSpec
from components.specs.region.region import RegionSpec
from components.specs.region.tenant import TenantSpec
from components.specs.region.versions import VersionVector
from components.specs.vms.vm_offering import VmCatalog
from jacquard.machine.edits import recover

CATALOG = "catalog"
ADD_ONS = f"../{CATALOG}/add_ons.yaml"
FIRMWARE = f"../{CATALOG}/firmware.yaml"
HEALTH = f"../{CATALOG}/health.yaml"
IMAGES = f"../{CATALOG}/images.yaml"
INSTANCE_TYPES = f"../{CATALOG}/instance_types.yaml"
VERSIONS = f"../{CATALOG}/versions.yaml"
VM_OFFERINGS = f"../{CATALOG}/vm_offerings.yaml"
FLEET = "../fleet.yaml"
"""File of the fleet, relative to the folder of an environment."""
REGION = "region.yaml"
RESERVED = {
    CATALOG: "the folder of the catalogue",
    "orders": "the folder of orders",
    "campaigns": "the folder of campaigns",
    "fleet": "the name of all regions in reports",
}
"""Names that no region can have, with their meaning."""
ALLOCATIONS = "allocations.lock.yaml"
IMAGE_PINS = "images.lock.yaml"
_OTHER_REGION = "region.yml"
"""Usual wrong name of `REGION`. Its folder counts as an environment, so that the name is reported."""
_HALL_FILE = re.compile(r"hall-([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)\.csv")
_COPY = re.compile(r"(hall-[a-z0-9-]*[a-z0-9])[^a-z0-9-]")
"""Pattern of file names that desktops use for copies of a hall's file."""
OUT_OF_SERVICE = "out_of_service.yaml"
HOST_TESTS = "host_tests.yaml"
APPROVALS = "approvals.yaml"
POLICY = "policy.yaml"
WAIVERS = "waivers.yaml"
_TOP_FILES = (REGION, OUT_OF_SERVICE, HOST_TESTS, POLICY, WAIVERS, APPROVALS, ALLOCATIONS, IMAGE_PINS, "README.md")
_FOLDERS = {"tenants": ".yaml", "inventory": ".csv"}
_Model = TypeVar("_Model", bound=DataFile)


def region_file(name: str) -> str:
    """Return ``region.yaml`` of region ``name``, relative to the folder of another environment."""
    return f"../{name}/{REGION}"


def environments(folder: Path) -> list[str]:
    """Return the names of all environments in ``folder``, sorted, including unreadable ones."""
    try:
        return sorted(path.name for path in folder.iterdir() if _is_environment(path))
    except OSError:
        return []


def _is_environment(path: Path) -> bool:
    """Return whether ``path`` has a region. A broken link counts: ``check`` reports it instead of leaving it out."""
    if path.name.startswith("."):
        return False
    region = path / REGION
    try:
        return (
            region.is_symlink()
            or region.exists()
            or (path / _OTHER_REGION).exists()
            or (path.is_symlink() and not path.exists())
        )
    except OSError:  # The folder is not accessible, or a link leads back to itself.
        return True


def load_environment(name: str, folder: Path) -> Environment:
    """Return the environment ``name`` of ``folder``, including the catalogue in ``folder``.

    Optional files and lock files that do not exist count as empty. ``components.rules.checks`` checks references
    between files.

    An interrupted edit of the data is finished first.

    Raises:
        SpecError: Contains all problems of all files.
    """
    recover(folder)
    known = environments(folder)
    if name not in known:
        text = f"does not exist (environments: {listed(known)}){suggestion(name, known)}"
        raise SpecError(name, [Problem(REGION, 0, "", text)])
    if name in RESERVED:
        text = f"'{name}' is {RESERVED[name]}, not of a region; rename the folder, and write its name as region"
        raise SpecError(name, [Problem(REGION, 0, "", text)])
    if fault := unreadable(folder / name):
        raise SpecError(name, [Problem(f"../{name}", 0, "", fault)])
    with without_cycle_collector():
        return _Loader(name, folder).load()


class _Loader:
    def __init__(self, name: str, folder: Path) -> None:
        self._name = name
        self._root = folder
        self._folder = folder / name
        self._problems: list[Problem] = []
        self._places: dict[str, Place] = {}
        self._tenants: dict[str, str] = {}
        """Tenant named in each file of ``tenants/``, by file name without suffix."""

    def load(self) -> Environment:
        self._reject_unknown_files()
        misnamed = (self._folder / _OTHER_REGION).exists() and not (self._folder / REGION).exists()
        region = None if misnamed else self._yaml(REGION, RegionSpec)
        tenants = [self._tenant(path) for path in self._listing("tenants", "*.yaml")]
        self._reject_other_names()
        hosts = [host for path in self._listing("inventory", "*.csv") for host in self._inventory(path)]
        images = self._yaml(IMAGES, ImageCatalog)
        instance_types = self._yaml(INSTANCE_TYPES, InstanceTypeCatalog)
        versions = self._yaml(VERSIONS, VersionVector)
        vm_catalog = self._yaml(VM_OFFERINGS, VmCatalog)
        firmware = self._optional(FIRMWARE, FirmwareCatalog)
        health = self._optional(HEALTH, HealthCatalog)
        add_ons = self._optional(ADD_ONS, AddOnCatalog)
        out_of_service = self._optional(OUT_OF_SERVICE, OutOfServiceFile)
        host_tests = self._optional(HOST_TESTS, HostTestsFile)
        policy = self._optional(POLICY, PolicySpec)
        waivers = self._optional(WAIVERS, WaiversSpec)
        approvals = self._optional(APPROVALS, ApprovalsFile)
        allocations = self._optional(ALLOCATIONS, AllocationsLock)
        image_pins = self._optional(IMAGE_PINS, ImagesLock)
        fleet_dns, dns_by_region = self._fleet_dns(region)
        if self._problems or not (region and images and instance_types and versions and vm_catalog):
            raise SpecError(self._name, self._problems)
        return Environment.model_construct(  # the values are valid, and the schema of all files takes time to build
            name=self._name,
            region=region,
            tenants=tuple(tenant for tenant in tenants if tenant),
            hosts=tuple(hosts),
            images=images,
            instance_types=instance_types,
            versions=versions,
            vm_catalog=vm_catalog,
            firmware=firmware,
            health=health,
            add_ons=add_ons,
            out_of_service=out_of_service.hosts,
            host_tests=host_tests.hosts,
            policy=policy,
            waivers=waivers,
            approvals=approvals,
            allocations=allocations,
            image_pins=image_pins,
            fleet_dns=fleet_dns,
            delegated=dns_by_region,
            positions=Positions(self._places),
        )

    def _listing(self, folder: str, pattern: str) -> list[Path]:
        return sorted(path for path in (self._folder / folder).glob(pattern) if not path.name.startswith("."))

    def _reject_unknown_files(self) -> None:
        """Report files with unknown names; otherwise a misspelt file would be ignored silently."""
        for path in self._listing("", "*"):
            if path.name not in _TOP_FILES and path.name not in _FOLDERS:
                text = f"is not a file of an environment ({', '.join(_TOP_FILES)})"
                near = nearest(path.name, _TOP_FILES)
                if near and (self._folder / near).exists():
                    text = f"is not read, and {near} exists; remove it"
                elif near:
                    text += f"; did you mean '{near}'?"
                self._problem(path.name, 0, text)
        for folder, suffix in _FOLDERS.items():
            fault = unreadable(self._folder / folder)
            if fault:
                self._problem(folder, 0, fault)
            for path in self._listing(folder, "*"):
                if path.suffix != suffix:
                    self._problem(f"{folder}/{path.name}", 0, f"is not read{_unread(path, suffix)}")

    def _tenant(self, path: Path) -> TenantSpec | None:
        file = f"tenants/{path.name}"
        tenant = self._yaml(file, TenantSpec)
        if tenant:
            self._tenants[path.stem] = tenant.tenant
        return tenant

    def _reject_other_names(self) -> None:
        """Report tenant files whose name differs from the tenant's name."""
        for stem, name in self._tenants.items():
            if name == stem:
                continue
            file, path = f"tenants/{stem}.yaml", self._folder / "tenants" / f"{stem}.yaml"
            line = self._places[file].inner["tenant"].line
            remedies = [f"write {stem}"] if re.fullmatch(SHORT_NAME, stem) else []
            if not path.with_stem(name).exists():
                remedies.append(f"rename the file to {name}.yaml")
            remedy = ", or ".join(remedies) or (
                f"give the tenant and its file a unique name, or remove it if it is a copy of {name}.yaml"
            )
            text = f"is '{name}' in {file}; {remedy}"
            if self._tenants.get(name) == stem:
                text = f"is '{name}' in {file}, and '{stem}' in tenants/{name}.yaml; rename both files"
            self._problems.append(Problem(file, line, "tenant", text))

    def _inventory(self, path: Path) -> tuple[HostSpec, ...]:
        file = f"inventory/{path.name}"
        hall = _HALL_FILE.fullmatch(path.name)
        if not hall:
            original = _COPY.match(path.name)
            copied = f", or remove it if it is a copy of {original[1]}.csv" if original else ""
            plain = path.name.lower().replace("_", "-")
            name = plain if _HALL_FILE.fullmatch(plain) else "hall-<hall>.csv"
            self._problem(file, 0, f"is not named after a hall; rename it to {name}{copied}")
            return ()
        text = self._text(file)
        if text is None:
            return ()
        hosts, self._places[file], problems = read_inventory(file, text, hall[1])
        self._problems += problems
        return hosts

    def _fleet_dns(self, own: RegionSpec | None) -> tuple[FleetDnsSpec | None, dict[str, DnsSpec]]:
        """Return the DNS zone of the fleet with the DNS of its regions; nothing, unless this region is its home.

        In its home, an invalid file of the fleet or of a region is a problem: `up` would delete delegations without it.
        """
        path = self._folder / FLEET
        text, _ = read_text(path, FLEET, self._root) if path.exists() or path.is_symlink() else (None, None)
        if not text or not may_be_home(text, self._name):
            return None, {}
        spec, place, problems = parsed(FLEET, text, FleetSpec)
        self._problems += problems
        if not isinstance(spec, FleetSpec) or place is None or spec.dns is None or spec.dns.home != self._name:
            return None, {}
        self._places[FLEET] = place
        return spec.dns, delegated(
            spec, lambda name: own if name == self._name else self._yaml(region_file(name), RegionSpec)
        )

    def _optional(self, file: str, model: type[_Model]) -> _Model:
        """Return the content of ``file``; an empty spec if the file does not exist."""
        path = self._folder / file
        spec = self._yaml(file, model) if path.exists() or path.is_symlink() else None
        return spec or model.empty()

    def _yaml(self, file: str, model: type[_Model]) -> _Model | None:
        text = self._text(file)
        if text is None:
            return None
        spec, self._places[file], problems = parsed(file, text, model)
        self._problems += problems
        return spec if isinstance(spec, model) else None

    def _text(self, file: str) -> str | None:
        text, problem = read_text(self._folder / file, file, self._root)
        if problem:
            self._problems.append(problem)
            return None
        return text

    def _problem(self, file: str, line: int, text: str) -> None:
        self._problems.append(Problem(file, line, "", text))


def _unread(path: Path, suffix: str) -> str:
    """Return the remedy for a file that is not read because it is a backup copy or its name is incomplete."""
    if path.is_dir():
        return ", because it is a folder; move its files, or remove it"
    name = path.name.strip("#~")
    stem = name[: name.index(suffix)] if suffix in name else Path(name).stem
    if path.with_name(f"{stem}{suffix}").exists():
        return f", and {stem}{suffix} exists; remove it"
    if re.fullmatch(SHORT_NAME, stem) or _HALL_FILE.fullmatch(f"{stem}{suffix}"):
        return f"; rename it to {stem}{suffix} or remove it"
    return "; move it to another folder or remove it"
