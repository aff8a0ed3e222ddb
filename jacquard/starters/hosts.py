"""Example hosts of a new region, and the inventory header for real hosts."""

from collections.abc import Iterator

from components.specs.reading.inventory_csv import COLUMNS

HEADER = ",".join(COLUMNS) + "\n"
"""First line of an inventory file."""
MAX_HALLS = 100
"""Maximum number of halls with example hosts: each rack has its own address range in the starter's BMC network."""
_RACKS = (("h100-ib-8", 8), ("cpu-gen4", 4))
"""Instance type and number of hosts of each rack of a hall."""


def example_hosts(hall: str, index: int) -> str:
    """Return an inventory file with two racks of fictional hosts.

    Args:
        hall: name of the hall, which is the prefix of its racks' names.
        index: index of the hall in the region, from 0; halls do not share addresses.
    """
    return HEADER + "".join(f"{row}\n" for row in _rows(hall, index))


def _rows(hall: str, index: int) -> Iterator[str]:
    for number, (kind, size) in enumerate(_RACKS, 1):
        rack, subnet = f"{hall}{number:02}", len(_RACKS) * index + number
        for slot in range(1, size + 1):
            host = f"{rack}-u{slot:02}"
            bmc = f"redfish-virtualmedia+https://10.1.{subnet}.{slot}/redfish/v1/Systems/1"
            mac = f'"02:00:00:00:{subnet:02x}:{slot:02x}"'
            yield f"{rack},{slot},{host},{kind},EXAMPLE-{host},{bmc},bmc-{rack},{mac},EXAMPLE-DPU-{host},leaf-{rack}"
