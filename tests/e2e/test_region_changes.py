"""What people change in a running region, one after the other: labels, sizes, images by wave, Kubernetes, lost state.

The tests run in the order of the file on one region. Several changes that touch different pools share one ``up``.
What they change is left first as the vendor's provider leaves what it makes, so that each is also a change of hands.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from change_of_hands import leave_as_the_vendors_provider_does, still_the_vendors
from local_region import ENVIRONMENT, LocalRegion
from other_plug_ins import vendors_on_path
from region_contents import (
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
from region_steps import edited, record, refused, up

from providers.kube import ObjectRef
from toolchain.engine import choose

pytestmark = pytest.mark.e2e

ACME, GLOBEX = f"{ENVIRONMENT}/tenants/acme.yaml", f"{ENVIRONMENT}/tenants/globex.yaml"
SYSTEM, TRAIN, INFER, LAB = POOLS
PAST_IMAGE, NEXT_IMAGE = "gpu-2026.10.2", "gpu-2026.11.1"
NEXT_MINOR, NEXT_MINOR_IMAGE = "v1.36.1", "gpu-2026.11.3"
NODE_DOMAIN = "node.cluster.x-k8s.io"
_BOTH_KINDS = pytest.mark.skipif(choose(fetch=False).vendor is not None, reason="the vendor's are the first kind here")


@pytest.fixture
def tracked(running: LocalRegion) -> LocalRegion:
    """The region, up, with its data under version control."""
    commit(running)
    return running


def test_a_label_and_a_pace_change_in_place_while_another_pool_grows(tracked: LocalRegion) -> None:
    leave_as_the_vendors_provider_does(tracked.api())
    before = machines(tracked)
    tracked.edit(ACME, "labels: {workload: training}", "labels: {workload: training, stage: two}")
    tracked.edit(ACME, "strategy: idle, max_unavailable: 1", "strategy: idle, max_unavailable: 60%")
    tracked.edit(ACME, "instance_type: cpu-gen4, nodes: 2}", "instance_type: cpu-gen4, nodes: 4}")
    edited(tracked, "allocate", ENVIRONMENT)

    up(tracked)

    assert changed(before, machines(tracked)) == {f"{SYSTEM}/a04": (0, 2)}
    labelled = tracked.api("acme-train").list("v1", "Node", label_selector=f"{NODE_DOMAIN}/stage=two")
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
    assert still_the_vendors(region.api()) == []


def test_gc_removes_what_the_rollouts_left_and_nothing_that_is_in_use(region: LocalRegion) -> None:
    before, left = machines(region), templates(region)
    wanted = {manifest.name for manifest in declared(region) if (manifest.api_version, manifest.kind) in TEMPLATES}
    rolled = {f"{pool.replace('/', '-')}-{domain}" for pool in (TRAIN, LAB) for domain in before[pool]}

    def gone(*options: str) -> set[str]:
        outcome = region.jacquard("gc", ENVIRONMENT, "--format", "json", *options)
        assert outcome.code == 0, outcome.text
        return {template["name"] for template in json.loads(outcome.stdout)["unused"]}

    assert gone("--dry-run") == left.keys() - wanted
    assert {name.rpartition("-")[0] for name in left.keys() - wanted} >= rolled
    assert templates(region) == left
    assert gone() == left.keys() - wanted
    assert templates(region) == {name: left[name] for name in wanted}
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


def test_what_nobody_changed_is_not_replaced_although_the_engine_would(region: LocalRegion) -> None:
    before = applied(region)
    recorded = json.loads(region.pulumi("stack", "export", "-s", ENVIRONMENT).stdout)
    moved = copy.deepcopy(recorded)
    [provider] = (one for one in moved["deployment"]["resources"] if one["urn"].endswith(":kubernetes::globex-lab"))
    for side in ("inputs", "outputs"):
        provider[side]["clusterIdentifier"] = "laptop/another"  # whatever is in another cluster is replaced

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
        ("replace", "provider", "nobody changed what is declared of it")
    }
    assert applied(region) == before


def test_namespaces_that_a_cluster_gives_up_go_only_with_a_word(region: LocalRegion) -> None:
    region.edit(GLOBEX, "storage: [shared-vast]", "storage: []")

    preview = region.jacquard("preview", ENVIRONMENT, "--format", "json")
    assert preview.code == 5, preview.text
    found = json.loads(preview.stdout)["stacks"][0]["held"]
    assert [one["object"] for one in found["objects"]] == ["Namespace snapshot-controller", "Namespace vast-csi"]
    cluster = region.api("globex-lab")
    there = [cluster.get(ObjectRef("v1", "Namespace", name, None)) for name in ("snapshot-controller", "vast-csi")]
    assert all(body and "deletionTimestamp" not in body["metadata"] for body in there)

    up(region, "--accept", found["accept"])
    left = {body["metadata"]["name"] for body in cluster.list("v1", "Namespace")}
    assert left.isdisjoint({"snapshot-controller", "vast-csi"})


@pytest.mark.parametrize("stack", [ENVIRONMENT, f"{ENVIRONMENT}.bootstrap"])
def test_a_plain_destroy_is_refused_before_its_first_step(running: LocalRegion, stack: str) -> None:
    before = applied(running)

    refused = running.pulumi("destroy", "-s", stack, "--yes")

    assert refused.code != 0
    assert f"{stack}::jacquard::jacquard:components:PlugIns::plug-ins" in refused.text
    assert "cannot be deleted" in refused.text
    assert applied(running) == before


@_BOTH_KINDS
def test_other_plug_ins_are_noticed_by_jacquard_and_by_plain_pulumi(region: LocalRegion, tmp_path: Path) -> None:
    with vendors_on_path(region, tmp_path):
        refused = region.jacquard("up", ENVIRONMENT)
        plain = region.pulumi("preview", "-s", ENVIRONMENT)

    assert (refused.code, refused.stderr.count("was last written by the stand-ins")) == (5, 1), refused.text
    assert plain.code != 0
    assert f"stack {ENVIRONMENT} was last written by the stand-ins" in plain.text


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


@_BOTH_KINDS
@pytest.mark.nightly
def test_other_plug_ins_take_over_when_somebody_says_so_and_are_noticed_then(
    tracked: LocalRegion, tmp_path: Path
) -> None:
    before = applied(tracked)
    with vendors_on_path(tracked, tmp_path):
        up(tracked, "--switch-to", "vendor")
        assert tracked.pulumi("preview", "-s", ENVIRONMENT, "--expect-no-changes").code == 0

    back = tracked.jacquard("preview", ENVIRONMENT)
    assert (back.code, back.stderr.count("was last written by the vendor's plug-ins")) == (5, 1), back.text
    assert applied(tracked) == before

    up(tracked, "--switch-to", "stand-in")  # back again, as tests of other files expect it
    assert applied(tracked) == before
