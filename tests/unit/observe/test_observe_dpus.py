"""Status of DPUs, from DPF objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from components.intents.dpus import ordered_dpus
from components.render.network.dpu_templates import templates
from components.specs.environment import Environment
from jacquard.observe.dpu_status import DpuDeploymentStatus
from jacquard.observe.observation import Observation
from jacquard.observe.region_status import assemble
from tests.support.objects.backend_objects import conditions
from tests.support.objects.settled_region import settled_region

Object = dict[str, Any]


def found(laptop: Environment, seen: Observation, name: str = "acme") -> DpuDeploymentStatus:
    [one] = [item for item in assemble(laptop, seen).dpu_deployments if item.deployment == name]
    return one


def get(seen: Observation, kind: str, name: str) -> Object:
    return next(body for body in seen.of(kind) if body["metadata"]["name"] == name)


def test_dpus_are_counted_by_deployment_and_flash_inputs(laptop: Environment, seen: Observation) -> None:
    pins, total = laptop.image_pins, ordered_dpus(laptop)

    for key, intent in pins.dpus.items():
        made = templates(pins.dpu_intents[intent])
        assert found(laptop, seen, key.partition("/")[2]) == DpuDeploymentStatus(
            deployment=key.partition("/")[2],
            total=total[key],
            images={made.bfb_name: total[key]},
            flavors={made.flavor_name: total[key]},
            settled=True,
            why=[],
        )
    assert sum(total.values()) == len(laptop.hosts)


def change(kind: str, name: str, **part: Any) -> Callable[[Observation], None]:
    """Return a function that merges ``part`` into sections of an object."""

    def apply(seen: Observation) -> None:
        body = get(seen, kind, name)
        for section, values in part.items():
            body[section].update(values)

    return apply


UNSETTLED: dict[str, tuple[Callable[[Observation], None], str]] = {
    "no deployment": (
        lambda seen: seen.of("DPUDeployment").remove(get(seen, "DPUDeployment", "acme")),
        "its DPUDeployment does not exist",
    ),
    "a change that DPF has not seen": (
        change("DPUDeployment", "acme", metadata={"generation": 2}),
        "DPF has not observed the last change yet",
    ),
    "a DPU that is missing": (
        lambda seen: seen.of("DPU").remove(get(seen, "DPU", "acme-0")),
        "19 DPUs exist, the data declares 20",
    ),
    "a DPU that goes": (
        change("DPU", "acme-0", metadata={"deletionTimestamp": "2026-11-21T09:00:00Z"}),
        "19 DPUs exist, the data declares 20",
    ),
    "a DPU of another deployment": (
        change("DPU", "acme-0", metadata={"labels": {}}),
        "19 DPUs exist, the data declares 20",
    ),
    "another BFB": (change("DPU", "acme-0", spec={"bfb": "bfb-2.9.2"}), "1 of 20 DPUs do not run {flashed}"),
    "another flavor": (change("DPU", "acme-0", spec={"dpuFlavor": "of-before"}), "1 of 20 DPUs do not run {flashed}"),
    "a DPU that is held": (
        change("DPU", "acme-0", status={"phase": "Node Effect"}),
        "1 of 20 DPUs are in phase Node Effect",
    ),
    "a DPU that nobody looked at": (
        change("DPU", "acme-0", status={"phase": None}),
        "1 of 20 DPUs are in phase unknown",
    ),
    "a DPU whose services do not run": (
        change("DPU", "acme-0", status={"operationalConditions": conditions(OperationalReady="False")}),
        "1 of 20 DPUs are not OperationalReady",
    ),
    "services that are not ready": (
        change(
            "DPUDeployment",
            "acme",
            status={"conditions": [{"type": "Ready", "status": "False", "message": "DPUServicesReady"}]},
        ),
        "condition Ready is False: DPUServicesReady",
    ),
    "conditions that are not written yet": (
        change("DPUDeployment", "acme", status={"conditions": None}),
        "condition Ready is not set: no reason reported",
    ),
}


@pytest.mark.parametrize("case", UNSETTLED)
def test_dpus_are_not_settled_with(laptop: Environment, seen: Observation, case: str) -> None:
    spoil, why = UNSETTLED[case]
    spoil(seen)
    made = templates(laptop.image_pins.dpu_intents[laptop.image_pins.dpus["dpus/acme"]])
    flashed = f"{made.bfb_name} with {made.flavor_name}; delete a DPU to reflash it"

    status = assemble(laptop, seen)

    assert (found(laptop, seen).settled, found(laptop, seen).why) == (False, [why.format(flashed=flashed)])
    # The maintenance hold is released externally, so it is not awaited.
    assert status.settled


def test_a_region_without_dpf_has_no_dpus(south: Environment) -> None:
    assert assemble(south, settled_region(south)).dpu_deployments == []
