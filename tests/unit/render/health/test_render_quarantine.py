"""Node taints by condition, and the changes of rules that other data cause."""

from __future__ import annotations

from typing import Any

import pytest

from components.lookups.health.node_checks import checks_by_type
from components.render.health.quarantine import rules
from components.render.manifest import objects
from components.specs.environment import Environment
from components.specs.health.node_checks import HealthAction, HealthCatalog, HealthOverride
from components.specs.reading.loader import load_environment
from jacquard.machine import paths


@pytest.fixture(scope="module")
def region() -> Environment:
    return load_environment("us-east-04a", paths.ROOT / "environments")


def specs(environment: Environment, *kinds: str) -> dict[str, dict[str, Any]]:
    made = objects(tuple(rules("c", "node-readiness", checks_by_type(environment, kinds))))
    return {item.name: dict(item.body["spec"]) for item in made}


def overridden(environment: Environment, **fields: Any) -> Environment:
    override = HealthOverride(reason="a test", **fields)
    return environment.model_copy(update={"health": HealthCatalog(schema_version=1, health_overrides=(override,))})


def test_hard_faults_evict_pods_and_soft_faults_only_block_new_ones(region: Environment) -> None:
    evict, keep = sorted(specs(region, "h100-ib-8").values(), key=lambda spec: str(spec["taint"]["effect"]))

    assert evict["taint"] == {"key": "readiness.k8s.io/repair", "effect": "NoExecute"}
    assert [one["type"] for one in evict["conditions"]] == [
        "GpuLost",
        "GpuRebootRequired",
        "NvswitchFailed",
        "RebootRequested",
    ]
    assert keep["taint"] == {"key": "readiness.k8s.io/quarantine", "effect": "NoSchedule"}
    assert "NicFailed" in [one["type"] for one in keep["conditions"]]
    for spec in (evict, keep):
        assert spec["enforcementMode"] == "continuous"
        assert {(one["requiredStatus"], one["defaultStatus"]) for one in spec["conditions"]} == {("False", "False")}


def test_types_with_the_same_conditions_share_a_rule_and_each_node_has_one_of_each_taint(region: Environment) -> None:
    kinds = ("h100-ib-8", "h200-ib-8", "cpu-gen4", "gb200-nvl72")
    found = specs(region, *kinds)
    chosen = [
        (spec["taint"]["effect"], kind)
        for spec in found.values()
        for kind in spec["nodeSelector"]["matchExpressions"][0]["values"]
    ]

    assert sorted(chosen) == sorted({*chosen})  # Upstream rejects two rules with the same taint for a node.
    assert {kind for effect, kind in chosen if effect == "NoSchedule"} == {*kinds}
    assert {kind for effect, kind in chosen if effect == "NoExecute"} == {*kinds}
    assert len(found) == 5


def test_a_changed_rule_is_another_object(region: Environment) -> None:
    before = specs(region, "h100-ib-8")
    after = specs(overridden(region, check="gpu-lost", action=HealthAction.NOTIFY), "h100-ib-8")

    assert len(before.keys() & after.keys()) == 1
    assert all(before[name] == after[name] for name in before.keys() & after.keys())
    assert "GpuLost" not in str(after)


def test_an_override_of_one_type_does_not_affect_the_others(region: Environment) -> None:
    changed = overridden(region, check="nic-failed", instance_types=("cpu-gen4",), action=HealthAction.NOTIFY)

    assert specs(changed, "h100-ib-8") == specs(region, "h100-ib-8")
    assert "NicFailed" not in str(specs(changed, "cpu-gen4"))
