"""Tests of each node, the end of their Jobs, and the permissions of the program."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.inputs.node_pool import pool_input
from components.lookups.health.node_tests import cluster_tests, library_node_tests, node_tests_of, round_minutes
from components.lookups.pools import PlacedCluster, clusters
from components.programs import node_test_decision
from components.render.health.node_tests import IDLE_FAULT, IDLE_SECONDS, NodeTests
from components.render.health.quarantine import BURN_IN, rules
from components.render.manifest import Manifest, objects
from components.specs.environment import Environment
from components.specs.health.node_tests import MOST_VERIFICATION_MINUTES, NodeTestsSpec, Phase
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.pools.gpu_sharing import GpuSharingSpec
from components.specs.pools.node_pool import BurnIn
from components.specs.pools.nodes import Windows
from components.specs.region.policy import FreezeSpec
from components.specs.region.tenant import ChangesSpec
from tests.support.data.environment_data import reference


def edited(environment: Environment, pool: str, **fields: Any) -> Environment:
    """Return laptop with other fields of a pool of its first cluster; ``burn_in`` is a field of its health."""
    tenant, *others = environment.tenants
    [cluster] = tenant.clusters

    def changed(spec: Any) -> Any:
        if spec.name != pool:
            return spec
        burn_in = fields.pop("burn_in", None)
        health = {"health": spec.health.model_copy(update={"burn_in": burn_in})} if burn_in else {}
        return spec.model_copy(update={**fields, **health})

    other = cluster.model_copy(update={"pools": tuple(map(changed, cluster.pools))})
    tenants = (tenant.model_copy(update={"clusters": (other,)}), *others)
    return environment.model_copy(update={"tenants": tenants})


def first(environment: Environment) -> PlacedCluster:
    return next(placed for placed in clusters(environment) if placed.cluster.name == "acme-train")


def planned(environment: Environment) -> NodeTests:
    found = cluster_tests(environment, first(environment), "node-readiness")
    assert found is not None
    return found


@pytest.fixture
def gated(laptop: Environment) -> NodeTests:
    return planned(edited(laptop, "infer", burn_in=BurnIn.GATED))


def made(tests: NodeTests) -> dict[tuple[str, str], Manifest]:
    return {(item.kind, item.name): item for item in (*tests.in_cluster(), *tests.in_management({}))}


def job(tests: NodeTests, name: str) -> dict[str, Any]:
    return dict(made(tests)["CronJob", name].body["spec"]["jobTemplate"]["spec"])


@pytest.mark.parametrize("name", ["laptop", "us-east-04a", "eu-south-03a"])
def test_each_gpu_type_is_stressed_and_verified_in_time(name: str) -> None:
    for kind in reference(name).instance_types.instance_types:
        verification = node_tests_of(kind, Phase.VERIFICATION)
        assert {"memory", "disk"} <= {test.name for test in node_tests_of(kind, Phase.BURN_IN)}
        assert round_minutes(verification, Phase.VERIFICATION) <= MOST_VERIFICATION_MINUTES
        assert bool(verification) is (kind.gpu is not None)
        fabric = bool(kind.gpu and (kind.infiniband_ports or kind.roce_ports))
        assert ("nccl-fabric" in {test.name for test in verification}) is fabric


def test_names_and_sources_of_tests() -> None:
    names = [test.name for test in library_node_tests()]

    assert len(names) == len({*names})
    assert all(len(test.source) > 10 for test in library_node_tests())


def test_a_burn_in_repeats_all_tests_for_the_hours_in_the_data(gated: NodeTests) -> None:
    spec = job(gated, "infer-burn-in")

    minutes = round_minutes(gated.pools["infer"].burn_in, Phase.BURN_IN)
    assert (spec["completions"] - 1) * minutes < 24 * 60 <= spec["completions"] * minutes
    assert spec["parallelism"] == 1
    assert spec["activeDeadlineSeconds"] > spec["completions"] * spec["template"]["spec"]["activeDeadlineSeconds"]


def test_only_an_exit_code_of_a_test_fails_a_job(gated: NodeTests) -> None:
    spec = job(gated, "infer-verification")

    assert spec["backoffLimit"] == 0
    disrupted, not_started, failed = spec["podFailurePolicy"]["rules"]
    assert (disrupted["action"], disrupted["onPodConditions"][0]["type"]) == ("Count", "DisruptionTarget")
    assert (not_started["action"], not_started["onExitCodes"]) == (
        "Count",
        {"operator": "In", "values": [126, 127, 128]},
    )
    assert (failed["action"], failed["onExitCodes"]) == ("FailJob", {"operator": "NotIn", "values": [0]})


def test_a_pod_uses_all_gpus_and_is_preempted_by_any_other(gated: NodeTests) -> None:
    pod = job(gated, "infer-verification")["template"]["spec"]
    containers = [*pod["initContainers"], *pod["containers"]]

    assert [one["name"] for one in containers] == ["gpu", "nccl", "nccl-fabric", "links"]
    assert {one["resources"]["limits"]["nvidia.com/gpu"] for one in containers} == {8}
    assert all("@sha256:" in one["image"] for one in containers)
    assert (pod["priorityClassName"], pod["terminationGracePeriodSeconds"]) == ("node-tests", 1)
    assert "-g 8 " in containers[1]["command"][-1]
    assert containers[2]["env"] == [
        {"name": "NCCL_P2P_DISABLE", "value": "1"},
        {"name": "NCCL_SHM_DISABLE", "value": "1"},
    ]
    assert "port_rcv_errors" in containers[3]["command"][-1], "the program itself"
    assert [one["name"] for one in containers if one.get("securityContext")] == ["nccl-fabric", "links"]
    labels = job(gated, "infer-verification")["template"]["metadata"]["labels"]
    assert labels == {"jacquard.dev/interruptible": "true"}, "drains of Machines do not wait for the pod"
    priority = made(gated)["PriorityClass", "node-tests"].body
    assert (priority["value"] < -1_000_000_000, priority["preemptionPolicy"]) == (True, "Never")


def test_templates_never_run_by_themselves(gated: NodeTests) -> None:
    templates = [item for (kind, name), item in made(gated).items() if kind == "CronJob" and name != "node-tests"]

    assert {item.name for item in templates} == {"train-verification", "infer-verification", "infer-burn-in"}
    assert {(item.cluster, item.namespace, item.body["spec"]["suspend"]) for item in templates} == {
        ("acme-train", "node-readiness", True)
    }


def test_shared_gpus_and_other_controllers_have_fewer_tests(laptop: Environment) -> None:
    shared = edited(laptop, "infer", burn_in=BurnIn.GATED, gpu_sharing=GpuSharingSpec(time_slices=4))
    pools = planned(shared).pools
    nodes = laptop.region.nodes.model_copy(
        update={"burn_in": laptop.region.nodes.gate.model_copy(update={"set_by": "nico"})}  # type: ignore[union-attr]
    )
    elsewhere = edited(laptop, "infer", burn_in=BurnIn.GATED)
    elsewhere = elsewhere.model_copy(update={"region": laptop.region.model_copy(update={"nodes": nodes})})

    assert [test.name for test in pools["infer"].burn_in] == ["memory", "disk"]
    assert pools["infer"].verification == ()
    assert planned(elsewhere).gated == ()
    assert "infer" in planned(elsewhere).pools


def test_a_region_without_tests_has_none(laptop: Environment) -> None:
    nodes = laptop.region.nodes.model_copy(update={"tests": None})
    untested = laptop.model_copy(update={"region": laptop.region.model_copy(update={"nodes": nodes})})

    assert cluster_tests(untested, first(untested), "node-readiness") is None


def test_the_program_may_read_machines_and_write_their_status_only(gated: NodeTests) -> None:
    found = made(gated)
    pod = found["CronJob", "node-tests"].body["spec"]["jobTemplate"]["spec"]["template"]["spec"]

    assert {
        (resource, *rule["verbs"])
        for rule in found["Role", "node-tests"].body["rules"]
        for resource in rule["resources"]
    } == {
        ("machines", "list"),
        ("machines/status", "patch"),
    }
    assert {"name": "kubeconfig", "secret": {"secretName": "acme-train-kubeconfig"}} in pod["volumes"]
    assert pod["containers"][0]["args"][-2:] == ["/program/settings.json", "/kubeconfig/value"]
    settings = json.loads(found["ConfigMap", "node-tests"].body["data"]["settings.json"])
    assert settings["pools"]["infer"] == {"burn-in": "infer-burn-in", "verification": "infer-verification"}
    assert (settings["gate"], settings["interval_seconds"]) == ("BurnInPassed", 3600)
    assert settings["measures"].keys() == {"nccl", "nccl-fabric"}


def test_new_nodes_of_gated_pools_keep_their_taint_until_the_condition_is_true(gated: NodeTests) -> None:
    rendered = objects(tuple(rules("acme-train", "node-readiness", {}, gated)))
    [rule] = [item for item in rendered if item.kind == "NodeReadinessRule"]

    assert rule.body["spec"]["conditions"] == [{"type": "BurnInPassed", "requiredStatus": "True"}]
    assert rule.body["spec"]["enforcementMode"] == "bootstrap-only"
    assert rule.body["spec"]["taint"] == BURN_IN
    [expression] = rule.body["spec"]["nodeSelector"]["matchExpressions"]
    assert expression == {"key": "node-restriction.kubernetes.io/pool", "operator": "In", "values": ["infer"]}


@pytest.mark.parametrize(
    ("backend", "conditions"),
    [
        (
            BareMetalBackend.METAL3,
            {
                "system": ["RebootWhenIdleRequested"],
                "train": ["GpuResetRequired", "RebootWhenIdleRequested"],
                "infer": ["GpuResetRequired", "RebootWhenIdleRequested"],
            },
        ),
        (BareMetalBackend.IRONCORE_METAL, {}),
    ],
)
def test_idle_nodes_are_remediated_if_a_reboot_is_a_remediation(
    laptop: Environment, backend: BareMetalBackend, conditions: dict[str, list[str]]
) -> None:
    metal = laptop.region.bare_metal.model_copy(update={"backend": backend})
    changed = laptop.model_copy(update={"region": laptop.region.model_copy(update={"bare_metal": metal})})

    settings = json.loads(made(planned(changed))["ConfigMap", "node-tests"].body["data"]["settings.json"])

    assert settings["when_idle"] == conditions


@pytest.mark.parametrize(("tests", "repaired"), [(NodeTestsSpec(), True), (None, False)])
def test_a_health_check_repairs_idle_nodes_with_faults(
    laptop: Environment, tests: NodeTestsSpec | None, *, repaired: bool
) -> None:
    nodes = laptop.region.nodes.model_copy(update={"tests": tests})
    changed = laptop.model_copy(update={"region": laptop.region.model_copy(update={"nodes": nodes})})
    placed = first(changed)

    faults = {pool.name: pool_input(changed, placed, pool).faults for pool in placed.cluster.pools}

    assert {name for name, conditions in faults.items() if IDLE_FAULT in conditions} == (
        {"system", "train", "infer"} if repaired else set()
    )


def test_enforced_windows_and_freezes_delay_remediation_of_idle_nodes(laptop: Environment) -> None:
    window = {"days": ["tue"], "from": "22:00", "to": "05:00", "timezone": "Europe/Rome"}
    freeze = {"name": "quiet", "from": "2026-12-18T00:00:00Z", "to": "2027-01-04T00:00:00Z", "reason": "year end"}
    other = {**freeze, "name": "others", "tenants": ["globex"]}
    changes = ChangesSpec.model_validate({"window": window})
    tenant, *others = laptop.tenants
    policy = laptop.policy.model_copy(
        update={"freezes": tuple(FreezeSpec.model_validate(each) for each in (freeze, other))}
    )
    tenants = (tenant.model_copy(update={"changes": changes}), *others)

    def repairs(windows: Windows) -> Any:
        nodes = laptop.region.nodes.model_copy(update={"windows": windows})
        region = laptop.region.model_copy(update={"nodes": nodes})
        tests = planned(laptop.model_copy(update={"region": region, "tenants": tenants, "policy": policy}))
        found = made(tests)
        roles = [rule["resources"] for rule in found["Role", "node-tests"].body["rules"]]
        settings = json.loads(found["ConfigMap", "node-tests"].body["data"]["settings.json"])
        return settings.get("repairs"), ["metal3remediations"] in roles

    assert repairs(Windows.ANNOTATE) == (None, False)
    times = {"from": "2026-12-18T00:00:00+00:00", "to": "2027-01-04T00:00:00+00:00"}
    assert repairs(Windows.ENFORCE) == (
        {"hold_seconds": IDLE_SECONDS, "window": window, "freezes": [{"name": "quiet", **times}]},
        True,
    )


def test_the_program_sets_the_condition_that_health_checks_repair() -> None:
    assert node_test_decision.IDLE_FAULT == IDLE_FAULT
