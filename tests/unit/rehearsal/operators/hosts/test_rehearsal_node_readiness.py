"""Nodes are tainted while their conditions do not satisfy a rule, as in the node readiness controller."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.hosts import node_readiness
from jacquard.lab.rehearsal.operators.hosts.node_readiness import CHART, COMPLETED, FINALIZER, RULE
from jacquard.lab.rehearsal.operators.releases import installed
from tests.support.objects.live_objects import obj

READY = {"conditions": [{"type": "Ready", "status": "True"}]}
KEY = "readiness.k8s.io/gpu-lost"
TAINT = {"key": KEY, "value": "true", "effect": "NoSchedule"}
LOST, FINE = [{"type": "GpuLost", "status": "True"}], [{"type": "GpuLost", "status": "False"}]


def release(cluster: str = "acme", chart: str = CHART) -> list[Any]:
    spec = {
        "chartRef": {"kind": "OCIRepository", "name": "chart", "namespace": "acme"},
        "kubeConfig": {"secretRef": {"name": f"{cluster}-kubeconfig"}},
    }
    source = obj(installed.SOURCE, "OCIRepository", "chart", {"url": f"oci://registry.example/{chart}"}, "acme")
    return [source, obj(installed.HELM, "HelmRelease", "readiness", spec, "acme", status=READY)]


def rule(mode: str = "continuous", *, held: bool = True, **spec: Any) -> Any:
    metadata = {"uid": "u1", **({"finalizers": [FINALIZER]} if held else {})}
    spec = {
        "conditions": [{"type": "GpuLost", "requiredStatus": "False"}],
        "enforcementMode": mode,
        "taint": TAINT,
        "nodeSelector": {"matchLabels": {"gpu": "h100"}},
        **spec,
    }
    return obj(*RULE, "gpu", spec, "", metadata=metadata)


def node(conditions: Any, taints: Any = (), name: str = "n1", **annotations: str) -> Any:
    metadata = {"labels": {"gpu": "h100"}, "annotations": annotations}
    return obj("v1", "Node", name, {"taints": list(taints)}, "", status={"conditions": conditions}, metadata=metadata)


def run(objects: Any, *there: Any, rounds: int = 2, management: Any = None) -> Any:
    view = objects(*there)
    for _ in range(rounds):
        node_readiness.reconcile(objects(*(release() if management is None else management)), "acme", view)
    return view


def tainted(view: Any, name: str = "n1") -> bool:
    return KEY in {taint["key"] for taint in view.get("Node", name)["spec"]["taints"]}


def events(view: Any) -> list[tuple[str, str]]:
    return [(entry["reason"], entry["message"]) for entry in view.all("v1", "Event")]


@pytest.mark.parametrize(
    ("conditions", "taints", "default", "expected", "reasons"),
    [
        (LOST, [], None, True, ["TaintAdded"]),
        (LOST, [TAINT], None, True, ["TaintAdopted"]),
        (FINE, [TAINT], None, False, ["TaintRemoved"]),
        (FINE, [], None, False, []),
        ([], [], None, True, ["TaintAdded"]),
        ([], [], "False", False, []),
        ([], [], "True", True, ["TaintAdded"]),
    ],
)
def test_a_node_has_the_taint_while_a_condition_differs(
    objects: Any, conditions: Any, taints: Any, default: Any, reasons: Any, *, expected: bool
) -> None:
    requirement = {"type": "GpuLost", "requiredStatus": "False", **({"defaultStatus": default} if default else {})}

    view = run(objects, node(conditions, taints), rule(conditions=[requirement]))

    assert tainted(view) is expected
    assert [reason for reason, _ in events(view)] == reasons
    status = view.get("NodeReadinessRule", "gpu")["status"]
    [evaluation] = status["nodeEvaluations"]
    assert evaluation["taintStatus"] == ("Present" if expected else "Absent")
    assert evaluation["conditionResults"] == [
        {
            "type": "GpuLost",
            "currentStatus": conditions[0]["status"] if conditions else "Unknown",
            "requiredStatus": "False",
            "defaultStatus": default or "Unknown",
        }
    ]
    assert (status["appliedNodes"], status["observedGeneration"]) == (["n1"], 1)


def test_events_name_taint_and_rule(objects: Any) -> None:
    view = run(objects, node(LOST), rule())
    view.get("Node", "n1")["status"]["conditions"] = FINE
    node_readiness.reconcile(objects(*release()), "acme", view)

    assert events(view) == [
        ("TaintAdded", f"Taint '{KEY}:NoSchedule' added by rule 'gpu'"),
        ("TaintRemoved", f"Taint '{KEY}:NoSchedule' removed by rule 'gpu'"),
    ]
    assert {entry["metadata"]["namespace"] for entry in view.all("v1", "Event")} == {"default"}


def test_other_nodes_and_other_taints_are_not_changed(objects: Any) -> None:
    other = {"key": "workload", "effect": "NoSchedule"}
    stranger = node(LOST, name="n2")
    stranger["metadata"]["labels"] = {}

    view = run(objects, node(LOST, [other]), stranger, rule())

    assert (tainted(view), tainted(view, "n2")) == (True, False)
    assert view.get("Node", "n1")["spec"]["taints"] == [other, TAINT]


def test_a_rule_for_the_start_of_a_node_is_done_once(objects: Any) -> None:
    view = run(objects, node(LOST), rule("bootstrap-only"))
    assert tainted(view)

    view.get("Node", "n1")["status"]["conditions"] = FINE
    node_readiness.reconcile(objects(*release()), "acme", view)
    assert view.get("Node", "n1")["metadata"]["annotations"] == {f"{COMPLETED}u1": '{"rule-name":"gpu"}'}
    view.get("Node", "n1")["status"]["conditions"] = LOST
    node_readiness.reconcile(objects(*release()), "acme", view)

    assert not tainted(view)


def test_a_node_that_was_fine_at_its_start_is_marked(objects: Any) -> None:
    view = run(objects, node(FINE), rule("bootstrap-only"))

    assert f"{COMPLETED}u1" in view.get("Node", "n1")["metadata"]["annotations"]


def test_a_mark_of_an_older_release_counts(objects: Any) -> None:
    view = run(objects, node(LOST, [], "n1", **{f"{COMPLETED}gpu": "true"}), rule("bootstrap-only"))

    assert not tainted(view)


def test_a_dry_run_counts_and_changes_nothing(objects: Any) -> None:
    there = (node(LOST), node(FINE, [TAINT], "n2"), node([], [], "n3"))

    view = run(objects, *there, rule(dryRun=True))

    assert [tainted(view, name) for name in ("n1", "n2", "n3")] == [False, True, False]
    assert view.get("NodeReadinessRule", "gpu")["status"]["dryRunResults"] == {
        "affectedNodes": 3,
        "taintsToAdd": 2,
        "taintsToRemove": 1,
        "riskyOperations": 1,
        "summary": "would add 2 taints, would remove 1 taints, 1 nodes have missing conditions",
    }


def test_the_taint_of_a_deleted_rule_is_removed_before_the_rule(objects: Any) -> None:
    gone = rule()
    gone["metadata"]["deletionTimestamp"] = "now"
    view = run(objects, node(LOST, [TAINT]), gone, rounds=1)
    assert not tainted(view)
    assert view.get("NodeReadinessRule", "gpu")["metadata"]["finalizers"] == [FINALIZER]

    node_readiness.reconcile(objects(*release()), "acme", view)

    assert view.get("NodeReadinessRule", "gpu")["metadata"]["finalizers"] == []


def test_a_new_rule_is_kept_by_its_finalizer_first(objects: Any) -> None:
    view = run(objects, node(LOST), rule(held=False), rounds=1)
    assert (view.get("NodeReadinessRule", "gpu")["metadata"]["finalizers"], tainted(view)) == ([FINALIZER], False)


@pytest.mark.parametrize("management", [[], release("globex"), release(chart="other")])
def test_rules_have_no_effect_without_the_controller(objects: Any, management: Any) -> None:
    assert not tainted(run(objects, node(LOST), rule(), management=management))
