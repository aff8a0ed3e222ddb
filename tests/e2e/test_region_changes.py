"""What people change in a running region, one after the other: labels, sizes, images by wave, Kubernetes, lost state.

The tests run in the order of the file on one region. Several changes that touch different pools share one ``up``.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from local_region import ENVIRONMENT, LocalRegion

from components.plan.build.manifests import manifests
from components.plan.build.slices import slices
from components.render.manifest import objects
from components.specs.loader import load_environment

pytestmark = pytest.mark.e2e

ACME, GLOBEX = f"{ENVIRONMENT}/tenants/acme.yaml", f"{ENVIRONMENT}/tenants/globex.yaml"
SYSTEM, TRAIN, INFER, LAB = POOLS = ("acme-train/system", "acme-train/train", "acme-train/infer", "globex-lab/lab")
PAST_IMAGE, NEXT_IMAGE = "gpu-2026.10.2", "gpu-2026.11.1"
NEXT_MINOR, NEXT_MINOR_IMAGE = "v1.36.1", "gpu-2026.11.3"
CLUSTER_API = "cluster.x-k8s.io/v1beta2"
INFRASTRUCTURE, BOOTSTRAP = "infrastructure.cluster.x-k8s.io/v1beta2", "bootstrap.cluster.x-k8s.io/v1beta2"
TEMPLATES = ((INFRASTRUCTURE, "Metal3MachineTemplate"), (BOOTSTRAP, "KubeadmConfigTemplate"))
NODE_DOMAIN = "node.cluster.x-k8s.io"
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


def up(region: LocalRegion) -> dict[str, Any]:
    outcome = region.jacquard("up", ENVIRONMENT, "--format", "json")
    assert outcome.code == 0, outcome.text
    status: dict[str, Any] = json.loads(outcome.stdout)["status"]
    assert status["settled"] is True
    return status


def edited(region: LocalRegion, *command: str) -> None:
    outcome = region.jacquard(*command)
    assert outcome.code == 0, outcome.text


def refused(region: LocalRegion, *command: str) -> str:
    """Return why a command is refused: one problem, and nothing is written."""
    outcome = region.jacquard(*command)
    assert outcome.code == 2, outcome.text
    title, problem, *_ = outcome.stderr.splitlines()
    assert title == f"environments/{ENVIRONMENT}: 1 problem"
    return problem.strip()


def images(status: dict[str, Any]) -> dict[str, dict[str, int]]:
    return {f"{pool['cluster']}/{pool['name']}": pool["images"] for pool in status["pools"]}


def test_a_label_and_a_pace_change_in_place_while_another_pool_grows(running: LocalRegion) -> None:
    before = machines(running)
    running.edit(ACME, "labels: {workload: training}", "labels: {workload: training, stage: two}")
    running.edit(ACME, "strategy: idle, max_unavailable: 1", "strategy: idle, max_unavailable: 60%")
    running.edit(ACME, "instance_type: cpu-gen4, nodes: 2}", "instance_type: cpu-gen4, nodes: 4}")
    edited(running, "allocate", ENVIRONMENT)

    up(running)

    assert changed(before, machines(running)) == {f"{SYSTEM}/a04": (0, 2)}
    labelled = running.api("acme-train").list("v1", "Node", label_selector=f"{NODE_DOMAIN}/stage=two")
    assert {node["metadata"]["labels"][f"{NODE_DOMAIN}/workload"] for node in labelled} == {"training"}
    assert len(labelled) == 10


def test_a_wave_rolls_its_failure_domain_alone_while_another_pool_shrinks(region: LocalRegion) -> None:
    before = machines(region)
    edited(region, "promote", ENVIRONMENT, TRAIN, "--to", NEXT_IMAGE, "--wave", "1")
    region.edit(ACME, "instance_type: cpu-gen4, nodes: 4}", "instance_type: cpu-gen4, nodes: 2}")
    edited(region, "allocate", ENVIRONMENT)

    status = up(region)

    assert changed(before, machines(region)) == {f"{TRAIN}/a01": (5, 5), f"{SYSTEM}/a04": (2, 0)}
    assert images(status)[TRAIN] == {"gpu-2026.10.2": 5, NEXT_IMAGE: 5}


def test_a_wrong_order_is_refused_with_what_comes_first(region: LocalRegion) -> None:
    wave = ("promote", ENVIRONMENT, TRAIN, "--to", NEXT_IMAGE, "--wave", "2")
    assert refused(region, *wave).partition(": ")[2] == (
        "nothing shows that wave 1 is settled; go on with: jacquard status laptop --format json > evidence.json, then"
        " jacquard promote laptop acme-train/train --to gpu-2026.11.1 --wave 2 --evidence evidence.json"
    )

    region.edit(GLOBEX, "version: v1.35.2", f"version: {NEXT_MINOR}")
    assert refused(region, "promote", ENVIRONMENT, LAB, "--to", NEXT_MINOR_IMAGE).partition(": ")[2] == (
        "image gpu-2026.11.3 has kubelet v1.36.1, newer than control plane v1.35.2; the control plane goes first:"
        " jacquard promote laptop globex-lab --to v1.36.1"
    )

    region.edit("catalog/versions.yaml", "v1.36.1]", "v1.36.1, v1.37.0]")
    region.edit("catalog/versions.yaml", "kubernetes: v1.36}", "kubernetes: v1.37}")
    region.edit(GLOBEX, f"version: {NEXT_MINOR}", "version: v1.37.0")
    assert refused(region, "check", ENVIRONMENT).partition(": ")[2] == (
        "v1.37.0 is 2 minor versions above v1.35.2, it goes up one at a time; write v1.36.1 first (it runs what"
        " images.lock.yaml:5 says)"
    )
    region.edit(GLOBEX, "version: v1.37.0", f"version: {NEXT_MINOR}")


def test_the_next_wave_rolls_the_rest_while_a_control_plane_goes_up_a_minor_version(region: LocalRegion) -> None:
    before = machines(region)
    evidence = region.home / "evidence.json"
    evidence.write_text(json.dumps(region.status()))
    edited(region, "promote", ENVIRONMENT, TRAIN, "--to", NEXT_IMAGE, "--wave", "2", "--evidence", str(evidence))
    edited(region, "promote", ENVIRONMENT, "globex-lab", "--to", NEXT_MINOR)

    status = up(region)

    assert changed(before, machines(region)) == {f"{TRAIN}/a02": (5, 5)}
    assert images(status)[TRAIN] == {NEXT_IMAGE: 10}
    versions = {cluster["name"]: cluster["running_version"] for cluster in status["clusters"]}
    assert versions == {"acme-train": "v1.35.2", "globex-lab": NEXT_MINOR}


def test_what_data_want_of_nodes_rolls_nothing_and_shows_as_behind(region: LocalRegion) -> None:
    before = machines(region)
    taint = "{key: workload, value: inference, effect: NoSchedule}"
    region.edit(ACME, "labels: {workload: inference}", f"labels: {{workload: inference}}\n        image: {PAST_IMAGE}")
    region.edit(ACME, f"image: {PAST_IMAGE}\n", f"image: {PAST_IMAGE}\n        taints: [{taint}]\n")
    region.edit("catalog/images.yaml", "kubelet: v1.35.1, containerd: 2.1.4}", "kubelet: v1.35.2, containerd: 2.1.4}")

    up(region)

    assert changed(before, machines(region)) == {}
    [checked] = json.loads(region.jacquard("check", ENVIRONMENT, "--format", "json").stdout)
    [behind] = (item for item in checked["behind"] if item["pool"] == INFER)
    told = {one["field"]: (one["pinned"], one["data"]) for one in behind["differences"]}
    assert told == {"kubelet": ("v1.35.1", "v1.35.2"), "taints": ("none", f"[{taint}]")}


def test_pools_that_are_promoted_go_where_their_data_and_control_planes_are_and_no_other(region: LocalRegion) -> None:
    before = machines(region)
    edited(region, "promote", ENVIRONMENT, INFER)
    edited(region, "promote", ENVIRONMENT, LAB, "--to", NEXT_MINOR_IMAGE)

    status = up(region)

    assert changed(before, machines(region)) == {
        f"{INFER}/a03": (4, 4),
        f"{LAB}/a01": (1, 1),
        f"{LAB}/a02": (1, 1),
        f"{LAB}/a03": (2, 2),
    }
    assert (images(status)[LAB], images(status)[INFER]) == ({NEXT_MINOR_IMAGE: 4}, {PAST_IMAGE: 4})
    made = region.api().list(CLUSTER_API, "Machine", label_selector="jacquard.dev/pool=infer")
    assert {machine["spec"]["version"] for machine in made} == {"v1.35.2"}
    nodes = region.api("globex-lab").list("v1", "Node")
    assert [node["status"]["nodeInfo"]["kubeletVersion"] for node in nodes] == [NEXT_MINOR] * 4


def templates(region: LocalRegion) -> dict[str, str]:
    found = [body for kind in TEMPLATES for body in region.api().list(*kind)]
    return {body["metadata"]["name"]: body["metadata"]["uid"] for body in found}


def test_gc_removes_what_the_rollouts_left_and_nothing_that_is_in_use(region: LocalRegion) -> None:
    before, left = machines(region), templates(region)
    environment = load_environment(ENVIRONMENT, region.environments)
    declared = {
        manifest.name
        for piece in slices(environment)
        for manifest in objects(manifests(environment, piece))
        if (manifest.api_version, manifest.kind) in TEMPLATES
    }
    rolled = {f"{pool.replace('/', '-')}-{domain}" for pool in (TRAIN, LAB) for domain in before[pool]}

    def gone(*options: str) -> set[str]:
        outcome = region.jacquard("gc", ENVIRONMENT, "--format", "json", *options)
        assert outcome.code == 0, outcome.text
        return {template["name"] for template in json.loads(outcome.stdout)["unused"]}

    assert gone("--dry-run") == left.keys() - declared
    assert {name.rpartition("-")[0] for name in left.keys() - declared} >= rolled
    assert templates(region) == left
    assert gone() == left.keys() - declared
    assert templates(region) == {name: left[name] for name in declared}
    assert gone() == set()
    assert changed(before, machines(region)) == {}


def test_every_pool_is_uniform_after_its_rollouts(region: LocalRegion) -> None:
    outcome = region.jacquard("show", ENVIRONMENT, "uniformity", "--live", "--format", "json")

    assert outcome.code == 0, outcome.text
    found = {pool["pool"]: pool for pool in json.loads(outcome.stdout)["pools"]}
    shown = {name: (pool["seen"], pool["uniform"], pool["deviations"]) for name, pool in found.items()}
    assert shown == {SYSTEM: (2, True, []), TRAIN: (10, True, []), INFER: (4, True, []), LAB: (4, True, [])}
    assert found[LAB]["values"]["image"] == NEXT_MINOR_IMAGE
    assert {"image", "image_sha256", "kubelet"} & found[LAB]["not_reported"].keys() == set()


def applied(region: LocalRegion) -> dict[str, tuple[str, int]]:
    """Return uid and generation of every object that the data declares, and of every machine."""
    environment = load_environment(ENVIRONMENT, region.environments)
    made = [manifest for piece in slices(environment) for manifest in objects(manifests(environment, piece))]
    kinds = {(item.cluster, item.api_version, item.kind) for item in made} | {("management", CLUSTER_API, "Machine")}
    found = {}
    for cluster, api_version, kind in kinds:
        for body in region.api(cluster).list(api_version, kind):
            metadata = body["metadata"]
            key = f"{cluster} {kind} {metadata.get('namespace')}/{metadata['name']}"
            found[key] = (metadata["uid"], metadata.get("generation", 0))
    declared = {f"{item.cluster} {item.kind} {item.namespace}/{item.name}" for item in made}
    assert declared <= found.keys()
    return found


def test_a_lost_state_is_made_anew_from_what_is_there(region: LocalRegion) -> None:
    before = applied(region)
    lost = list((region.home / "pulumi" / "state" / ".pulumi" / "stacks").rglob(f"{ENVIRONMENT}.*"))
    assert {path.name for path in lost} >= {f"{ENVIRONMENT}.json", f"{ENVIRONMENT}.bootstrap.json"}
    for path in lost:
        path.unlink()

    up(region)

    assert applied(region) == before
    unchanged = region.pulumi("preview", "-s", ENVIRONMENT, "--expect-no-changes")
    assert unchanged.code == 0, unchanged.text
