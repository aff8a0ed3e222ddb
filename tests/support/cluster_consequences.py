"""Edits of the example after which a rule about clusters reports a cause, or a consequence of one."""

from __future__ import annotations

ACME, GLOBEX, LOCK = "tenants/acme.yaml", "tenants/globex.yaml", "allocations.lock.yaml"
GIVEN = "load_balancers: 10.65.17.0/26"
"""End of the first VPC in the lock file, after which manual edits insert text."""

OTHER_CLUSTER = [
    ACME,
    "    egress: public",
    "    more_prefixes: [{name: more, kind: pods, size: /20, cluster: acme-trains}]\n    egress: public",
]
"""A prefix for a misspelt cluster."""
ENDLESS = [
    GLOBEX,
    "name: lab, instance_type: h100-ib-8, nodes: 4",
    "name: lab, instance_type: h100-ib-8, nodes: 4, min_nodes: 1, max_nodes: 4000, autoscaling: true",
]

CLUSTERS: list[tuple[str, str, list[list[str]]]] = [
    ("vpc-clusters.references", "vpc-clusters.kinds", [OTHER_CLUSTER]),
    (
        "vpc-clusters.references",
        "vpc-clusters.kept",
        [
            OTHER_CLUSTER,
            [LOCK, GIVEN, GIVEN + ", more_prefixes: {own: {kind: pods, prefix: 10.65.80.0/20, cluster: acme-train}}"],
        ],
    ),
    (
        "vpc-clusters.references",
        "more-prefixes.kinds",
        [
            OTHER_CLUSTER,
            [LOCK, GIVEN, GIVEN + ", more_prefixes: {more: {kind: pods, prefix: 10.65.80.0/20, cluster: acme-train}}"],
        ],
    ),
    *(
        ("contracts.autoscaling", consequence, [ENDLESS])
        for consequence in (
            "capacity.dedicated-data-stores",
            "capacity.vpc-capacity",
            "contracts.contracted-nodes",
            "locks.allocations",
        )
    ),
]
"""Cause, consequence, and edits of the example after which both are found."""
