"""Edits of the example after which a rule about clusters reports a cause, or a consequence of one."""

from __future__ import annotations

ACME, GLOBEX, LOCK, REGION = "tenants/acme.yaml", "tenants/globex.yaml", "allocations.lock.yaml", "region.yaml"
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

ENDLESS_REGION = [
    [
        REGION,
        "  backend: metal3\n",
        "  backend: metal3\n  free_hosts: one\n  controllers: [{name: one, boot: virtual-media, max_hosts: 100}]\n",
    ],
    [
        REGION,
        "  metrics: {size: 50Gi, storage_class: local-nvme}\n",
        (
            "  metrics: {size: 50Gi, storage_class: local-nvme, address: 10.3.0.249}\n"
            "  logs: {size: 200Gi, storage_class: local-nvme}\n"
        ),
    ],
    [],
    [
        ACME,
        "nodes: 4\n",
        "nodes: 4\n        min_nodes: 1\n        max_nodes: 5000\n        autoscaling: true\n",
    ],
]
"""A region with stores and a controller of hosts, and a pool larger than all of them."""

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
    *(
        ("contracts.autoscaling", consequence, ENDLESS_REGION)
        for consequence in (
            "capacity.cluster-size",
            "capacity.controller-load",
            "capacity.controllers",
            "capacity.data-store-capacity",
            "logs.size",
            "observability.size",
        )
    ),
]
"""Cause, consequence, and edits of the example after which both are found."""
