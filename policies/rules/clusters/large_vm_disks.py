"""large-vm-disks: a VM with a large root disk or many volumes.

Why: the root disk is a clone of the golden volume of its image, so its whole size is written for each VM where the
storage driver cannot clone. Each volume is attached before the VM starts, and delays its start and its migration.

Reported: a root disk above 500Gi, and more than 4 volumes in addition to the root disk and the user data.
Rejected: nothing, unless `policy.yaml` makes the policy mandatory.
Correct: a root disk for the system only, and one large volume for data.
"""

import re
from typing import Any

from components.specs.base import QUANTITY, bytes_of
from components.specs.region.policy import RuleId
from components.specs.vms.vm_offering import ROOT
from components.specs.vms.vm_sizes import MOST_ROOT
from policies.facts import Context, Fact, contains_unknown
from policies.parameters import limit
from policies.rules.clusters.unsized_vm import SPECS
from policies.verdict import PASS, Finding, advisory, listed, undecided, violation

MOST_VOLUMES = 4
_MOST_GIB = bytes_of(MOST_ROOT) >> 30
_VOLUMES, _ROOT_GIB = "volumes", "root_disk_gib"
_SOURCES = ("dataVolume", "persistentVolumeClaim", "emptyDisk", "ephemeral", "hostDisk", "containerDisk")


def find(fact: Fact, context: Context) -> Finding:
    """Check the size of a VM's root disk and the number of its other volumes."""
    spec = SPECS[str(fact.kind)]
    templates, volumes = fact.at(*spec, "dataVolumeTemplates"), fact.at(*spec, "template", "spec", "volumes")
    if contains_unknown(volumes) or contains_unknown(templates):
        return undecided("a volume of the VM")
    disks = [volume for volume in volumes or () if any(source in volume for source in _SOURCES)]
    others = [volume for volume in disks if volume["name"] != ROOT]
    root: Any = next((volume for volume in disks if volume["name"] == ROOT), {})
    size = _size(templates or (), (root.get("dataVolume") or {}).get("name"))
    most_gib = context.limits.get((RuleId.LARGE_VM_DISKS, _ROOT_GIB), _MOST_GIB)
    most_volumes = context.limits.get((RuleId.LARGE_VM_DISKS, _VOLUMES), MOST_VOLUMES)
    found = [f"a root disk of {size}"] if size and bytes_of(size) > most_gib << 30 else []
    found += [f"{len(others)} volumes"] if len(others) > most_volumes else []
    if not found:
        return PASS
    return violation(
        found=listed(found),
        allowed=f"a root disk of at most {most_gib}Gi, and at most {most_volumes} volumes",
        fix="keep only the system on the root disk, and merge volumes",
    )


def _size(templates: Any, name: str | None) -> str:
    """Return the size of the volume ``name``; empty if it is not created with the VM, or not in a binary unit."""
    template: Any = next((item for item in templates if item["metadata"]["name"] == name), {})
    size = str(Fact(kind="", title="", body=template).at("spec", "storage", "resources", "requests", "storage"))
    return size if re.fullmatch(QUANTITY, size) else ""


RULE = advisory(
    RuleId.LARGE_VM_DISKS,
    description="A VM has a root disk of at most 500Gi and at most 4 volumes.",
    why="large clones and many volumes delay the start and the migration of the VM",
    kinds=SPECS,
    find=find,
    parameters=(
        limit(RuleId.LARGE_VM_DISKS, _ROOT_GIB, _MOST_GIB, "Size of root disks in GiB"),
        limit(RuleId.LARGE_VM_DISKS, _VOLUMES, MOST_VOLUMES, "Number of volumes in addition to the root disk"),
    ),
)
