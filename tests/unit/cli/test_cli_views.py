"""What a person sees, to the letter, without colour, on a narrow and on a usual terminal."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from cli.console import plural, seconds
from cli.views import status as status_view
from cli.views import summary
from cli.views.progress import phase
from components.specs.environment import Environment
from engine.events import Progress
from observe.dpu_status import DpuDeploymentStatus
from observe.pool_status import Group, Pool
from observe.region_status import ControlPlane, Offering, RegionStatus, StorageClass, Vm, Vpc
from toolchain import paths

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
SHOWN = """\
Clusters
cluster     tenant  version  endpoint       control plane
acme-train  acme    v1.35.2  10.3.0.1:6443  ready

Node pools
pool              nodes  updated  instance type  image
acme-train/train  5/5    5/5      h100-ib-8      gpu-2026.10.2

Hardware
kind   total  states
hosts  8      5 provisioned, 3 available
DPUs   8      8 Ready

DPUs
DPUDeployment  DPUs  BFB
acme           8     bfb-3.2.0  as pinned

Networks
VPC   tenant  isolation  VNI    hosts          pods          egress
acme  acme    dpf-hbn    10000  10.65.16.0/24  10.64.0.0/16  public

Storage classes
class        cluster     driver
shared-nfs   acme-train  nfs
shared-vast  acme-train  vast    default

VM offerings
cluster     sizes          images
acme-train  cpu-4, cpu-16  debian-13

Virtual machines
VM                  size   image      public IP    volumes   state
acme-train/bastion  cpu-4  debian-13  203.0.113.1  1 volume  Running

