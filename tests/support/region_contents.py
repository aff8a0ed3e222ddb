"""What is in a local region: machines by pool and failure domain, and objects that the data declares."""

from __future__ import annotations

from local_region import ENVIRONMENT, LocalRegion

from components.plan.build.manifests import manifests
from components.plan.build.slices import slices
from components.render.manifest import Manifest, objects
from components.specs.loader import load_environment

POOLS = ("acme-train/system", "acme-train/train", "acme-train/infer", "globex-lab/lab")
CLUSTER_API = "cluster.x-k8s.io/v1beta2"
Machines = dict[str, dict[str, set[str]]]
"""By pool and failure domain, the uids of the machines."""


def machines(region: LocalRegion) -> Machines:
    found: Machines = {pool: {} for pool in POOLS}
    for machine in region.api().list(CLUSTER_API, "Machine"):
        metadata = machine["metadata"]
        pool = f"{metadata['namespace']}/{metadata['labels']['jacquard.dev/pool']}"
        found[pool].setdefault(machine["spec"]["failureDomain"], set()).add(metadata["uid"])
    return found


def changed(before: Machines, after: Machines) -> dict[str, tuple[int, int]]:
    """Return of each failure domain whose machines are not the same: how many went and how many came."""
    found = {}
    for pool in POOLS:
        for domain in {**before[pool], **after[pool]}:
            old, new = before[pool].get(domain, set()), after[pool].get(domain, set())
            if old != new:
                found[f"{pool}/{domain}"] = (len(old - new), len(new - old))
    return found


def declared(region: LocalRegion) -> list[Manifest]:
    """Return what the data declares."""
    environment = load_environment(ENVIRONMENT, region.environments)
    return [manifest for piece in slices(environment) for manifest in objects(manifests(environment, piece))]


def applied(region: LocalRegion) -> dict[str, tuple[str, int]]:
    """Return uid and generation of every object that the data declares, and of every machine."""
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
