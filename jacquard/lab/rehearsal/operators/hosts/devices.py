"""Devices of the machine behind a Node, as its operating system finds them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from jacquard.lab.rehearsal.operators.hosts.bare_metal import HOST
from jacquard.lab.rehearsal.operators.hosts.machines import DEVICES, Machines
from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.providers.kube.objects import dig

_GPU_CLASS = "0302"


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """PCI devices of a machine, and the possible partitions of its GPUs."""

    pci: Sequence[Object]
    """Class, vendor and device ID of PCI devices, with their ``count``."""
    mig: Mapping[str, int]
    """Number of instances of each MIG profile on one GPU."""

    @property
    def gpus(self) -> int:
        """Return the number of GPUs."""
        return sum(item["count"] for item in self.pci if item["class"] == _GPU_CLASS)


Found: TypeAlias = Callable[[], Devices | None]
"""Returns the devices of a node; None for a machine that is not in the inventory."""


def devices_of(machines: Machines, management: View, node: Object) -> Devices | None:
    """Return the devices of a Node; None for a machine that is not in the inventory, and without Metal3."""
    scheme, _, path = str(dig(node, "spec", "providerID") or "").partition("://")
    namespace, _, name = path.rpartition("/")[0].partition("/")
    host = management.find(*HOST, name, namespace) if scheme == "metal3" else None
    machine = machines.machine_of(host) if host else None
    return Devices(**machine[DEVICES]) if machine else None
