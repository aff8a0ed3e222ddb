"""DPUDeployments: an update of services on the DPUs of one VPC, which waits for the drain of each host."""

from __future__ import annotations

from typing import Any

from components.render.manifest import objects
from components.render.network.tenant_network import TenantNetworkInput
from components.render.region.region import RegionInput

MANY = 100
"""Number of changes of a VPC that may follow each other before all its hosts are drained."""


def deployments(inputs_of: Any) -> list[dict[str, Any]]:
    rendered = (one.render() for kind in (RegionInput, TenantNetworkInput) for one in inputs_of(kind))
    return [item.body["spec"] for items in rendered for item in objects(items) if item.kind == "DPUDeployment"]


def test_held_dpus_of_a_vpc_do_not_count_against_a_limit_of_the_region(inputs_of: Any) -> None:
    effects = [spec["dpus"]["nodeEffect"] for spec in deployments(inputs_of)]

    assert len(effects) > 1
    assert all(effect == {"hold": True, "force": True} for effect in effects)


def test_services_of_dpus_that_are_still_held_survive_many_further_changes(inputs_of: Any) -> None:
    limits = [spec["revisionHistoryLimit"] for spec in deployments(inputs_of)]

    assert min(limits) > MANY
