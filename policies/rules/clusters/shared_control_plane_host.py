"""shared-control-plane-host: one host of the management cluster may run several members of an etcd.

Why: an etcd with three members loses its quorum with two of them, and a cluster without etcd has no API. Without
`control_planes.hosts`, members and replicas are spread over hosts only as far as capacity allows: the scheduler can
place two members on one host. A PodDisruptionBudget limits drains, not the failure of this host.

Reported: in production, a control plane whose pods can share a host, because `control_planes.hosts` is not set or is
smaller than the number of its pods.
Rejected: nothing, unless `policy.yaml` makes the policy mandatory.
Correct: `control_planes.hosts` with at least as many hosts as an etcd has members and a control plane has replicas.
"""

from typing import Any

from components.render.control_planes.control_plane import HOST
from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, undecided, violation

_PATHS = {
    "KamajiControlPlane": ("spec", "deployment", "topologySpreadConstraints"),
    "K0smotronControlPlane": ("spec", "topologySpreadConstraints"),
}
"""Path of the topology spread constraints of the pods, by kind."""


def find(fact: Fact, _: Context) -> Finding:
    """Check whether pods of the control plane must be on different hosts."""
    constraints: Any = fact.at(*_PATHS[str(fact.kind)])
    if constraints is UNKNOWN:
        return undecided("the spread over hosts")
    if {"topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule"}.items() <= _over_hosts(constraints).items():
        return PASS
    return violation(
        found="members of an etcd, or replicas, can share a host of the management cluster",
        allowed="one host for each member of an etcd and for each replica of a control plane",
        fix="set control_planes.hosts in region.yaml, at least as many as etcd members and replicas",
    )


def _over_hosts(constraints: Any) -> dict[str, Any]:
    return next((item for item in constraints or () if item["topologyKey"] == HOST), {})


RULE = Rule(
    name=RuleId.SHARED_CONTROL_PLANE_HOST,
    description="In production, members of an etcd and replicas of a control plane are on different hosts.",
    why="if one host with most members of an etcd fails, the clusters in this etcd have no API",
    severity=Severity.HIGH,
    kinds=frozenset(_PATHS),
    find=find,
    levels={Stage.PRODUCTION: Enforcement.ADVISORY},
)
