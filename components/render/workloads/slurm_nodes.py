"""Node sets of a Slurm cluster: one pod with slurmd on each node of a pool.

The operator adds anti-affinity between these pods, so that a node has one (SLURMOP:internal/controller/nodeset/utils).
Before it deletes a pod, it drains the Slurm node and waits for its jobs; while a node has jobs, a
PodDisruptionBudget protects its pod (SLURMOP:docs/concepts/nodeset-controller.md).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.network.port_functions import NETWORKS
from components.render.objects import given, manifest
from components.render.pools.gpu_sharing import GPU
from components.render.vms.vm_placement import tolerating
from components.render.workloads.slurm_pool import LOCK, SlurmPool
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.workloads.slurm import SlurmSpec, SlurmVolumeSpec

LOGFILE = "alpine"
"""Image of containers that prepare files or print a log."""
_SHARED_MEMORY = "shared-memory"


def node_set(
    pool: SlurmPool,
    spec: SlurmSpec,
    images: Mapping[str, str],
    group: str,
    controller: Mapping[str, str],
    place: Mapping[str, Any],
) -> Manifest:
    """Return the NodeSet of ``pool``, with as many pods as the pool has nodes.

    Args:
        pool: pool of the nodes.
        spec: Slurm cluster.
        images: container images by name.
        group: API version of the operator's kinds.
        controller: reference to the Controller in the same namespace.
        place: namespace and cluster.
    """
    volumes, paths = mounts(spec.volumes)
    gpus = pool.kind.gpu
    limits = {**({GPU: gpus.count} if gpus else {}), **pool.ports}
    pod = {
        # A pod of Slurm needs more shared memory than the 64 MiB of a container.
        "volumes": [{"name": _SHARED_MEMORY, "emptyDir": {"medium": "Memory"}}, *volumes],
        "nodeSelector": {keys.NODE_POOL: pool.spec.name},
        "tolerations": _tolerations(pool.spec),
        **given(hostNetwork=pool.host_network or None),
        **given(dnsPolicy="ClusterFirstWithHostNet" if pool.host_network else None),
    }
    slurmd = {
        "image": images["slurmd"],
        "imagePullPolicy": "IfNotPresent",
        **given(resources=given(limits={name: str(count) for name, count in limits.items()})),
        "volumeMounts": [{"name": _SHARED_MEMORY, "mountPath": "/dev/shm"}, *paths],  # noqa: S108 - a mount
    }
    return manifest(
        group,
        "NodeSet",
        pool.spec.name,
        **place,
        spec={
            "controllerRef": dict(controller),
            "scalingMode": "StatefulSet",
            "replicas": pool.nodes,
            "slurmd": slurmd,
            "logfile": {"image": images[LOGFILE], "imagePullPolicy": "IfNotPresent"},
            **given(extraConf=f"Gres={pool.gres}" if pool.gres else None),
            "updateStrategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": pool.spec.rollout.max_unavailable},
            },
            "workloadDisruptionProtection": True,
            "template": {
                **given(metadata=given(annotations=given(**{NETWORKS: ",".join(pool.networks) or None}))),
                "spec": pod,
            },
        },
    )


def _tolerations(pool: NodePoolSpec) -> list[dict[str, str]]:
    """Return tolerations of the pool's taints. Nodes keep the lock, which is pinned, until the next promotion."""
    others = tolerating(taint for taint in pool.taints if taint.key != LOCK).get("tolerations", ())
    return [*others, {"key": LOCK, "operator": "Exists"}]


def mounts(volumes: Iterable[SlurmVolumeSpec]) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    """Return the volumes of a pod with all shared volumes, and the mounts of its container."""
    volumes = tuple(volumes)
    claims = [{"name": item.name, "persistentVolumeClaim": {"claimName": item.name}} for item in volumes]
    return claims, [{"name": item.name, "mountPath": item.path} for item in volumes]
