"""Number of VMs of a size that fit on a node, from its kubelet and kernel settings."""

from __future__ import annotations

from typing import Any

import pytest

from components.intents.vm_nodes import Setup
from components.intents.vm_room import vms_on
from components.specs.hosts.instance_types import InstanceType
from components.specs.pools.huge_pages import PageSize, reserved
from components.specs.vms.vm_sizes import VmSizeSpec

GI = 1 << 30
DPU = {"model": "bluefield-3", "host_functions": 2, "virtual_functions": 16, "interface": "enp1s0f0np0"}
KIND = InstanceType.model_validate(
    {"name": "any", "cpu_model": "any", "cpus": 64, "memory": "512Gi", "dpu": DPU, "nvme_disks": 0, "nodes_per_rack": 1}
)


def size(**fields: Any) -> VmSizeSpec:
    return VmSizeSpec.model_validate({"name": "one", "cpus": 15, "memory": "100Gi", **fields})


def setup(**fields: Any) -> Setup:
    plain = {"image": "any", "gives_cpus": False, "kept_cpus": 0, "aligns": False, "pages": ()}
    return Setup(**(plain | fields))


@pytest.mark.parametrize(
    ("asked", "found", "expected"),
    [
        ({}, {}, 4),
        ({}, {"kept_cpus": 8}, 4),
        ({}, {"pages": ((PageSize.GIGABYTE, 256 * GI),)}, 2),
        ({"dedicated_cpus": True}, {}, 0),
        ({"dedicated_cpus": True}, {"gives_cpus": True}, 4),
        ({"dedicated_cpus": True}, {"gives_cpus": True, "kept_cpus": 8}, 3),
        ({"dedicated_cpus": True, "emulator_cpu": True}, {"gives_cpus": True, "kept_cpus": 1}, 3),
        ({"huge_pages": "1Gi"}, {"pages": ((PageSize.GIGABYTE, 256 * GI),)}, 2),
        ({"huge_pages": "2Mi"}, {"pages": ((PageSize.GIGABYTE, 256 * GI),)}, 0),
        ({"huge_pages": "1Gi", "dedicated_cpus": True, "numa": True}, {"gives_cpus": True}, 0),
    ],
)
def test_a_node_runs_as_many_vms_as_its_settings_permit(
    asked: dict[str, Any], found: dict[str, Any], expected: int
) -> None:
    assert vms_on(KIND, size(**asked), setup(**found)) == expected


@pytest.mark.parametrize(
    ("disks", "expected"),
    [
        ({}, 4),
        ({"kubelet_disk_size": "800Gi"}, 1),
        ({"kubelet_disk_size": "2Ti", "root_device": {"min_size": "800Gi"}}, 3),
        ({"root_device": {"min_size": "800Gi"}}, 1),
        ({"nvme_disks": 8, "nvme_disk_size": "7Ti", "kubelet_disk_size": "800Gi"}, 1),
    ],
)
def test_root_disks_are_counted_on_the_file_system_of_the_kubelet(disks: dict[str, Any], expected: int) -> None:
    kind = InstanceType.model_validate(KIND.model_dump(mode="json", exclude_defaults=True) | disks)

    assert vms_on(kind, size()) == expected


def test_all_missing_settings_are_reported_together() -> None:
    asked = size(dedicated_cpus=True, numa=True, huge_pages="1Gi")

    assert list(setup().lacks(KIND, asked)) == [
        "cpu_manager_policy: static",
        "topology_manager_policy: restricted",
        "100Gi of memory in huge pages of 1Gi",
    ]
    tight = setup(gives_cpus=True, kept_cpus=50, pages=((PageSize.MEGABYTES, 500 * GI),))
    assert list(tight.lacks(KIND, size(dedicated_cpus=True))) == [
        "15 CPUs in addition to 50 of reserved_cpu",
        "100Gi of memory outside huge pages",
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("hugepagesz=1G", {}),
        ("hugepagesz=1G hugepages=4", {PageSize.GIGABYTE: 4 * GI}),
        ("hugepages=512", {PageSize.MEGABYTES: GI}),
        ("default_hugepagesz=1G hugepages=2", {PageSize.GIGABYTE: 2 * GI}),
        (
            "hugepagesz=1G hugepages=0:3,1:1 hugepagesz=2M hugepages=512",
            {PageSize.GIGABYTE: 4 * GI, PageSize.MEGABYTES: GI},
        ),
        ("hugepagesz=512M hugepages=4", {}),
    ],
)
def test_huge_pages_are_counted_as_the_kernel_does(arguments: str, expected: dict[PageSize, int]) -> None:
    assert dict(reserved(arguments.split())) == expected
