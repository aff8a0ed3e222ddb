"""Quotas of the management cluster's namespaces, compared with their workloads."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.manifest import objects
from tests.support.data.environment_data import REFERENCES, reference


@pytest.mark.parametrize("name", REFERENCES)
def test_a_quota_has_room_for_a_control_plane_during_its_replacement(name: str) -> None:
    environment = reference(name)
    items = objects(everything(environment))
    quotas = {item.namespace: item.body["spec"]["hard"] for item in items if item.kind == "ResourceQuota"}
    planes = [item for item in items if item.kind == "KamajiControlPlane"]
    for plane in planes:
        spec, quota = plane.body["spec"], quotas[plane.namespace]
        containers = (*(spec[part] for part in ("apiServer", "controllerManager", "scheduler")), konnectivity(spec))
        parts = [container["resources"]["requests"] for container in containers]
        cpu = 2 * spec["replicas"] * sum(int(one["cpu"].removesuffix("m")) for one in parts)
        memory = 2 * spec["replicas"] * sum(int(one["memory"].removesuffix("Mi")) for one in parts)
        assert cpu < 1000 * int(quota["requests.cpu"])
        assert memory < int(quota["requests.memory"].removesuffix("Mi"))
        assert int(quota["pods"]) > 2 * spec["replicas"]


def konnectivity(spec: Any) -> Any:
    return spec["addons"]["konnectivity"]["server"]
