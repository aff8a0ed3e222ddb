"""turns-on-fabric."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.specs.environment import Environment
from policies.check import judge
from policies.environment_facts import turns
from policies.facts import Context, object_fact
from policies.rules.clusters.turns_on_fabric import RULE
from policies.verdict import Verdict
from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench

INFER = "nodes: 4\n"
FABRIC = """fabrics:
  - name: ib
    kind: infiniband
    pkeys: 0x1-0x7f
    guids: "0x0002c90300a10000-0x0002c90300a1ffff"
    ufm_secret: ufm
    max_hosts: 40
storage:
"""


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    """Return the data of laptop, with its first tenant on InfiniBand."""
    made = Workbench(copy_data(tmp_path / "environments", "laptop"))
    made.edit("region.yaml", "storage:\n", FABRIC)
    made.edit("tenants/acme.yaml", "egress: public\n", "egress: public\n    fabrics: [ib]\n")
    made.allocate()
    return made


def sharing(bench: Workbench, way: str) -> Environment:
    """Return the region with ``way`` as the GPU sharing of a pool of its first tenant."""
    bench.edit("tenants/acme.yaml", INFER, f"{INFER}        gpu_sharing: {way}\n")
    return bench.load()


def body(api: str = "cluster.x-k8s.io/v1beta2") -> dict[str, Any]:
    return {"apiVersion": api, "kind": "Cluster", "metadata": {"name": "acme-train", "namespace": "acme-train"}}


def test_reports_gpus_without_isolation(bench: Workbench, text: Callable[..., str], now: dt.datetime) -> None:
    environment = sharing(bench, "{time_slices: 4}")

    assert text(RULE, object_fact(body(), "management"), Context.of(environment, now)) == (
        "turns-on-fabric: Cluster acme-train/acme-train in cluster management\n"
        "  found:   pods time-slice GPUs of infer, without memory isolation, on a fabric\n"
        "  allowed: whole GPUs, or MIG devices, on nodes of a fabric\n"
        "  why:     a job across many nodes waits for the pod that shares its GPU\n"
        "  fix:     write gpu_sharing: {mig: ...}, time-slice a pool outside the fabric, or add a waiver for this"
        " cluster\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject Cluster acme-train/acme-train"
    )


def test_check_advises_and_refuses_nothing(bench: Workbench, now: dt.datetime) -> None:
    found = judge(sharing(bench, "{time_slices: 4}"), now)

    assert "turns-on-fabric" in [item.rule.name for item in found.advised]
    assert found.refused == ()


def test_existing_nodes_are_reported_until_they_are_replaced(bench: Workbench) -> None:
    bench.intend(bench.load().image_pins.groups["acme-train/infer/a03"], "gpu_sharing", {"time_slices": 4})

    assert turns(bench.load()) == {"acme-train": ("infer",)}


def test_partitioned_gpus_and_gpus_without_fabric_are_not_reported(bench: Workbench) -> None:
    bench.edit("tenants/globex.yaml", "nodes: 4}\n    storage", "nodes: 4, gpu_sharing: {time_slices: 2}}\n    storage")

    assert turns(sharing(bench, "{mig: 1g.10gb}")) == {}


def test_pools_on_roce_are_reported_too(tmp_path: Path) -> None:
    made = Workbench(copy_data(tmp_path / "environments", "laptop"))
    roce = "roce: {mtu_bytes: 9000, priority: 3, dscp: 26, cnp_dscp: 48}"
    fabric = f"fabrics:\n  - {{name: rail, kind: ethernet, vnis: 1-9, {roce}, max_hosts: 40}}\nstorage:\n"
    made.edit("region.yaml", "storage:\n", fabric)
    made.edit(
        "../catalog/instance_types.yaml", "    infiniband_ports: 8\n    ethernet_ports: 2\n", "    roce_ports: 8\n"
    )
    made.edit("tenants/acme.yaml", "egress: public\n", "egress: public\n    fabrics: [rail]\n")

    assert turns(sharing(made, "{time_slices: 4}")) == {"acme-train": ("infer",)}


def test_clusters_of_another_kind_are_not_evaluated(bench: Workbench, now: dt.datetime) -> None:
    context = Context.of(sharing(bench, "{time_slices: 4}"), now)

    assert RULE.judge(object_fact(body("provisioning.example/v1"), "management"), context).verdict is Verdict.PASS
