"""Environment: the content of all files of one region and of the shared catalogue."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from pydantic import ConfigDict, Field

from components.specs.add_ons.add_ons import AddOnCatalog
from components.specs.base import Spec
from components.specs.fleet.fleet import FleetDnsSpec
from components.specs.health.node_checks import HealthCatalog
from components.specs.hosts.firmware import FirmwareCatalog
from components.specs.hosts.host_tests import HostTestSpec
from components.specs.hosts.instance_types import InstanceTypeCatalog, Scale
from components.specs.hosts.inventory import HostSpec
from components.specs.hosts.out_of_service import OutOfServiceSpec
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.positions import Positions
from components.specs.region.approvals import ApprovalsFile
from components.specs.region.catalog import ImageCatalog
from components.specs.region.dns import DnsSpec
from components.specs.region.policy import PolicySpec, WaiversSpec
from components.specs.region.region import FailureDomain, RegionSpec
from components.specs.region.tenant import TenantSpec
from components.specs.region.versions import VersionVector
from components.specs.vms.vm_offering import VmCatalog


class Environment(Spec):
    """One folder below ``environments/`` with the catalogue. Each file is loaded and valid.

    ``components.rules.checks`` checks references between files.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    name: str
    """Name of the folder, equal to ``region.region``."""
    region: RegionSpec
    """Content of ``region.yaml``."""
    tenants: tuple[TenantSpec, ...]
    """Content of each file of ``tenants/``, in order of file names."""
    hosts: tuple[HostSpec, ...]
    """Rows of all files of ``inventory/``, in order of files and rows."""
    images: ImageCatalog
    """Content of ``catalog/images.yaml``."""
    instance_types: InstanceTypeCatalog
    """Content of ``catalog/instance_types.yaml``."""
    versions: VersionVector
    """Content of ``catalog/versions.yaml``."""
    vm_catalog: VmCatalog
    """Content of ``catalog/vm_offerings.yaml``."""
    firmware: FirmwareCatalog = FirmwareCatalog.empty()
    """Content of ``catalog/firmware.yaml``; empty when there is no such file."""
    add_ons: AddOnCatalog = AddOnCatalog.empty()
    """Content of ``catalog/add_ons.yaml``; empty when there is no such file."""
    health: HealthCatalog = HealthCatalog.empty()
    """Content of ``catalog/health.yaml``; empty when there is no such file."""
    out_of_service: dict[str, OutOfServiceSpec] = Field(default_factory=dict)
    """Hosts of ``out_of_service.yaml`` by name; a host that is not listed is in service."""
    host_tests: dict[str, HostTestSpec] = Field(default_factory=dict)
    """Last passed tests of ``host_tests.yaml`` by host; empty when there is no such file."""
    policy: PolicySpec = PolicySpec.empty()
    """Content of ``policy.yaml``; empty when there is no such file."""
    waivers: WaiversSpec = WaiversSpec.empty()
    """Content of ``waivers.yaml``; empty when there is no such file."""
    approvals: ApprovalsFile = ApprovalsFile.empty()
    """Content of ``approvals.yaml``; empty when there is no such file."""
    allocations: AllocationsLock
    """Content of ``allocations.lock.yaml``; empty when there is no such file."""
    image_pins: ImagesLock
    """Content of ``images.lock.yaml``; empty when there is no such file."""
    fleet_dns: FleetDnsSpec | None = None
    """DNS zone of the fleet, in the region whose management cluster writes its records; None in all others."""
    delegated: dict[str, DnsSpec] = Field(default_factory=dict)
    """DNS of the regions of the fleet by name, without retired regions and regions without DNS; empty without
    ``fleet_dns``."""
    positions: Positions = Field(default_factory=Positions, exclude=True, repr=False)
    """Line of each value in its file, for the reports of later checks."""

    extensions: tuple[Any, ...] = Field(default=(), exclude=True, repr=False)
    """Extensions of the repository that contains the environment, of a type of `components.inputs.extensions`."""

    def __getstate__(self) -> dict[Any, Any]:
        """Return the state for another process, without extensions: these run only in their own process."""
        state = super().__getstate__()
        return {**state, "__dict__": {**state["__dict__"], "extensions": ()}}

    @cached_property
    def hosts_by_pool(self) -> Mapping[str, tuple[HostSpec, ...]]:
        """Return the hosts of each pool (``cluster/pool``) by the lock file, in the order of the inventory."""
        found = defaultdict[str, list[HostSpec]](list)
        for host in self.hosts:
            if (pool := self.allocations.hosts.get(host.host)) is not None:
                found[pool].append(host)
        return {pool: tuple(hosts) for pool, hosts in found.items()}

    def failure_domain(self, host: HostSpec) -> str:
        """Return the name of the failure domain of ``host``.

        The failure domain of a host of a rack-scale type is its NVLink domain (its rack), for all values of the
        region's ``failure_domain``.
        """
        return host.domain(self.failure_domain_kind(host.instance_type))

    def failure_domain_kind(self, instance_type: str) -> FailureDomain:
        """Return the kind of failure domain that a rollout group of ``instance_type`` covers.

        The result for an unknown type is the region's ``failure_domain``.
        """
        return self._failure_domain_kinds.get(instance_type, self.region.failure_domain)

    @cached_property
    def _failure_domain_kinds(self) -> Mapping[str, FailureDomain]:
        rack_scale = (kind.name for kind in self.instance_types.instance_types if kind.scale is Scale.RACK)
        return dict.fromkeys(rack_scale, FailureDomain.RACK)

    def chart_inside(self, cluster: str, chart: str) -> str:
        """Return the release of ``chart`` that a cluster installs, pinned or not; empty if the catalogue has none."""
        usual = self.versions.installed(self.region.image_channel).get(chart)
        release = self.image_pins.charts_of(cluster).get(chart, usual)
        return release.version if release else ""
