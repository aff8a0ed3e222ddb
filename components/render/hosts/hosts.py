"""Host as input of the backends: identity, location and owner."""

from components.render import labels as keys
from components.specs.hosts.firmware import Firmware
from components.specs.hosts.instance_types import Architecture
from components.specs.hosts.inventory import HostSpec
from components.specs.hosts.out_of_service import PRODUCTION
from components.specs.hosts.root_device import RootDeviceSpec
from components.specs.struct import Struct


class HostOwner(Struct):
    """Owner of a host."""

    cluster: str
    pool: str
    vpc: str


class PlacedHost(Struct):
    """Host with the properties of its instance type and the assignment in the lock file."""

    host: HostSpec
    failure_domain: str
    dpu_functions: int
    """Number of physical functions of the DPU that are visible to the host."""
    architecture: Architecture
    """Instruction set of the host's CPU."""
    root_device: RootDeviceSpec | None
    """Disk hints of the instance type for images; None without hints."""
    unverified: bool = False
    """Whether the certificate of the BMC is not verified."""
    owner: HostOwner | None
    dpu_cluster: str | None
    """DPU cluster of the host's DPU; None if the region lists no DPU clusters."""
    state: str = PRODUCTION
    """Lifecycle state of the host: ``production``, or a state out of service."""
    why: str | None = None
    """Reason why the host is out of service; None for a host in service."""
    firmware: Firmware | None = None
    """Firmware baseline in the intent of the host's nodes; None without a baseline."""

    @property
    def condition(self) -> dict[str, str]:
        """Return the labels of the host object with its lifecycle state and firmware baseline."""
        return {keys.STATE: self.state, **({} if self.firmware is None else {keys.FIRMWARE: self.firmware.name})}

    @property
    def notes(self) -> dict[str, str]:
        """Return the informational annotations of the host object."""
        return {} if self.why is None else {keys.OUT_OF_SERVICE: self.why}

    @property
    def in_service(self) -> bool:
        """Return whether the host is in service."""
        return self.state == PRODUCTION

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of all objects of the host, with instance type and location."""
        host = self.host
        return {
            keys.INSTANCE_TYPE: host.instance_type,
            keys.HALL: host.hall,
            keys.RACK: host.rack,
            keys.LEAF: host.leaf,
            keys.FAILURE_DOMAIN: self.failure_domain,
        }
