"""PCI devices of known GPU and DPU models, by the names in instance types (PCI ID database, https://pci-ids.ucw.cz).

Models that are not listed are valid: their devices are counted by vendor and class only, or not compared.
`components.render.network.device_plugins` has the devices of network adapters.
"""

from collections.abc import Mapping

NVIDIA = "10de"
GPU_CLASSES = ("0300", "0302")
"""PCI classes of GPUs: VGA controllers and 3D controllers."""
GPUS: Mapping[str, str] = {
    "h100-sxm5-80gb": "2330",
    "h200-sxm5-141gb": "2335",
    "b200-sxm6-180gb": "2901",
    "gb200-186gb": "2941",
    "l40s-48gb": "26b9",
}
"""PCI device ID by model of a GPU, vendor 10de."""
DPUS: Mapping[str, str] = {"bluefield-2": "a2d6", "bluefield-3": "a2dc"}
"""PCI device ID of the functions that a host sees, by model of its DPU, vendor 15b3."""
