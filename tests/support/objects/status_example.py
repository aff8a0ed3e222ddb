"""A small region in the data model of ``jacquard status``, and a console to print it on."""

from __future__ import annotations

import io

from rich.console import Console

from jacquard.observe.chart_status import ChartStatus
from jacquard.observe.dpu_status import DpuDeploymentStatus
from jacquard.observe.pool_status import Group, Pool
from jacquard.observe.region_status import ControlPlane, Offering, RegionStatus, StorageClass, Vm, Vpc
from jacquard.observe.release_status import ReleaseStatus
from jacquard.observe.slice_runs import SliceStatus

GROUP = Group(
    name="acme-train-train-a01",
    failure_domain="a01",
    image="gpu-2026.10.2",
    total=5,
    machines=5,
    ready=5,
    updated=5,
    images={"gpu-2026.10.2": 5},
    fingerprint="f1bea7c0d392c3db",
    settled=True,
    settled_since="2026-11-21T08:00:00Z",
    why=[],
    burn_in=None,
)

TRAIN = Pool(
    cluster="acme-train",
    name="train",
    instance_type="h100-ib-8",
    total=5,
    ready=5,
    updated=5,
    images={"gpu-2026.10.2": 5},
    settled=True,
    groups=[GROUP],
)

CLUSTER = ControlPlane(
    name="acme-train",
    tenant="acme",
    version="v1.35.2",
    running_version="v1.35.2",
    endpoint="10.3.0.1:6443",
    ready=True,
    reachable=True,
)

STATUS = RegionStatus(
    environment="laptop",
    observed_at="2026-11-21T09:00:00+00:00",
    settled=True,
    why=[],
    burn_in=[],
    unreachable={},
    clusters=[CLUSTER],
    pools=[TRAIN],
    hosts={"available": 3, "provisioned": 5},
    dpus={"Ready": 8},
    dpu_deployments=[
        DpuDeploymentStatus(
            deployment="acme",
            total=8,
            images={"bfb-3.2.0": 8},
            flavors={"zero-trust-a": 8},
            settled=True,
            why=[],
        )
    ],
    charts=[
        ChartStatus(
            chart="cilium",
            cluster="acme-train",
            version="1.20.1",
            applied="sha256:c",
            installed="sha256:c",
            settled=True,
            settled_since="2026-11-21T08:00:00+00:00",
            why=[],
        )
    ],
    releases=[
        ReleaseStatus(
            cluster="acme-train", name="cilium", chart="cilium", chart_version="1.20.1", ready=True, why=None
        ),
        ReleaseStatus(
            cluster="management", name="kamaji", chart="kamaji", chart_version="26.4.1", ready=True, why=None
        ),
    ],
    slices=[
        SliceStatus(name="inventory-a", commit="5" * 40, applied_commit="5" * 40, why=None),
        SliceStatus(name="tenant-acme", commit="5" * 40, applied_commit="4" * 40, why="failed: VPC acme is refused"),
    ],
    vpcs=[
        Vpc(
            name="acme",
            tenant="acme",
            isolation="dpf-hbn",
            vni=10000,
            hosts="10.65.16.0/24",
            pods="10.64.0.0/16",
            egress="public",
        )
    ],
    storage_classes=[
        StorageClass(cluster="acme-train", name="shared-nfs", driver="nfs", default=False, present=True),
        StorageClass(cluster="acme-train", name="shared-vast", driver="vast", default=True, present=True),
    ],
    offerings=[Offering(cluster="acme-train", sizes=["cpu-4", "cpu-16"], images=["debian-13"])],
    vms=[
        Vm(
            cluster="acme-train",
            name="bastion",
            size="cpu-4",
            image="debian-13",
            public_ip="203.0.113.1",
            volumes=["home 100Gi shared-vast"],
            state="Running",
        )
    ],
)


def console(width: int = 120) -> Console:
    """Return a console without colour that records its output."""
    return Console(file=io.StringIO(), width=width)


def text(console: Console) -> str:
    """Return the output of a console."""
    assert isinstance(console.file, io.StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())
