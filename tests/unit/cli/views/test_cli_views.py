"""Exact text of the views, without colour, on a narrow and on a usual terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.specs.environment import Environment
from components.specs.struct import replace
from jacquard.cli.console import plural, seconds
from jacquard.cli.views import summary
from jacquard.cli.views.region import status as status_view
from jacquard.machine import paths
from tests.support.objects.status_example import CLUSTER, STATUS, TRAIN, console, text

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

Pinned charts
chart   cluster     version
cilium  acme-train  1.20.1   as pinned

Helm releases
cluster     ready
acme-train  1/1
management  1/1

Slices
slice        commit
inventory-a  555555555555  applied
tenant-acme  555555555555  failed: VPC acme is refused

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

laptop: settled, everything matches the data
"""


@pytest.mark.parametrize("width", [80, 120])
def test_a_settled_region_fits_a_narrow_terminal_and_looks_the_same_on_a_wide_one(width: int) -> None:
    screen = console(width)
    status_view.show(screen, STATUS)

    assert text(screen) == SHOWN


def test_unreconciled_objects_are_shown_with_reasons() -> None:
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

    assert "acme-train  acme    v1.34.9 -> v1.35.2  10.3.0.1:6443  not ready, unreachable" in lines
    assert "acme-train/train  3/5    2/5      h100-ib-8      gpu-2026.10.2 (3), gpu-2026.11.1 (2)" in lines
    assert "shared-nfs  acme-train  nfs     missing" in lines
    assert "acme-train/bastion  cpu-4  debian-13  -          -        not checked" in lines
    assert lines[-14:] == [
        "laptop: not settled",
        *(f"  reason {number}" for number in range(12)),
        "  and 2 more (--format json lists all)",
    ]


def test_dpus_that_differ_from_their_pins_are_shown_without_being_awaited() -> None:
    why = "2 of 8 DPUs are in phase Node Effect"
    images = {"bfb-2.9.2": 6, "bfb-3.2.0": 2}
    waiting = replace(
        STATUS, dpu_deployments=[replace(STATUS.dpu_deployments[0], settled=False, images=images, why=[why])]
    )
    screen = console()
    status_view.show(screen, waiting)
    lines = text(screen).splitlines()

    assert f"acme           8     bfb-2.9.2 (6), bfb-3.2.0 (2)  {why}" in lines
    assert lines[-1] == "laptop: settled, everything matches the data, except the DPUs of 1 DPUDeployment"


def test_an_unsettled_chart_is_shown_with_its_reason() -> None:
    why = "Flux has not installed the pinned version yet"
    screen = console()
    status_view.show(screen, replace(STATUS, charts=[replace(STATUS.charts[0], settled=False, why=[why])]))

    assert f"cilium  acme-train  1.20.1   {why}" in text(screen).splitlines()


def test_a_release_that_is_not_ready_has_a_reason() -> None:
    failed = replace(STATUS.releases[0], ready=False, why="is not ready: timed out")
    screen = console()
    status_view.show(screen, replace(STATUS, releases=[failed, *STATUS.releases[1:]]))

    assert "acme-train  0/1    cilium is not ready: timed out" in text(screen).splitlines()


def test_the_summary_shows_changes_duration_and_next_steps(
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


def test_the_summary_has_the_addresses_of_the_monitoring(laptop: Environment) -> None:
    screen = console()
    summary.show(screen, laptop, STATUS, {}, {"region": 2.0}, "alerts: http://127.0.0.1:1/alerts\nnotices: /x/notices")

    assert "time: 2.0 s (region 2.0 s)\nalerts: http://127.0.0.1:1/alerts\nnotices: /x/notices\n\nTry next" in text(
        screen
    )


def test_a_summary_without_changes_says_no_changes(laptop: Environment) -> None:
    screen = console()
    summary.show(screen, laptop, STATUS, {"laptop.bootstrap": {}, "laptop": {}}, {"region": 2.0})

    assert "laptop: no changes, 1 of 1 cluster and 5 of 5 nodes ready\n" in text(screen)


def test_an_up_that_times_out_names_the_unready_objects() -> None:
    hanging = replace(STATUS, settled=False, why=[f"reason {number}" for number in range(14)])

    assert summary.unsettled(hanging, 600) == "\n".join(
        [
            "laptop is applied, but not settled after 10 min 00 s",
            *(f"  reason {number}" for number in range(12)),
            "  and 2 more",
            "check again with: jacquard status laptop",
        ]
    )


@pytest.mark.parametrize(
    ("duration", "words"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (9.96, "10 s"), (59.4, "59 s"), (59.6, "1 min 00 s")]
)
def test_durations_read_well(duration: float, words: str) -> None:
    assert seconds(duration) == words


def test_one_is_not_many() -> None:
    assert (plural(1, "policy", "policies"), plural(2, "policy", "policies")) == ("1 policy", "2 policies")
