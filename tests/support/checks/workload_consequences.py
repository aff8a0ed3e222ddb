"""Edits of the example after which a rule about workloads reports a cause, or a consequence of one."""

from __future__ import annotations

GLOBEX, REGION = "tenants/globex.yaml", "region.yaml"
LAB = "{name: lab, instance_type: h100-ib-8, nodes: 4}"
LOCKED = f"{LAB[:-1]}, taints: [{{key: slinky.slurm.net/slurm, effect: NoExecute}}]}}"
SLURM = """    slurm: {partitions: [{name: main, pools: [labs]}], controller: {storage_class: shared-vast}}
    namespaces:"""
STORE = "object_stores: [{name: objects, endpoint: https://objects.cloud.example}]\nspares: 2%"
BUCKETS = "buckets:\n" + 2 * "  - {name: runs, store: objects, quota: 1Ti}\n" + "vpcs:\n"
SERVING = """    queues:
      {queued: pods, classes: {serving: high}, teams: [{name: a, namespaces: [nightly], nodes: {lab: 4}}]}
    serving: {priority: high, endpoints: [{name: chat, namespace: nightly, pool: lab, groups: 5}]}
    namespaces:"""
DUMPS = """    slurm:
      {partitions: [{name: main, pools: [lab]}], controller: {storage_class: shared-vast}, accounting: {password_secret:
      db, server: {storage_class: shared-vast, size: 20Gi, backup: {schedule: "0 2 * * *", bucket: runs}}}}
    namespaces:"""
KEYS = """buckets:
  - {name: runs, store: objects, quota: 1Ti, access: [{cluster: globex-lab, namespaces: [weekly]}]}
vpcs:
"""
TWICE = [[REGION, "spares: 2%", STORE], [GLOBEX, "vpcs:\n", BUCKETS]]
RENAMED = [GLOBEX, LAB, LAB.replace("lab", "other", 1)]

WORKLOADS: list[tuple[str, str, list[list[str]]]] = [
    (
        "inventory.rack-sizes",
        "queues.quotas",
        [
            [
                "../catalog/instance_types.yaml",
                "    nodes_per_rack: 8\n    root_device",
                "    nodes_per_rack: 3\n    scale: rack\n    root_device",
            ],
            [GLOBEX, "lab, instance_type: h100-ib-8, nodes: 4", "lab, instance_type: h100-ib-8, racks: 1"],
            [
                GLOBEX,
                "    namespaces:",
                "    queues: {teams: [{name: jobs, namespaces: [nightly], nodes: {lab: 4}}]}\n    namespaces:",
            ],
        ],
    ),
    ("slurm.partition-pools", "slurm.unused-locks", [[GLOBEX, LAB, LOCKED], [GLOBEX, "    namespaces:", SLURM]]),
    ("names.list-duplicates", "buckets.one-owner", TWICE),
    ("serving.queued", "serving.pool-room", [[GLOBEX, "    namespaces:", SERVING]]),
    (
        "names.list-duplicates",
        "endpoint-services.buckets",
        [*TWICE, [GLOBEX, "    namespaces:", SERVING.replace("groups: 5", "bucket: runs")]],
    ),
    ("names.list-duplicates", "slurm.backup-buckets", [*TWICE, [GLOBEX, "    namespaces:", DUMPS]]),
    ("node-pools.endings", "slurm.partition-pools", [RENAMED, [GLOBEX, "    namespaces:", DUMPS]]),
    ("node-pools.endings", "queues.names", [RENAMED, [GLOBEX, "    namespaces:", SERVING]]),
    ("node-pools.endings", "serving.names", [RENAMED, [GLOBEX, "    namespaces:", SERVING]]),
    (
        "control-planes.endings",
        "buckets.references",
        [
            [REGION, "spares: 2%", STORE],
            [GLOBEX, "vpcs:\n", KEYS],
            [GLOBEX, "name: globex-lab\n", "name: globex-labs\n"],
        ],
    ),
]
"""Cause, consequence, and edits of the example after which both are found."""
