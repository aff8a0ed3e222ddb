"""The rule about checks of GPUs judges a Slurm cluster only if all its pools are declared."""

from __future__ import annotations

from typing import Any

import pytest

from components.rules.workloads.slurm import gpu_check

GLOBEX = "tenants/globex.yaml"
SLURM = "slurm: {partitions: [{name: main, pools: [lab]}], gpu_check: true, controller: {storage_class: shared-vast}}"


@pytest.mark.parametrize(
    ("kind", "pools", "reported"),
    [
        ("cpu-gen4", "[lab]", ["clusters[0].slurm.gpu_check"]),
        ("cpu-gen9", "[lab]", []),
        ("cpu-gen4", "[lab, labs]", []),
    ],
)
def test_a_pool_that_is_not_declared_may_have_gpus(laptop: Any, kind: str, pools: str, reported: list[str]) -> None:
    laptop.edit(GLOBEX, "    add_ons:", f"    {SLURM.replace('[lab]', pools)}\n    add_ons:")
    laptop.edit(GLOBEX, "lab, instance_type: h100-ib-8", f"lab, instance_type: {kind}")

    assert [problem.path for problem in gpu_check(laptop.load())] == reported
