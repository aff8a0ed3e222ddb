"""The scheduler's and the kubelet's rules, as a table."""

from __future__ import annotations

from typing import Any

import pytest

from components.lookups.scheduling import SchedulingNode, rejected, tolerates, unscheduled

SYSTEM = {"key": "CriticalAddonsOnly", "value": "", "effect": "NoSchedule"}
JOBS = {"key": "workload", "value": "training", "effect": "NoSchedule"}
EVICTING = {"key": "repair", "value": "", "effect": "NoExecute"}
AVOIDED = {"key": "old", "value": "", "effect": "PreferNoSchedule"}
LABELS = {"role": "system", "cores": "64", "kubernetes.io/os": "linux"}
AFFINITY = "does not match the required node affinity"


def term(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, **({"values": [*values]} if values else {})}]}


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    wanted = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [*terms]}}
    return {"affinity": {"nodeAffinity": wanted}}


@pytest.mark.parametrize(
    ("pod", "taints", "reason"),
    [
        ({}, (), ""),
        ({"nodeSelector": None, "tolerations": None, "affinity": None}, (), ""),
        ({"nodeSelector": {"role": "system", "kubernetes.io/os": "linux"}}, (), ""),
        ({"nodeSelector": {"role": "worker"}}, (), "lacks label role=worker"),
        ({"nodeSelector": {"pool": "vms"}}, (), "lacks label pool=vms"),
        (required(term("role", "In", "worker", "system")), (), ""),
        (required(term("role", "In", "worker")), (), AFFINITY),
        (required(term("pool", "In", "vms"), term("role", "In", "system")), (), ""),
        (required(term("pool", "NotIn", "vms")), (), ""),
        (required(term("role", "NotIn", "system")), (), AFFINITY),
        (required(term("role", "Exists")), (), ""),
        (required(term("node-role.kubernetes.io/control-plane", "Exists")), (), AFFINITY),
        (required(term("pool", "DoesNotExist")), (), ""),
        (required(term("role", "DoesNotExist")), (), AFFINITY),
        (required(term("cores", "Gt", "63")), (), ""),
        (required(term("cores", "Lt", "64")), (), AFFINITY),
        (required(term("memory", "Gt", "1")), (), AFFINITY),
        (required({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}), (), ""),
        (required({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}), (), AFFINITY),
        (required({}), (), AFFINITY),  # A term without requirements matches no node.
        (required(), (), AFFINITY),
        ({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}}, (), ""),
        ({}, (AVOIDED,), ""),
        ({}, (SYSTEM,), "has taint CriticalAddonsOnly:NoSchedule"),
        ({}, (JOBS,), "has taint workload=training:NoSchedule"),
        ({"tolerations": [{"operator": "Exists"}]}, (SYSTEM, JOBS, EVICTING), ""),
        ({"tolerations": [{"operator": "Exists", "effect": "NoSchedule"}]}, (EVICTING,), "has taint repair:NoExecute"),
        ({"tolerations": [{"key": "workload", "operator": "Exists"}]}, (JOBS,), ""),
        ({"tolerations": [{"key": "workload", "value": "training"}]}, (JOBS,), ""),
        (
            {"tolerations": [{"key": "workload", "operator": "Equal", "value": "tests"}]},
            (JOBS,),
            "has taint workload=training:NoSchedule",
        ),
        ({"tolerations": [{"key": "CriticalAddonsOnly", "operator": "Equal"}]}, (SYSTEM,), ""),
        (
            {"tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}]},
            (SYSTEM, JOBS),
            "has taint workload=training:NoSchedule",
        ),
    ],
)
def test_the_scheduler(pod: dict[str, Any], taints: tuple[dict[str, str], ...], reason: str) -> None:
    assert unscheduled(pod, SchedulingNode(name="n1", labels=LABELS, taints=taints)) == reason


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        (
            {"tolerations": [{"key": "repair", "operator": "Exists"}]},
            "",
        ),  # Not of workload=training, which evicts no pod
        ({}, "has taint repair:NoExecute"),
        ({"nodeSelector": {"role": "worker"}}, "lacks label role=worker"),
        (required(term("role", "In", "worker")), AFFINITY),
    ],
)
def test_the_kubelet_of_a_node_that_a_controller_chose(pod: dict[str, Any], reason: str) -> None:
    assert rejected(pod, SchedulingNode(name="n1", labels=LABELS, taints=(JOBS, EVICTING))) == reason


def test_a_toleration_without_key_and_operator_matches_nothing() -> None:
    assert not tolerates({"tolerations": [{}, {"value": "training"}]}, JOBS)
