"""CronJob that writes the place of each node of Slurm's pools into an annotation, from which the operator reads it.

The bare-metal provider copies the rack and the leaf switch of a host to labels of its Node. No controller writes the
annotation, so a small program does.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.add_ons.pod_priorities import SERVICE
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.platform_pods import RBAC, cluster_binding, service_account
from components.render.pod_placement import services
from components.render.program_pods import TOOL, program
from components.render.workloads.slurm_pool import NVLINK, TREE, SlurmPool

NAME = "slurm-topology-labels"
PROGRAM = ("slurm_topology.py", "api.py")
SETTINGS = "settings.json"
_EVERY_MINUTES, _RUN_SECONDS = 2, 100


def annotating(
    cluster: str, namespace: str, pools: tuple[SlurmPool, ...], images: Mapping[str, str], *, system_pool: bool
) -> Iterator[Manifest]:
    """Yield the CronJob in ``cluster`` with its program, and a role that reads and annotates nodes."""
    place: dict[str, Any] = {"namespace": namespace, "cluster": cluster}
    rules = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "patch"]}]
    settings = {
        "pool_label": keys.NODE_POOL,
        "pools": {pool.spec.name: {TREE: keys.LEAF, **({NVLINK: keys.RACK} if pool.racks else {})} for pool in pools},
    }
    yield manifest("v1", "ServiceAccount", NAME, **place)
    yield manifest(f"{RBAC}/v1", "ClusterRole", NAME, cluster=cluster, rules=rules)
    yield cluster_binding(NAME, role=NAME, subject=service_account(namespace, NAME), cluster=cluster)
    placed = services(system_pool=system_pool, labels={"kubernetes.io/os": "linux"})
    yield from program(
        NAME,
        images[TOOL],
        PROGRAM,
        settings={SETTINGS: json.dumps(settings, indent=1) + "\n"},
        every_minutes=_EVERY_MINUTES,
        run_seconds=_RUN_SECONDS,
        namespace=namespace,
        labels={},
        cluster=cluster,
        pod_fields={"priorityClassName": SERVICE, **placed},
    )
