"""A host as its backends see it: identity, place, and whose it is."""

from __future__ import annotations

from dataclasses import dataclass

from components.render import labels as keys
from components.specs.hosts.firmware import Firmware
from components.specs.hosts.inventory import HostSpec
from components.specs.hosts.out_of_service import PRODUCTION
from components.specs.hosts.root_device import RootDeviceSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOwner:
    """Whose a host is."""

    cluster: str
    pool: str
    vpc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedHost:
    """A host with what its instance type and the lock file say about it."""

    host: HostSpec
    failure_domain: str
    dpu_functions: int
    """Number of physical functions of its DPU that the host sees."""
    root_device: RootDeviceSpec | None
    """Disk that images are written to, as its instance type says; None where it says nothing."""
    unverified: bool = False
    """Whether its BMC is believed without a certificate."""
    owner: HostOwner | None
    dpu_cluster: str | None
    """DPU cluster that runs the host's DPU; None where the region lists none."""
    state: str = PRODUCTION
    """How far the host is in its life, ``production`` or a reason to be out of service."""
    why: str | None = None
    """Why the host takes no work, for people; None when it does."""
    firmware: Firmware | None = None
    """Firmware that the intent of the host's nodes asks for; None when it asks for none."""

    @property
    def condition(self) -> dict[str, str]:
        """Return what the host's own object says about its life, beside its place."""
        return {keys.STATE: self.state, **({} if self.firmware is None else {keys.FIRMWARE: self.firmware.name})}

    @property
    def notes(self) -> dict[str, str]:
        """Return what the host's own object tells people."""
        return {} if self.why is None else {keys.OUT_OF_SERVICE: self.why}

    @property
    def in_service(self) -> bool:
        """Tell whether the host may take work."""
        return self.state == PRODUCTION

    @property
    def labels(self) -> dict[str, str]:
        """Return what every object of the host says about its place."""
        host = self.host
        return {
            keys.INSTANCE_TYPE: host.instance_type,
            keys.HALL: host.hall,
            keys.RACK: host.rack,
            keys.LEAF: host.leaf,
            keys.FAILURE_DOMAIN: self.failure_domain,
        }
