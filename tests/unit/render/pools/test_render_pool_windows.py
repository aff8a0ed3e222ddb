"""Enforced maintenance windows: schedules, jobs, and affected pools."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.manifest import objects
from components.render.pools.pool_windows import PAUSE, closing, opening
from components.specs.environment import Environment
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.pools.nodes import Windows
from components.specs.times import WindowSpec

WEEK = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
CLUSTER = "acme-train"


def window(begin: str, end: str, *days: str, timezone: str = "Europe/Berlin") -> WindowSpec:
    return WindowSpec.model_validate({"days": days or ["tue"], "from": begin, "to": end, "timezone": timezone})


@pytest.mark.parametrize(
    ("hours", "days", "opens", "closes"),
    [
        (("02:00", "06:00"), ["tue", "thu"], "0 2 * * tue,thu", "0 0-1,6-23 * * *"),
        (("02:00", "06:00"), WEEK, "0 2 * * *", "0 0-1,6-23 * * *"),
        (("22:00", "04:00"), ["wed"], "0 22 * * wed", "0 4-21 * * *"),
        (("23:30", "00:15"), ["sun"], "30 23 * * sun", "15 0-23 * * *"),
        (("00:00", "08:00"), ["sat", "sun"], "0 0 * * sat,sun", "0 8-23 * * *"),
        (("02:00", "05:50"), ["mon"], "0 2 * * mon", "50 0-1,5-23 * * *"),
        (("02:00", "05:51"), ["mon"], "0 2 * * mon", "51 0,5-23 * * *"),
        (("00:00", "23:50"), WEEK, "0 0 * * *", "50 23 * * *"),
        (("06:00", "05:50"), ["mon"], "0 6 * * mon", "50 5 * * *"),
        (("05:50", "06:00"), ["fri"], "50 5 * * fri", "0 0-23 * * *"),
    ],
)
def test_a_window_opens_on_its_days_and_is_closed_again_every_hour(
    hours: tuple[str, str], days: list[str], opens: str, closes: str
) -> None:
    found = window(*hours, *days)

    assert (opening(found), closing(found)) == (opens, closes)


def edited(laptop: Environment, windows: Windows, *, kept: bool = True, paused: tuple[str, ...] = ()) -> Environment:
    """Return laptop with a window for acme, or none, and these of its pools paused."""

    def pool(spec: NodePoolSpec) -> NodePoolSpec:
        rollout = spec.rollout.model_copy(update={"paused": spec.name in paused})
        return spec.model_copy(update={"rollout": rollout})

    acme, *others = laptop.tenants
    [cluster] = acme.clusters
    changes = acme.changes.model_copy(update={"window": window("02:00", "06:00") if kept else None})
    cluster = cluster.model_copy(update={"pools": tuple(map(pool, cluster.pools))})
    acme = acme.model_copy(update={"changes": changes, "clusters": (cluster,)})
    nodes = laptop.region.nodes.model_copy(update={"windows": windows})
    region = laptop.region.model_copy(update={"nodes": nodes})
    return laptop.model_copy(update={"region": region, "tenants": (acme, *others)})


def turned(environment: Environment) -> dict[str, list[str]]:
    """Return the MachineDeployments that each cluster's closing job names."""
    every = [item for part in slices(environment) for item in inputs(environment, part)]
    found = {}
    for plane in (item for item in every if isinstance(item, HostedControlPlaneInput)):
        jobs = [item for item in objects(plane.render()) if item.name == PAUSE]
        for item in jobs:
            [container] = item.body["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
            found[plane.name] = [word for word in container["args"][2:] if not word.startswith("--")]
    return found


def test_a_kept_window_binds_the_pools_of_its_tenant_but_those_that_the_tenant_pauses(laptop: Environment) -> None:
    train = ["acme-train-train-a01", "acme-train-train-a02"]
    system, infer = "acme-train-system-a04", "acme-train-infer-a03"

    assert turned(edited(laptop, Windows.ENFORCE)) == {CLUSTER: [infer, system, *train]}
    assert turned(edited(laptop, Windows.ENFORCE, paused=("train",))) == {CLUSTER: [infer, system]}


@pytest.mark.parametrize(
    "change",
    [
        {"windows": Windows.ANNOTATE},
        {"windows": Windows.ENFORCE, "kept": False},
        {"windows": Windows.ENFORCE, "paused": ("system", "train", "infer")},
    ],
)
def test_nothing_is_rendered_without_an_enforced_window(laptop: Environment, change: dict[str, Any]) -> None:
    assert turned(edited(laptop, **change)) == {}
