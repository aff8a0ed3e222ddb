"""Taints of nodes with faults, by rules of the node readiness controller.

The controller sets the taint while a condition is True, and removes it when all conditions are False again
(NRC:internal/controller/nodereadinessrule_controller.go, v0.5.0). A missing condition counts as False, so that a node
without the monitor is not quarantined. Conditions, taint and selector of a rule are immutable. The name of a rule
therefore contains a digest of its content, and a changed rule is a new object.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from components.render import labels as keys
from components.render.health.node_tests import NodeTests
from components.render.manifest import Manifest, ManifestSet
from components.render.objects import digest, manifest
from components.specs.health.node_checks import HealthAction, NodeCheck

CHART = "node-readiness-controller"
API = "readiness.node.x-k8s.io/v1alpha1"
KIND = "NodeReadinessRule"
QUARANTINE = {"key": "readiness.k8s.io/quarantine", "effect": "NoSchedule"}
"""Taint of nodes with a fault: new pods are not scheduled, running pods continue."""
EVICTION = {"key": "readiness.k8s.io/repair", "effect": "NoExecute"}
"""Taint of nodes before a repair. Pods without a toleration are deleted with their termination grace period, and
PodDisruptionBudgets do not apply (K8S:pkg/controller/tainteviction)."""
BURN_IN = {"key": "readiness.k8s.io/burn-in", "effect": "NoSchedule"}
"""Taint of new nodes until their burn-in has passed. Nodes also register with it, so that no pod is scheduled before
the controller has seen the node."""
_TAINTS = {HealthAction.QUARANTINE: QUARANTINE, HealthAction.REPAIR: EVICTION}


def rules(
    cluster: str, namespace: str, by_type: Mapping[str, tuple[NodeCheck, ...]], tests: NodeTests | None = None
) -> Iterator[ManifestSet]:
    """Yield the rules for nodes of ``cluster`` and the templates of their tests, as one set.

    Instance types with the same conditions share a rule. Nothing is yielded if nodes have neither rules nor tests.

    Args:
        cluster: cluster of the nodes.
        namespace: namespace of the controller, for the parent of the set.
        by_type: checks of each instance type of the cluster.
        tests: tests of the cluster's nodes, which new nodes of some pools must pass once.
    """
    members = {item.name: item for action in _TAINTS for item in _rules(cluster, action, by_type)}
    members |= {item.name: item for item in _gates(cluster, tests)}
    members |= {f"{item.kind}/{item.name}": item for item in (tests.in_cluster() if tests else ())}
    if members:
        yield ManifestSet(name="quarantine", namespace=namespace, cluster=cluster, members=members)


def _rules(cluster: str, action: HealthAction, by_type: Mapping[str, tuple[NodeCheck, ...]]) -> Iterator[Manifest]:
    shared: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for kind, checks in by_type.items():
        conditions = tuple(check.condition for check in checks if check.condition and check.action is action)
        if conditions:
            shared[conditions].append(kind)
    for conditions, kinds in shared.items():
        spec = {
            "conditions": [
                {"type": condition, "requiredStatus": "False", "defaultStatus": "False"} for condition in conditions
            ],
            "enforcementMode": "continuous",
            "nodeSelector": {
                "matchExpressions": [{"key": keys.NODE_INSTANCE_TYPE, "operator": "In", "values": sorted(kinds)}]
            },
            "taint": dict(_TAINTS[action]),
        }
        yield manifest(API, KIND, f"{action}-{digest(spec, 10)}", cluster=cluster, spec=spec)


def _gates(cluster: str, tests: NodeTests | None) -> Iterator[Manifest]:
    """Yield the rule that keeps pods from new nodes; a missing condition counts as Unknown, which is not enough."""
    if tests is not None and tests.gated:
        pools = {"key": keys.NODE_POOL, "operator": "In", "values": list(tests.gated)}
        spec = {
            "conditions": [{"type": tests.gate, "requiredStatus": "True"}],
            "enforcementMode": "bootstrap-only",
            "nodeSelector": {"matchExpressions": [pools]},
            "taint": dict(BURN_IN),
        }
        yield manifest(API, KIND, f"burn-in-{digest(spec, 10)}", cluster=cluster, spec=spec)