laptop: settled, everything is as ordered
"""


def console(width: int = 120) -> Console:
    return Console(file=io.StringIO(), width=width)


def text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


@pytest.mark.parametrize("width", [80, 120])
def test_a_settled_region_fits_a_narrow_terminal_and_looks_the_same_on_a_wide_one(width: int) -> None:
    screen = console(width)
    status_view.show(screen, STATUS)

    assert text(screen) == SHOWN


def test_what_is_not_as_ordered_is_told_with_its_reasons() -> None:
    broken = replace(
        STATUS,
        settled=False,
        why=[f"reason {number}" for number in range(14)],
        clusters=[replace(CLUSTER, ready=False, reachable=False, running_version="v1.34.9")],
        pools=[replace(TRAIN, ready=3, updated=2, images={"gpu-2026.10.2": 3, "gpu-2026.11.1": 2})],
        storage_classes=[replace(STATUS.storage_classes[0], present=False)],
        vms=[replace(STATUS.vms[0], state=None, public_ip=None, volumes=[])],
    )
    screen = console()
    status_view.show(screen, broken)
    lines = text(screen).splitlines()

    assert "acme-train  acme    v1.34.9 -> v1.35.2  10.3.0.1:6443  not ready, does not answer" in lines
    assert "acme-train/train  3/5    2/5      h100-ib-8      gpu-2026.10.2 (3), gpu-2026.11.1 (2)" in lines
    assert "shared-nfs  acme-train  nfs     missing" in lines
    assert "acme-train/bastion  cpu-4  debian-13  -          -        not checked" in lines
    assert lines[-14:] == [
        "laptop: not settled",
        *(f"  reason {number}" for number in range(12)),
        "  and 2 more (--format json has all)",
    ]


def test_dpus_that_are_not_as_pinned_are_told_though_nobody_waits_for_them() -> None:
    why = "2 of 8 DPUs are in phase Node Effect"
    images = {"bfb-2.9.2": 6, "bfb-3.2.0": 2}
    waiting = replace(
        STATUS, dpu_deployments=[replace(STATUS.dpu_deployments[0], settled=False, images=images, why=[why])]
    )
    screen = console()
    status_view.show(screen, waiting)
    lines = text(screen).splitlines()

    assert f"acme           8     bfb-2.9.2 (6), bfb-3.2.0 (2)  {why}" in lines
    assert lines[-1] == "laptop: settled, all but the DPUs of 1 DPUDeployment is as ordered"


def test_the_summary_says_what_was_done_how_long_it_took_and_what_is_next(
    laptop: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(paths.ROOT)
    screen = console(80)
    changes = {"laptop.bootstrap": {"create": 3}, "laptop": {"create": 143, "update": 1}}
    summary.show(screen, laptop, STATUS, changes, {"clusters": 14.2, "region": 61.0, "node pools": 3.14})
    shown = text(screen)

    assert (
        "laptop: 146 created, 1 updated, 1 of 1 cluster and 5 of 5 nodes ready\n"
        "time: 1 min 18 s (clusters 14 s, region 1 min 01 s, node pools 3.1 s)\n"
        "\n"
        "Try next\n"
        '  eval "$(.venv/bin/jacquard env laptop)"'
    ) in shown
    assert "\n  jacquard status laptop " in shown
    assert "  jacquard promote laptop acme-train/" in shown


def test_the_next_commands_name_the_command_as_this_shell_finds_it(
    laptop: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jacquard").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    screen = console()
    summary.show(screen, laptop, STATUS, {}, {})

    assert '  eval "$(jacquard env laptop)" ' in text(screen)


def test_a_summary_of_nothing_done_says_no_changes(laptop: Environment) -> None:
    screen = console()
    summary.show(screen, laptop, STATUS, {"laptop.bootstrap": {}, "laptop": {}}, {"region": 2.0})

    assert "laptop: no changes, 1 of 1 cluster and 5 of 5 nodes ready\n" in text(screen)


def test_an_up_that_waited_in_vain_says_what_hangs() -> None:
    hanging = replace(STATUS, settled=False, why=[f"reason {number}" for number in range(14)])

    assert summary.unsettled(hanging, 600) == "\n".join(
        [
            "laptop is applied, but not settled after 10 min 00 s",
            *(f"  reason {number}" for number in range(12)),
            "  and 2 more",
            "look again with: jacquard status laptop",
        ]
    )


def test_progress_in_a_log_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("cli.views.progress.time.monotonic", lambda: now[0])
    progress = Progress()
    metadata = {"op": "create", "urn": "urn:pulumi:laptop::jacquard::kubernetes:x/v1:DataStore::a"}
    begun = json.dumps({"resourcePreEvent": {"metadata": metadata}})
    progress.see(begun, 101.0)
    screen = console()

    with phase(screen, "region") as shown:
        for now[0] in (101.0, 109.0, 110.0, 111.0, 119.9, 120.0):
            shown.engine(progress, 141, "resources")

    assert text(screen) == (
        "region: begins\n"
        "region: 0 of 141 resources, 10 s, awaited: DataStore a (create, 9.0 s)\n"
        "region: 0 of 141 resources, 20 s, awaited: DataStore a (create, 19 s)\n"
    )


def test_progress_of_node_pools_names_the_groups_that_are_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("cli.views.progress.time.monotonic", lambda: now[0])
    group = replace(GROUP, ready=3, settled=False, why=["3 of 5 nodes ready, 4 machines exist", "no host is free"])
    screen = console()

    with phase(screen, "node pools") as shown:
        now[0] = 110.0
        shown.region(replace(STATUS, settled=False, pools=[replace(TRAIN, ready=3, groups=[group])]))

    assert text(screen) == (
        "node pools: begins\n"
        "node pools: 3 of 5 nodes ready, 10 s, "
        "awaited: acme-train/train a01 (3 of 5 nodes ready, 4 machines exist)\n"
    )


def test_a_phase_in_which_nothing_moves_says_so_each_minute_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("cli.views.progress.time.monotonic", lambda: now[0])
    monkeypatch.setattr("cli.views.progress._LOG_EVERY_SECONDS", 1000.0)
    group = replace(GROUP, settled=False, why=["no host is free"])
    screen = console()

    with phase(screen, "node pools", "'jacquard logs laptop' may tell why") as shown:
        for now[0], ready in ((110.0, 3), (169.0, 3), (171.0, 3), (180.0, 3), (231.0, 3), (250.0, 4), (290.0, 4)):
            shown.region(replace(STATUS, settled=False, pools=[replace(TRAIN, groups=[replace(group, ready=ready)])]))

    assert text(screen) == (
        "node pools: begins\n"
        "node pools: nothing has moved for 1 min 01 s; 'jacquard logs laptop' may tell why\n"
        "node pools: nothing has moved for 2 min 01 s; 'jacquard logs laptop' may tell why\n"
    )


@pytest.mark.parametrize(
    ("duration", "words"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (9.96, "10 s"), (59.4, "59 s"), (59.6, "1 min 00 s")]
)
def test_durations_read_well(duration: float, words: str) -> None:
    assert seconds(duration) == words


def test_one_is_not_many() -> None:
    assert (plural(1, "policy", "policies"), plural(2, "policy", "policies")) == ("1 policy", "2 policies")
