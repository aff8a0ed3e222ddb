"""turns-on-fabric: GPU time-slicing on whole nodes of a fabric.

Why: a job across many nodes waits for its slowest node. Pods that time-slice a GPU are not isolated: one pod can use
the memory that another pod needs, a fault of one pod terminates both, and each time slice of another pod stops the
whole job.

Reported: a pool on InfiniBand or RoCE with `gpu_sharing: {time_slices: ...}`, on the pool or on some of its nodes.
Rejected: nothing, unless `policy.yaml` makes the policy mandatory; notebooks and tests may be intended there.
Correct: whole GPUs for jobs across nodes, `gpu_sharing: {mig: ...}` for small pods, and a separate pool for
time-slicing.
"""

from components.specs.reading.problems import listed
from components.specs.region.policy import RuleId
from policies.verdict import cluster_advisory, violation

RULE = cluster_advisory(
    RuleId.TURNS_ON_FABRIC,
    description="Nodes on a fabric do not time-slice GPUs.",
    why="a job across many nodes waits for the pod that shares its GPU",
    entries=lambda context: context.turns,
    report=lambda pools: violation(
        found=f"pods time-slice GPUs of {listed(pools)}, without memory isolation, on a fabric",
        allowed="whole GPUs, or MIG devices, on nodes of a fabric",
        fix="write gpu_sharing: {mig: ...}, time-slice a pool outside the fabric, or add a waiver for this cluster",
    ),
)
