"""A host as its backends see it: identity, place, and whose it is."""

from __future__ import annotations

from dataclasses import dataclass

from components.render import labels as keys
from components.specs.firmware import FirmwareBaseline
from components.specs.inventory import HostSpec
from components.specs.out_of_service import PRODUCTION


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
    """Physical functions that the host sees of its DPU."""
    owner: HostOwner | None
    dpu_cluster: str | None
    """Which DPU cluster runs its DPU; None where the region lists none."""
    state: str = PRODUCTION
    """How far it is in its life."""
    why: str | None = None
    """Why it takes no work, for people."""
    firmware: FirmwareBaseline | None = None
    """What the image of its pool asks for."""

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
