"""Example workloads for tenants: a claim of a storage class, a pod with scratch, a pod or job with GPUs."""

from collections.abc import Mapping, Sequence
from typing import Any

from components.render.labels import NODE_INSTANCE_TYPE
from components.render.manifest import Json
from components.render.network.port_functions import NETWORKS
from components.render.objects import given
from components.render.pools.compute_domains import CLIQUE
from components.render.pools.gpu_sharing import GPU
from components.specs.pools.node_pool import TaintSpec

_CUDA = "nvcr.io/nvidia/cuda:12.4.1-base-ubuntu22.04"
"""Image of the example that lists GPUs, for both architectures."""
_SHELL = "docker.io/library/busybox:1.37.0"
_SIZE = "100Gi"
_SCRATCH = "/scratch"
_CHANNEL = "channel"


def claim(storage_class: str, name: str) -> Json:
    """Return a claim of a volume that pods on several nodes can mount simultaneously."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": _claim(storage_class, "ReadWriteMany"),
    }


def scratch_pod(storage_class: str, name: str) -> Json:
    """Return a pod with an ephemeral volume on its node. Volume and claim are created and deleted with the pod."""
    template = {"spec": _claim(storage_class, "ReadWriteOnce")}
    write = ["sh", "-c", f"df -h {_SCRATCH} && sleep infinity"]
    return _pod(
        name,
        {"image": _SHELL, "command": write, "volumeMounts": [{"name": "scratch", "mountPath": _SCRATCH}]},
        volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}],
    )


def gpu_pod(
    instance_type: str,
    taints: Sequence[TaintSpec],
    limits: Mapping[str, int],
    networks: Sequence[str],
    name: str,
    *,
    host_network: bool = False,
) -> Json:
    """Return a pod that lists the GPUs of a node of ``instance_type``.

    Args:
        instance_type: instance type of the node, selected by a label that no kubelet can write.
        taints: taints of the pool's nodes, which the pod tolerates.
        limits: quantity of each resource for the pod.
        networks: network attachments, one for each port of an adapter.
        name: name of the pod.
        host_network: whether the pod uses the host network, for fabrics in the host network of nodes.
    """
    tolerations = [given(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect) for taint in taints]
    # RDMA pins memory, which requires the capability IPC_LOCK.
    pinning = {"capabilities": {"add": ["IPC_LOCK"]}} if len(limits) > 1 or host_network else {}
    return _pod(
        name,
        {
            "image": _CUDA,
            "command": ["nvidia-smi"],
            "resources": {"limits": {resource: str(count) for resource, count in limits.items()}},
            **given(securityContext=pinning),
        },
        annotations={NETWORKS: ",".join(networks)} if networks else {},
        restartPolicy="Never",
        hostNetwork=host_network or None,
        nodeSelector={NODE_INSTANCE_TYPE: instance_type},
        tolerations=tolerations,
    )


def domain_job(name: str, *, nodes: int, gpus: int, tolerations: list[dict[str, str]]) -> tuple[Json, Json]:
    """Return a ComputeDomain and a Job on ``nodes`` nodes of one NVLink domain, with ``gpus`` GPUs per node."""
    labels = {"app.kubernetes.io/name": name}
    together = {"labelSelector": {"matchLabels": labels}, "topologyKey": CLIQUE}
    worker = {
        "name": "worker",
        "image": "ubuntu:24.04",
        "command": ["ls", "-l", "/dev/nvidia-caps-imex-channels"],
        "resources": {"limits": {GPU: gpus}, "claims": [{"name": _CHANNEL}]},
    }
    pod = {
        "restartPolicy": "Never",
        **given(tolerations=tolerations),
        "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [together]}},
        "resourceClaims": [{"name": _CHANNEL, "resourceClaimTemplateName": f"{name}-{_CHANNEL}"}],
        "containers": [worker],
    }
    domain: Json = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {"name": name},
        "spec": {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": f"{name}-{_CHANNEL}"}}},
    }
    job: Json = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "completions": nodes,
            "parallelism": nodes,
            "completionMode": "Indexed",
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
    return domain, job


def _claim(storage_class: str, mode: str) -> dict[str, Any]:
    return {"accessModes": [mode], "storageClassName": storage_class, "resources": {"requests": {"storage": _SIZE}}}


def _pod(name: str, container: dict[str, Any], annotations: Mapping[str, str] | None = None, **spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **given(annotations=annotations or {})},
        "spec": {**given(**spec), "containers": [{"name": "main", **container}]},
    }
