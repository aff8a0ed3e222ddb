"""Simulated node readiness controller: taints nodes whose conditions do not satisfy a NodeReadinessRule.

Source, kubernetes-sigs/node-readiness-controller v0.5.0, ``internal/controller/node_controller.go`` and
``internal/controller/nodereadinessrule_controller.go``. It runs in each cluster with an installed release of its chart.
The real controller manager evicts the pods that do not tolerate a taint with ``NoExecute``.

Differences: the evaluation of a deleted node is removed immediately, not with the next change of its rule.
What is not simulated: metrics, failed evaluations, the optional webhook, and the checks of the CRD. Rules are evaluated
in each round, so that delays and the order of several controllers are not verified.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from jacquard.lab.rehearsal.operators.events import event
from jacquard.lab.rehearsal.operators.hosts.claims import selects
from jacquard.lab.rehearsal.operators.releases.installed import installed, is_of
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, hold, let_go, now
from jacquard.providers.kube.objects import dig

CHART = "node-readiness-controller"
RULE = ("readiness.node.x-k8s.io/v1alpha1", "NodeReadinessRule")
FINALIZER = "readiness.node.x-k8s.io/cleanup-taints"
COMPLETED = "readiness.k8s.io/bootstrap-completed-"
"""Prefix of the annotation of a node that a rule for its start no longer concerns; followed by the UID of the rule."""
_AT_START = "bootstrap-only"
_UNKNOWN = "Unknown"


def reconcile(management: View, cluster: str, view: View) -> None:
    """Apply the rules of one cluster to its nodes, if the controller is installed there."""
    rules = list(view.all(*RULE))
    if not rules or not _is_installed(management, cluster):
        return
    nodes = list(view.all("v1", "Node"))
    for rule in rules:
        selector = dig(rule, "spec", "nodeSelector") or {}
        selected = [node for node in nodes if selects(selector, node["metadata"].get("labels") or {})]
        if deleting(rule):
            _clean_up(view, rule, selected)
        elif not hold(view, rule, FINALIZER):
            status = (
                _rehearsed(rule, selected) if dig(rule, "spec", "dryRun") else _applied(view, rule, selected, nodes)
            )
            if status:
                view.status(rule, status)


def _is_installed(management: View, cluster: str) -> bool:
    return any(is_of(cluster, release) for release in installed(management, CHART))


def _clean_up(view: View, rule: Object, nodes: list[Object]) -> None:
    """Remove the taint of a deleted rule from all nodes, then the finalizer."""
    tainted = [node for node in nodes if _has_taint(node, rule)]
    for node in tainted:
        _remove(view, rule, node, {})
    if not tainted:
        let_go(view, rule, FINALIZER)


def _applied(view: View, rule: Object, selected: list[Object], nodes: list[Object]) -> Object:
    """Add and remove the taint of a rule, and return the changes of its status."""
    before = {entry["nodeName"]: entry for entry in dig(rule, "status", "nodeEvaluations") or ()}
    after, names = dict(before), {node["metadata"]["name"] for node in nodes}
    for node in selected:
        name = node["metadata"]["name"]
        if dig(rule, "spec", "enforcementMode") == _AT_START and _is_completed(node, rule):
            continue
        results = list(_results(rule, node))
        is_tainted = _act(view, rule, node, satisfied=_satisfied(rule, node), first=name not in before)
        evaluation = {
            "nodeName": name,
            "conditionResults": results,
            "taintStatus": "Present" if is_tainted else "Absent",
        }
        if not evaluation.items() <= before.get(name, {}).items():
            after[name] = {**evaluation, "lastEvaluationTime": now()}
    evaluations = [entry for name, entry in after.items() if name in names]
    status: Object = {} if evaluations == list(before.values()) else {"nodeEvaluations": evaluations}
    generation = rule["metadata"].get("generation")
    if dig(rule, "status", "observedGeneration") != generation:
        applied = [node["metadata"]["name"] for node in selected]
        status |= {"observedGeneration": generation, "appliedNodes": applied, "dryRunResults": None}
    return status


def _act(view: View, rule: Object, node: Object, *, satisfied: bool, first: bool) -> bool:
    """Change the taint of a node if necessary, and return whether the node has it."""
    taint, name = rule["spec"]["taint"], rule["metadata"]["name"]
    place = f"{taint['key']}:{taint['effect']}"
    is_tainted = _has_taint(node, rule)
    at_start = dig(rule, "spec", "enforcementMode") == _AT_START
    completed = {f"{COMPLETED}{rule['metadata']['uid']}": json.dumps({"rule-name": name}, separators=(",", ":"))}
    if satisfied and is_tainted:
        return not _remove(view, rule, node, completed if at_start else {})
    if satisfied:
        if at_start:
            view.patch(node, {"metadata": {"annotations": completed}})
        return False
    if is_tainted:
        if first:
            view.create(_event(node, "TaintAdopted", "AdoptTaint", f"Taint '{place}' is now managed by rule '{name}'"))
        return True
    taints = [*(dig(node, "spec", "taints") or ()), taint]
    if not view.patch(node, {"spec": {"taints": taints}}):
        return False
    view.create(_event(node, "TaintAdded", "AddTaint", f"Taint '{place}' added by rule '{name}'"))
    return True


def _remove(view: View, rule: Object, node: Object, annotations: Mapping[str, str]) -> bool:
    """Remove the taint of a rule from a node and set ``annotations``; return whether the server accepted the change."""
    taint, name = rule["spec"]["taint"], rule["metadata"]["name"]
    taints = [other for other in node["spec"]["taints"] if not _same(other, taint)]
    if not view.patch(node, {"metadata": {"annotations": dict(annotations)}, "spec": {"taints": taints}}):
        return False
    message = f"Taint '{taint['key']}:{taint['effect']}' removed by rule '{name}'"
    view.create(_event(node, "TaintRemoved", "RemoveTaint", message))
    return True


def _rehearsed(rule: Object, nodes: list[Object]) -> Object:
    """Return the status of a rule with ``dryRun``; empty if it is current."""
    pairs = [(_satisfied(rule, node), _has_taint(node, rule)) for node in nodes]
    unclear = sum(any(_found(node, entry["type"]) is None for entry in rule["spec"]["conditions"]) for node in nodes)
    added, removed = pairs.count((False, False)), pairs.count((True, True))
    parts = [f"would add {added} taints"] if added else []
    parts += [f"would remove {removed} taints"] if removed else []
    parts += [f"{unclear} nodes have missing conditions"] if unclear else []
    results = {
        "affectedNodes": len(nodes),
        "taintsToAdd": added,
        "taintsToRemove": removed,
        "riskyOperations": unclear,
        "summary": ", ".join(parts) or "No changes needed",
    }
    status = {"observedGeneration": rule["metadata"].get("generation"), "dryRunResults": results}
    return {} if status.items() <= (rule.get("status") or {}).items() else status


def _results(rule: Object, node: Object) -> Iterator[Object]:
    for entry in rule["spec"]["conditions"]:
        yield {
            "type": entry["type"],
            "currentStatus": _found(node, entry["type"]) or _UNKNOWN,
            "requiredStatus": entry["requiredStatus"],
            "defaultStatus": entry.get("defaultStatus") or _UNKNOWN,
        }


def _satisfied(rule: Object, node: Object) -> bool:
    """Return whether a node has all required conditions, with the defaults for missing conditions."""
    return all(
        (_found(node, entry["type"]) or entry.get("defaultStatus") or _UNKNOWN) == entry["requiredStatus"]
        for entry in rule["spec"]["conditions"]
    )


def _found(node: Object, condition: str) -> str | None:
    conditions = dig(node, "status", "conditions") or ()
    return next((str(entry["status"]) for entry in conditions if entry["type"] == condition), None)


def _is_completed(node: Object, rule: Object) -> bool:
    """Return whether a node has the annotation of a rule, with the rule's UID or, in older releases, its name."""
    annotations = node["metadata"].get("annotations") or {}
    return any(f"{COMPLETED}{rule['metadata'][key]}" in annotations for key in ("uid", "name"))


def _has_taint(node: Object, rule: Object) -> bool:
    return any(_same(taint, rule["spec"]["taint"]) for taint in dig(node, "spec", "taints") or ())


def _same(taint: Object, other: Object) -> bool:
    return (taint["key"], taint["effect"]) == (other["key"], other["effect"])


def _event(node: Object, reason: str, action: str, message: str) -> dict[str, Any]:
    return {**event(node, "Normal", reason, message, component=CHART), "action": action}
