"""Spread of control plane and etcd pods over hosts, and disruption budgets for drains."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.control_planes.etcd_upkeep import MadeEtcd
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.region.region import RegionInput
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import replace
from tests.support.objects.rendered_objects import objects_of

HOST = "kubernetes.io/hostname"


def with_hosts(control_plane: HostedControlPlaneInput, hosts: int | None) -> HostedControlPlaneInput:
    store = control_plane.data_store
    return replace(
        control_plane,
        hosts=hosts,
        data_store=replace(store, hosts=hosts) if isinstance(store, MadeEtcd) else store,
    )


def spreads(control_plane: HostedControlPlaneInput) -> dict[str, str]:
    """Return how each object schedules pods that find no separate host."""
    found = {}
    for item in objects_of(control_plane):
        spec = item.body.get("spec", {})
        values = spec.get("values") or spec.get("deployment") or spec
        for one in values.get("topologySpreadConstraints", ()):
            if one["topologyKey"] == HOST:
                found[f"{item.kind} {item.name}"] = one["whenUnsatisfiable"]
    return found


@pytest.mark.parametrize(
    ("hosts", "apart"), [(None, "ScheduleAnyway"), (2, "ScheduleAnyway"), (3, "DoNotSchedule"), (12, "DoNotSchedule")]
)
@pytest.mark.parametrize("backend", ControlPlaneBackend)
def test_no_host_has_two_members_if_there_are_enough_hosts(
    inputs_with: Any, backend: ControlPlaneBackend, hosts: int | None, apart: str
) -> None:
    control_planes = [
        one for one in inputs_with(HostedControlPlaneInput, control_planes=backend) if one.name == "acme-train"
    ]

    [found] = [spreads(with_hosts(one, hosts)) for one in control_planes]

    assert set(found.values()) == {apart}
    assert len(found) == (2 if backend is ControlPlaneBackend.KAMAJI else 1)


@pytest.mark.parametrize("backend", ControlPlaneBackend)
def test_a_drain_evicts_one_member_and_one_api_server_at_a_time(inputs_with: Any, backend: ControlPlaneBackend) -> None:
    [control_plane, small] = inputs_with(HostedControlPlaneInput, control_planes=backend)

    def budgets(one: HostedControlPlaneInput) -> dict[str, dict[str, Any]]:
        return {item.name: item.body["spec"] for item in objects_of(one) if item.kind == "PodDisruptionBudget"}

    found = budgets(control_plane)
    assert found.keys() == {"acme-train-control-plane", "acme-train-etcd"}
    assert {one["maxUnavailable"] for one in found.values()} == {1}
    assert found["acme-train-control-plane"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
    assert "unhealthyPodEvictionPolicy" not in found["acme-train-etcd"]
    alone = small.spec.control_plane.model_copy(update={"replicas": 1})
    single = replace(small, spec=small.spec.model_copy(update={"control_plane": alone}))
    assert f"{small.name}-control-plane" not in budgets(single)


def test_shared_data_stores_and_control_planes_of_dpus_have_budgets_too(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)

    found = {
        (item.namespace, item.name): item.body["spec"]["selector"]["matchLabels"]
        for item in objects_of(region)
        if item.kind == "PodDisruptionBudget"
    }

    assert found == {
        ("data-stores", "shared-a-etcd"): {"app.kubernetes.io/instance": "shared-a-etcd"},
        ("data-stores", "default-etcd"): {"app.kubernetes.io/instance": "default-etcd"},
        ("dpf-operator-system", "dpus-control-plane"): {"kamaji.clastix.io/name": "dpus"},
    }
