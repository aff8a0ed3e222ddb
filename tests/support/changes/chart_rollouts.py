"""A chart rollout over three clusters of the laptop: a newer release, a third cluster, and evidence of waves."""

from __future__ import annotations

import json
from typing import Any

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import objects
from components.rollout.promotion import Promotion
from components.specs.environment import Environment
from components.specs.locks import ImagesLock
from components.specs.reading.lock_text import sealed
from components.specs.region.evidence import Evidence, read_evidence
from tests.support.data.lock_files import write_locks
from tests.support.data.small_region import changed

CHART, PROMOTED = "cilium", "charts/cilium"
OLD, NEW = "1.20.0", "1.20.1"
ACME, EVAL, GLOBEX = (f"{PROMOTED}/{name}" for name in ("acme-train", "globex-eval", "globex-lab"))
VERSIONS = "../catalog/versions.yaml"
_AFTER_ROWS = "\n# What upstream publishes as manifests"
_LAB = "    add_ons: [cilium, node-features, gpus]\n"
_EVAL = """  - name: globex-eval
    version: v1.35.2
    vpc: eval
    control_plane: {replicas: 2, data_store: shared-a}
    pools:
      - {name: eval, instance_type: cpu-gen4, nodes: 2}
    storage: [shared-vast]
    add_ons: [cilium]
"""


def with_newer_release(bench: Any, chart: str = CHART, version: str = NEW, digit: str = "c") -> None:
    """Add a newer release of ``chart`` to the catalogue, with a digest that repeats ``digit``."""
    url = f"oci://registry.cloud.example/charts/{chart}"
    row = f'\n  - {{name: {chart}, url: "{url}", version: {version}, digest: "sha256:{digit * 64}"}}'
    bench.edit(VERSIONS, _AFTER_ROWS, row + _AFTER_ROWS)


def with_third_cluster(bench: Any) -> None:
    """Add a small cluster to the tenant of the other small cluster, with allocated numbers and hosts."""
    bench.edit("tenants/globex.yaml", _LAB, _LAB + _EVAL)
    sizes = "hosts: /26, pods: /20, services: /20, load_balancers: /28"
    vpc = f"vpcs:\n  - {{name: eval, isolation: dpf-ovn, {sizes}, egress: public}}\n"
    bench.edit("tenants/globex.yaml", "vpcs:\n", vpc)
    more = "\n  - {instance_type: cpu-gen4, nodes: 2}\nchanges"
    bench.edit("tenants/globex.yaml", "\nchanges", more)
    bench.allocate()


def with_waves(bench: Any, rules: str = "canary_tenants: [globex], soak_minutes: 60") -> None:
    """Set the waves of charts."""
    bench.edit("region.yaml", "spares: 2% ", f"chart_rollouts: {{{rules}}}\nspares: 2% ")


def at(environment: Environment, pins: ImagesLock) -> Environment:
    """Return ``environment`` with these pins."""
    return changed(environment, image_pins=sealed(pins))


def write(bench: Any, environment: Environment) -> None:
    """Write the lock files of ``environment``."""
    write_locks(environment, bench.root, environment.allocations, environment.image_pins)


def seen(environment: Environment, *clusters: str, **changes: Any) -> Evidence:
    """Return evidence that ``clusters`` have had their pinned charts for an hour, except for ``changes``."""
    entries = []
    for cluster in clusters:
        digest = environment.image_pins.charts_of(cluster)[CHART].digest
        entry = {"chart": CHART, "cluster": cluster, "applied": digest, "installed": digest, "settled": True}
        entries.append({**entry, "settled_since": "2026-11-21T08:00:00Z", "why": []} | changes)
    body = {"environment": "laptop", "observed_at": "2026-11-21T09:00:00Z", "pools": [], "charts": entries}
    return read_evidence("evidence.json", json.dumps(body).encode())


def rendered(environment: Environment) -> dict[str, Any]:
    """Return all objects by name."""
    found = (item for part in slices(environment) for item in objects(manifests(environment, part)))
    return {
        f"{item.kind} {item.body['metadata'].get('namespace')}/{item.name} {item.cluster}": item.body for item in found
    }


def versions(environment: Environment) -> dict[str, str]:
    """Return the chart version of each cluster with a chart source."""
    found = {}
    for body in rendered(environment).values():
        if body["kind"] == "HelmRelease" and body["spec"]["chartRef"]["name"] == CHART:
            source = body["spec"]["chartRef"]
            key = f"OCIRepository {source['namespace']}/{CHART} management"
            found[body["metadata"]["namespace"]] = rendered(environment)[key]["spec"]["ref"]["tag"]
    return found


def after_wave(environment: Environment, number: int, *shown: str, to: str | None = NEW) -> Environment:
    """Return ``environment`` after wave ``number``, with evidence that the clusters of ``shown`` are healthy."""
    evidence = seen(environment, *shown) if shown else None
    return at(environment, Promotion(environment, PROMOTED, to).next_wave(number, evidence))
