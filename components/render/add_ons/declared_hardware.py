"""Rule of Node Feature Discovery that verifies the PCI devices of nodes against their instance types.

Node Feature Discovery counts the GPUs, adapters and DPU functions of a node, and adds a label for each instance type of
the cluster whose counts it has. A node without the label of its own type lacks a device, or has another model. A node
with GPUs that is like no type with GPUs of the cluster also gets a taint, so that no pod is scheduled on a host with
seven of eight GPUs. Running pods continue: a device that fails must not evict pods by itself.

Rules cannot read labels, so they do not know the type of a node. A node that lost all GPUs has no taint, and neither
has a node that is like another type. Rules have no CPU model, size of memory or size of disks (NFD:source). Virtual
functions have other device IDs, so only physical functions are counted. Node Feature Discovery removes its taint when
the rule no longer matches, and leaves other taints (NFD:pkg/nfd-master/nfd-master.go, setTaints). Keys of Kubernetes'
domains are not permitted (NFD:pkg/apis/nfd/validate/validate.go).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.hosts.pci_devices import DPUS, GPU_CLASSES, GPUS, NVIDIA
from components.render.manifest import Manifest
from components.render.network.device_plugins import ADAPTERS, VENDOR
from components.render.objects import manifest
from components.specs.add_ons.add_ons import AddOn
from components.specs.health.node_checks import HealthAction
from components.specs.hosts.instance_types import InstanceType
from components.specs.struct import Struct

API, KIND, NAME = "nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule", "declared-hardware"
CHART = "node-feature-discovery"
UNLIKE = f"{keys.HARDWARE}/unlike-any-type"
"""Key of the taint of nodes with GPUs whose devices are not those of any instance type of their cluster."""
_EFFECTS = {HealthAction.NOTIFY: "PreferNoSchedule", HealthAction.QUARANTINE: "NoSchedule"}
_IN = "In"


class _Devices(Struct, kw_only=False):
    """PCI devices that are counted."""

    vendor: str
    device: str | None
    """Device ID; None to count all GPUs of the vendor."""

    @property
    def name(self) -> str:
        """Return the variable with the number of the devices."""
        return f"jacquard-{self.vendor}-{self.device or 'gpus'}"

    @property
    def expressions(self) -> dict[str, Any]:
        """Return the conditions for one device."""
        values: Mapping[str, tuple[str, ...]] = {
            "vendor": (self.vendor,),
            **({"class": GPU_CLASSES} if self.vendor == NVIDIA else {}),
            **({"device": (self.device,)} if self.device else {}),
        }
        return {name: {"op": _IN, "value": [*allowed]} for name, allowed in values.items()}


_EVERY_GPU = _Devices(NVIDIA, None)


def is_verified(add_ons: Iterable[AddOn], kinds: Iterable[InstanceType]) -> bool:
    """Return whether a cluster with ``add_ons`` verifies any of its instance types."""
    return any(entry.chart == CHART for entry in add_ons) and any(map(_counts, kinds))


def declared_hardware(
    cluster: str, kinds: tuple[InstanceType, ...], action: HealthAction | None, *, autoscaling: bool
) -> Iterator[Manifest]:
    """Yield the rule for all instance types of ``cluster``, with ``action`` on nodes unlike them; None has no taint.

    With ``autoscaling``, nodes with GPUs also get the label by which the cluster autoscaler counts GPUs in use.
    """
    counts = {kind.name: counted for kind in kinds if (counted := _counts(kind))}
    with_gpus = [kind.name for kind in kinds if kind.gpu is not None]
    marked = with_gpus if autoscaling else ()
    tainted = _EFFECTS.get(action) if action and with_gpus else None
    devices = dict.fromkeys(device for counted in counts.values() for device in counted)
    if tainted:
        devices |= {_EVERY_GPU: None}
    rules = [*map(_count, devices), *(_type(name, counted, marked=name in marked) for name, counted in counts.items())]
    if tainted:
        rules.append(_unlike(with_gpus, tainted))
    yield manifest(API, KIND, NAME, cluster=cluster, spec={"rules": rules})


def label(kind: str) -> str:
    """Return the key of the label of nodes with the hardware of an instance type."""
    return f"{keys.HARDWARE}/{kind}"


def _counts(kind: InstanceType) -> dict[_Devices, int]:
    """Return the number of devices of a type, for devices whose PCI IDs are known."""
    counts = {}
    if kind.gpu is not None:
        counts[_Devices(NVIDIA, GPUS.get(kind.gpu.model))] = kind.gpu.count
    ports = kind.infiniband_ports or kind.roce_ports
    if kind.nics is not None and ports and kind.nics.model in ADAPTERS:
        counts[_Devices(VENDOR, ADAPTERS[kind.nics.model])] = ports
    if kind.dpu.model in DPUS:
        counts[_Devices(VENDOR, DPUS[kind.dpu.model])] = kind.dpu.host_functions
    return counts


def _count(devices: _Devices) -> dict[str, Any]:
    return {
        "name": f"number of {devices.vendor}:{devices.device or 'GPUs'}",
        "varsTemplate": f"{devices.name}={{{{ .pci.device | len }}}}",
        "matchFeatures": [{"feature": "pci.device", "matchExpressions": devices.expressions}],
    }


def _type(name: str, counts: Mapping[_Devices, int], *, marked: bool) -> dict[str, Any]:
    expected = {devices.name: {"op": _IN, "value": [str(number)]} for devices, number in counts.items()}
    return {
        "name": f"hardware of {name}",
        "labels": {label(name): keys.AS_DECLARED, **({keys.ACCELERATOR: name} if marked else {})},
        "matchFeatures": [{"feature": "rule.matched", "matchExpressions": expected}],
    }


def _unlike(with_gpus: Iterable[str], effect: str) -> dict[str, Any]:
    like_none = {label(name): {"op": "DoesNotExist"} for name in with_gpus}
    return {
        "name": "GPUs unlike any instance type",
        "taints": [{"key": UNLIKE, "effect": effect}],
        "matchFeatures": [
            {"feature": "rule.matched", "matchExpressions": {_EVERY_GPU.name: {"op": "Exists"}, **like_none}}
        ],
    }
