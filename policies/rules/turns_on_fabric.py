"""turns-on-fabric: GPUs of whole nodes on a fabric that several pods have in turns.

Why: a job over many nodes waits for its slowest part. Between pods that take turns on a GPU are no walls: one takes the
memory that the other needs, a fault of one ends both, and each turn of another stops the whole job for as long.

Told: a pool with `gpu_sharing: {time_slices: ...}`, or with nodes that have it, on InfiniBand or RoCE.
Refused: nothing, unless `policy.yaml` makes it mandatory; notebooks and tests may well run there.
Right: whole GPUs where jobs span nodes, `gpu_sharing: {mig: ...}` where pods are small, and another pool for turns.
"""

from __future__ import annotations

from components.specs.base import Stage
from components.specs.reading.problems import listed
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, violation


def find(fact: Fact, context: Context) -> Finding:
    """Tell which pools of the cluster have GPUs that pods take turns on."""
    pools = fact.of_cluster(context.turns)
    if not pools:
        return PASS
    return violation(
        found=f"pods take turns on GPUs of {listed(pools)}, without walls between their memory, on a fabric",
        allowed="whole GPUs, or MIG devices, on nodes of a fabric",
        fix="write gpu_sharing: {mig: ...}, or share GPUs of a pool off the fabric, or waive it for this cluster",
    )


RULE = Rule(
    name=RuleId.TURNS_ON_FABRIC,
    description="Nodes on a fabric give a GPU to one pod at a time.",
    why="a job over many nodes waits for the pod that has to share",
    severity=Severity.HIGH,
    kinds=frozenset({"Cluster"}),
    find=find,
    levels=dict.fromkeys(Stage, Enforcement.ADVISORY),
)
