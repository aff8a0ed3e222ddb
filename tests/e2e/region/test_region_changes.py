"""Sequential changes in a running region: labels, sizes, the first wave of an image, lost state.

The tests run in the order of the file on one region. Changes of different pools share one ``up``. The nightly
``test_region_rollouts.py`` covers later waves and versions of Kubernetes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from jacquard.lab.toolchain.engine import choose
from tests.support.checks.places import resolved
from tests.support.engine.vendor_plugins import vendor_on_path
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion
from tests.support.local_regions.region_contents import POOLS, applied, changed, commit, images, machines
from tests.support.local_regions.region_steps import edited, refused, up

pytestmark = pytest.mark.e2e

ACME, GLOBEX = f"{ENVIRONMENT}/tenants/acme.yaml", f"{ENVIRONMENT}/tenants/globex.yaml"
SYSTEM, TRAIN, _, LAB = POOLS
NEXT_IMAGE = "gpu-2026.11.1"
NEXT_MINOR, NEXT_MINOR_IMAGE = "v1.36.1", "gpu-2026.11.3"
NODE_DOMAIN = "node.cluster.x-k8s.io"
_BOTH_KINDS = pytest.mark.skipif(choose(fetch=False).vendor is not None, reason="the vendor's are the first kind here")


@pytest.fixture
def tracked(running: LocalRegion) -> LocalRegion:
    """The running region, with its data under version control."""
    commit(running)
    return running


def test_labels_and_rollout_settings_change_in_place_while_another_pool_grows(tracked: LocalRegion) -> None:
    before = machines(tracked)
    tracked.edit(ACME, "labels: {workload: training}", "labels: {workload: training, stage: two}")
    tracked.edit(ACME, "strategy: idle, max_unavailable: 1", "strategy: idle, max_unavailable: 60%")
    tracked.edit(ACME, "instance_type: cpu-gen4, nodes: 2}", "instance_type: cpu-gen4, nodes: 4}")
    edited(tracked, "allocate", ENVIRONMENT)

    up(tracked)

    assert changed(before, machines(tracked)) == {f"{SYSTEM}/a04": (0, 2)}
    labelled = tracked.api("acme-train").list("v1", "Node", label_selector=f"{NODE_DOMAIN}/stage=two")
    assert {node["metadata"]["labels"][f"{NODE_DOMAIN}/workload"] for node in labelled} == {"training"}
    assert len(labelled) == 10


def test_a_wave_only_rolls_its_failure_domain_while_another_pool_shrinks(region: LocalRegion) -> None:
    before = machines(region)
    edited(region, "promote", ENVIRONMENT, TRAIN, "--to", NEXT_IMAGE, "--wave", "1")
    region.edit(ACME, "instance_type: cpu-gen4, nodes: 4}", "instance_type: cpu-gen4, nodes: 2}")
    edited(region, "allocate", ENVIRONMENT)

    status = up(region)

    assert changed(before, machines(region)) == {f"{TRAIN}/a01": (5, 5), f"{SYSTEM}/a04": (2, 0)}
    assert images(status)[TRAIN] == {"gpu-2026.10.2": 5, NEXT_IMAGE: 5}


def test_a_wrong_order_of_steps_is_rejected_with_the_required_one(region: LocalRegion) -> None:
    wave = ("promote", ENVIRONMENT, TRAIN, "--to", NEXT_IMAGE, "--wave", "2")
    assert refused(region, *wave).partition(": ")[2] == (
        "there is no evidence that wave 1 is settled; continue with: jacquard status laptop --format json >"
        " evidence.json, then jacquard promote laptop acme-train/train --to gpu-2026.11.1 --wave 2 --evidence"
        " evidence.json"
    )

    region.edit(GLOBEX, "version: v1.35.2", f"version: {NEXT_MINOR}")
    assert refused(region, "promote", ENVIRONMENT, LAB, "--to", NEXT_MINOR_IMAGE).endswith(
        ": image gpu-2026.11.3 has kubelet v1.36.1, newer than control plane v1.35.2; upgrade the control plane first:"
        " jacquard promote laptop globex-lab --to v1.36.1"
    )

    region.edit("catalog/versions.yaml", "v1.36.1]", "v1.36.1, v1.37.0]")
    region.edit("catalog/versions.yaml", "kubernetes: v1.36,", "kubernetes: v1.37,")
    region.edit(GLOBEX, f"version: {NEXT_MINOR}", "version: v1.37.0")
    assert refused(region, "check", ENVIRONMENT).partition(": ")[2] == resolved(
        "v1.37.0 is 2 minor versions above v1.35.2, and control planes are upgraded one minor version at a time; write"
        " v1.36.1 first (running version: images.lock.yaml:<control_planes.globex-lab>)",
        region.environments / ENVIRONMENT,
    )
    region.edit(GLOBEX, "version: v1.37.0", "version: v1.35.2")
    region.edit("catalog/versions.yaml", "v1.36.1, v1.37.0]", "v1.36.1]")
    region.edit("catalog/versions.yaml", "kubernetes: v1.37,", "kubernetes: v1.36,")


@pytest.mark.parametrize("stack", [ENVIRONMENT, f"{ENVIRONMENT}.bootstrap"])
def test_a_plain_destroy_is_refused_before_its_first_step(running: LocalRegion, stack: str) -> None:
    before = applied(running)

    refused = running.pulumi("destroy", "-s", stack, "--yes")

    assert refused.code != 0
    assert f"{stack}::jacquard::jacquard:components:PlugIns::plug-ins" in refused.text
    assert "cannot be deleted" in refused.text
    assert applied(running) == before


@_BOTH_KINDS
def test_other_plug_ins_are_detected_by_jacquard_and_by_plain_pulumi(region: LocalRegion, tmp_path: Path) -> None:
    with vendor_on_path(region, tmp_path):
        refused = region.jacquard("up", ENVIRONMENT)
        plain = region.pulumi("preview", "-s", ENVIRONMENT)

    assert (refused.code, refused.stderr.count("was last written by the stand-ins")) == (5, 1), refused.text
    assert plain.code != 0
    assert f"stack {ENVIRONMENT} was last written by the stand-ins" in plain.text


@pytest.mark.nightly
def test_a_lost_state_is_rebuilt_from_live_objects(tracked: LocalRegion) -> None:
    before = applied(tracked)
    lost = list((tracked.home / "pulumi" / "state" / ".pulumi" / "stacks").rglob(f"{ENVIRONMENT}.*"))
    assert {path.name for path in lost} >= {f"{ENVIRONMENT}.json", f"{ENVIRONMENT}.bootstrap.json"}
    for path in lost:
        path.unlink()

    up(tracked)

    assert applied(tracked) == before
    unchanged = tracked.pulumi("preview", "-s", ENVIRONMENT, "--expect-no-changes")
    assert unchanged.code == 0, unchanged.text


@_BOTH_KINDS
@pytest.mark.nightly
def test_other_plug_ins_take_over_after_confirmation_and_are_detected(tracked: LocalRegion, tmp_path: Path) -> None:
    before = applied(tracked)
    with vendor_on_path(tracked, tmp_path):
        up(tracked, "--migrate-providers", "vendor")
        assert tracked.pulumi("preview", "-s", ENVIRONMENT, "--expect-no-changes").code == 0

    back = tracked.jacquard("preview", ENVIRONMENT)
    assert (back.code, back.stderr.count("was last written by the vendor's plug-ins")) == (5, 1), back.text
    assert applied(tracked) == before

    up(tracked, "--migrate-providers", "stand-in")  # Restore the data for tests of other files.
    assert applied(tracked) == before
