"""Complete image rollouts by wave, the next minor version of Kubernetes, and the final state, in a separate region.

The tests run in the order of the file. The vendor's field manager owns the pools' fields at first, so each rollout is
also a provider migration. ``test_region_changes.py`` has the cheaper parts.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator

import pytest

from jacquard.providers.kube import ObjectRef
from tests.support.engine.provider_migration import assign_to_vendor, owned_by_vendor
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, deleted_at_exit
from tests.support.local_regions.region_contents import (
    CLUSTER_API,
    POOLS,
    TEMPLATES,
    applied,
    changed,
    commit,
    declared,
    images,
    machines,
    templates,
)
from tests.support.local_regions.region_steps import edited, record, up

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

ACME, GLOBEX = f"{ENVIRONMENT}/tenants/acme.yaml", f"{ENVIRONMENT}/tenants/globex.yaml"
SYSTEM, TRAIN, INFER, LAB = POOLS
PAST_IMAGE, NEXT_IMAGE = "gpu-2026.10.2", "gpu-2026.11.1"
NEXT_MINOR, NEXT_MINOR_IMAGE = "v1.36.1", "gpu-2026.11.3"


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """A running region, with its data under version control and the first of two waves rolled out."""
    with deleted_at_exit(LocalRegion(tmp_path_factory.mktemp("rollouts"))) as local:
        local.up()
        commit(local)
        assign_to_vendor(local.api())
        local.edit(ACME, "strategy: idle, max_unavailable: 1", "strategy: idle, max_unavailable: 60%")
        edited(local, "promote", ENVIRONMENT, TRAIN, "--to", NEXT_IMAGE, "--wave", "1")
        assert images(up(local))[TRAIN] == {PAST_IMAGE: 5, NEXT_IMAGE: 5}
        yield local


def test_the_next_wave_rolls_the_rest_while_a_control_plane_is_upgraded(region: LocalRegion) -> None:
    before = machines(region)
    evidence = region.home / "evidence.json"
    evidence.write_text(json.dumps(region.status()))
    region.edit(GLOBEX, "version: v1.35.2", f"version: {NEXT_MINOR}")
    edited(region, "promote", ENVIRONMENT, TRAIN, "--to", NEXT_IMAGE, "--wave", "2", "--evidence", str(evidence))
    edited(region, "promote", ENVIRONMENT, "globex-lab", "--to", NEXT_MINOR)

    status = up(region)

    assert changed(before, machines(region)) == {f"{TRAIN}/a02": (5, 5)}
    assert images(status)[TRAIN] == {NEXT_IMAGE: 10}
    versions = {cluster["name"]: cluster["running_version"] for cluster in status["clusters"]}
    assert versions == {"acme-train": "v1.35.2", "globex-lab": NEXT_MINOR}


def test_edits_of_node_data_roll_nothing_and_show_as_out_of_date(region: LocalRegion) -> None:
    before = machines(region)
    taint = "{key: workload, value: inference, effect: NoSchedule}"
    region.edit(ACME, "labels: {workload: inference}", f"labels: {{workload: inference}}\n        image: {PAST_IMAGE}")
    region.edit(ACME, f"image: {PAST_IMAGE}\n", f"image: {PAST_IMAGE}\n        taints: [{taint}]\n")

    up(region)

    assert changed(before, machines(region)) == {}
    [checked] = json.loads(region.jacquard("check", ENVIRONMENT, "--format", "json").stdout)
    [behind] = (item for item in checked["behind"] if item["pool"] == INFER)
    differences = {one["field"]: (one["pinned"], one["data"]) for one in behind["differences"]}
    assert differences == {"taints": ("none", f"[{taint}]")}


def test_only_promoted_pools_follow_their_data_and_control_planes(region: LocalRegion) -> None:
    before = machines(region)
    edited(region, "promote", ENVIRONMENT, INFER)
    edited(region, "promote", ENVIRONMENT, LAB, "--to", NEXT_MINOR_IMAGE, "--all")

    status = up(region)

    assert changed(before, machines(region)) == {
        f"{INFER}/a03": (4, 4),
        f"{LAB}/a01": (1, 1),
        f"{LAB}/a02": (1, 1),
        f"{LAB}/a03": (2, 2),
    }
    assert (images(status)[LAB], images(status)[INFER]) == ({NEXT_MINOR_IMAGE: 4}, {PAST_IMAGE: 4})
    made = region.api().list(CLUSTER_API, "Machine", label_selector="jacquard.dev/pool=infer")
    assert {machine["spec"]["version"] for machine in made} == {"v1.35.1"}
    nodes = region.api("globex-lab").list("v1", "Node")
    assert [node["status"]["nodeInfo"]["kubeletVersion"] for node in nodes] == [NEXT_MINOR] * 4
    assert owned_by_vendor(region.api()) == [f"{SYSTEM.replace('/', '-')}-a04"]  # The one without an edit


def test_gc_only_deletes_unused_templates_of_rollouts(region: LocalRegion) -> None:
    before, left = machines(region), templates(region)
    wanted = {manifest.name for manifest in declared(region) if (manifest.api_version, manifest.kind) in TEMPLATES}
    rolled = {f"{pool.replace('/', '-')}-{domain}" for pool in (TRAIN, LAB) for domain in before[pool]}

    def unused_templates(*options: str) -> set[str]:
        outcome = region.jacquard("gc", ENVIRONMENT, "--format", "json", *options)
        assert outcome.code == 0, outcome.text
        return {template["name"] for template in json.loads(outcome.stdout)["unused"]}

    assert unused_templates("--dry-run") == left.keys() - wanted
    assert {name.rpartition("-")[0] for name in left.keys() - wanted} >= rolled
    assert templates(region) == left
    assert unused_templates() == left.keys() - wanted
    assert templates(region) == {name: left[name] for name in wanted}
    assert unused_templates() == set()
    assert changed(before, machines(region)) == {}


def test_every_pool_is_uniform_after_its_rollouts(region: LocalRegion) -> None:
    outcome = region.jacquard("show", ENVIRONMENT, "uniformity", "--live", "--format", "json")

    assert outcome.code == 0, outcome.text
    found = {pool["pool"]: pool for pool in json.loads(outcome.stdout)["pools"]}
    shown = {name: (pool["seen"], pool["uniform"], pool["deviations"]) for name, pool in found.items()}
    assert shown == {SYSTEM: (2, True, []), TRAIN: (10, True, []), INFER: (4, True, []), LAB: (4, True, [])}
    assert found[LAB]["values"]["image"] == NEXT_MINOR_IMAGE
    assert {"image", "image_sha256", "kubelet"} & found[LAB]["not_reported"].keys() == set()


def test_unchanged_objects_are_not_replaced_although_the_engine_would(region: LocalRegion) -> None:
    before = applied(region)
    recorded = json.loads(region.pulumi("stack", "export", "-s", ENVIRONMENT).stdout)
    moved = copy.deepcopy(recorded)
    [provider] = (one for one in moved["deployment"]["resources"] if one["urn"].endswith(":kubernetes::globex-lab"))
    for side in ("inputs", "outputs"):
        provider[side]["clusterIdentifier"] = "laptop/another"  # Objects in another cluster are replaced.

    record(region, moved)
    outcome = region.jacquard("up", ENVIRONMENT, "--format", "json")
    record(region, recorded)

    assert outcome.code == 5, outcome.text
    found = json.loads(outcome.stdout)["held"][ENVIRONMENT]

    inside = {
        f"{item.kind} {'/'.join(filter(None, (item.namespace, item.name)))}"
        for item in declared(region)
        if item.cluster == "globex-lab"
    }
    assert {one["object"] for one in found["objects"]} == inside
    assert {(one["operation"], *one["forced_by"], one["reason"]) for one in found["objects"]} == {
        ("replace", "provider", "its declaration did not change")
    }
    assert applied(region) == before


def test_removed_namespaces_are_only_deleted_after_confirmation(region: LocalRegion) -> None:
    region.edit(GLOBEX, "storage: [shared-vast]", "storage: []")

    preview = region.jacquard("preview", ENVIRONMENT, "--format", "json")
    assert preview.code == 5, preview.text
    found = json.loads(preview.stdout)["stacks"][0]["held"]
    assert [one["object"] for one in found["objects"]] == ["Namespace snapshot-controller", "Namespace vast-csi"]
    cluster = region.api("globex-lab")
    there = [cluster.get(ObjectRef("v1", "Namespace", name, None)) for name in ("snapshot-controller", "vast-csi")]
    assert all(body and "deletionTimestamp" not in body["metadata"] for body in there)

    up(region, "--confirm", found["accept"])
    left = {body["metadata"]["name"] for body in cluster.list("v1", "Namespace")}
    assert left.isdisjoint({"snapshot-controller", "vast-csi"})
