"""Content of a local region, live and declared: machines by pool and failure domain, templates, objects."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import Manifest, objects
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal.images import PUBLIC
from jacquard.providers.kube import ObjectRef
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion

POOLS = ("acme-train/system", "acme-train/train", "acme-train/infer", "globex-lab/lab")
CLUSTER_API = "cluster.x-k8s.io/v1beta2"
TEMPLATES = (
    ("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3MachineTemplate"),
    ("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfigTemplate"),
)
Machines = dict[str, dict[str, set[str]]]
"""UIDs of the machines, by pool and failure domain."""


def machines(region: LocalRegion) -> Machines:
    found: Machines = {pool: {} for pool in POOLS}
    for machine in region.api().list(CLUSTER_API, "Machine"):
        metadata = machine["metadata"]
        pool = f"{metadata['namespace']}/{metadata['labels']['jacquard.dev/pool']}"
        found[pool].setdefault(machine["spec"]["failureDomain"], set()).add(metadata["uid"])
    return found


def images(status: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Return the number of nodes of each pool and image, from ``status``."""
    return {f"{pool['cluster']}/{pool['name']}": pool["images"] for pool in status["pools"]}


def templates(region: LocalRegion) -> dict[str, str]:
    """Return the uids of the machine templates, by name."""
    found = [body for kind in TEMPLATES for body in region.api().list(*kind)]
    return {body["metadata"]["name"]: body["metadata"]["uid"] for body in found}


def changed(before: Machines, after: Machines) -> dict[str, tuple[int, int]]:
    """Return the number of deleted and created machines of each failure domain with other machines than before."""
    found = {}
    for pool in POOLS:
        for domain in {**before[pool], **after[pool]}:
            old, new = before[pool].get(domain, set()), after[pool].get(domain, set())
            if old != new:
                found[f"{pool}/{domain}"] = (len(old - new), len(new - old))
    return found


def predicted(region: LocalRegion) -> dict[str, tuple[int, int]]:
    """Return the number of deleted and created machines of each failure domain that ``jacquard impact`` predicts."""
    result = region.jacquard("impact", ENVIRONMENT, "--format", "json")
    assert result.code == 0, result.text
    [found] = json.loads(result.stdout)
    return {row["part"]: _moves(row) for row in found["rows"] if row["falls_on"] == "nodes" and _moves(row) != (0, 0)}


def _moves(row: dict[str, Any]) -> tuple[int, int]:
    if row["change"] is not None:
        return max(0, -row["change"]), max(0, row["change"])
    return (row["count"], row["count"]) if row["effect"] == "replaced" else (0, 0)


def commit(region: LocalRegion) -> None:
    """Commit the data of a region as the base of later comparisons."""
    for words in ("init -q", f"add {region.environments.name}", "-c user.name=a -c user.email=a@b commit -qm data"):
        command = ["git", "-C", str(region.environments.parent), *words.split()]
        subprocess.run([*command, *(["--allow-empty"] if "commit" in command else [])], check=True)


def declared(region: LocalRegion) -> list[Manifest]:
    """Return the declared objects."""
    environment = load_environment(ENVIRONMENT, region.environments)
    return [manifest for piece in slices(environment) for manifest in objects(manifests(environment, piece))]


def applied(region: LocalRegion) -> dict[str, tuple[str, int]]:
    """Return uid and generation of every declared object and every machine."""
    wanted = declared(region)
    kinds = {(item.cluster, item.api_version, item.kind) for item in wanted} | {("management", CLUSTER_API, "Machine")}
    found = {}
    for cluster, api_version, kind in kinds:
        for body in region.api(cluster).list(api_version, kind):
            metadata = body["metadata"]
            key = f"{cluster} {kind} {metadata.get('namespace')}/{metadata['name']}"
            found[key] = (metadata["uid"], metadata.get("generation", 0))
    assert {f"{item.cluster} {item.kind} {item.namespace}/{item.name}" for item in wanted} <= found.keys()
    return found


def gpu_job(ref: ObjectRef, node: str) -> dict[str, Any]:
    """Return a pod that requests four GPUs of a node."""
    container = {
        "name": "work",
        "image": PUBLIC[0],
        "resources": {"limits": {"nvidia.com/gpu": "4"}},
    }
    metadata = {"name": ref.name, "namespace": ref.namespace}
    spec = {"nodeName": node, "containers": [container], "tolerations": [{"operator": "Exists"}]}
    return {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, "spec": spec}
