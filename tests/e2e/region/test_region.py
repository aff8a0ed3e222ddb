"""Main sequence of a region: up, no changes, drift, two parallel runs, and nightly one image promotion.

The tests run in the order of the file on one region: each depends on the state that the previous one leaves.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import objects
from components.render.pools import metal3
from components.reports.garbage import USERS
from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode
from jacquard.lab.rehearsal.images import PUBLIC
from jacquard.providers.kube import ApiError, ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.local_regions.imaged_hosts import host_with_image, status_of
from tests.support.local_regions.local_region import ENVIRONMENT, UP, LocalRegion, wait_until
from tests.support.local_regions.region_contents import changed, commit, gpu_job, images, machines
from tests.support.local_regions.region_steps import edited, planned_steps, promoted
from tests.support.local_regions.running_pods import RunningPod
from tests.support.network.vpc_rules import denied, edit_rules, rules_of_hosts
from tests.support.objects.published_crds import CRDS

pytestmark = pytest.mark.e2e

CLUSTER = "acme-train"
BUMPED = "infer"
NEW_IMAGE = "gpu-2026.11.1"


def test_up_brings_every_pool_to_its_size(region: LocalRegion) -> None:
    outcome = region.jacquard("up", ENVIRONMENT)

    assert outcome.code == 0, outcome.text
    status = region.status()
    assert status["settled"] is True
    sizes = {f"{pool['cluster']}/{pool['name']}": (pool["ready"], pool["total"]) for pool in status["pools"]}
    assert sizes == {
        "acme-train/system": (2, 2),
        "acme-train/train": (10, 10),
        "acme-train/infer": (4, 4),
        "globex-lab/lab": (4, 4),
    }


def test_machines_run_on_hosts_and_nodes_are_in_the_tenants_cluster(region: LocalRegion) -> None:
    nodes = region.api(CLUSTER).list("v1", "Node")
    hosts = region.api().list("metal3.io/v1alpha1", "BareMetalHost", namespace=CLUSTER)

    assert len(nodes) == 16
    provisioned = [host for host in hosts if host["status"]["provisioning"]["state"] == "provisioned"]
    assert len(provisioned) == 16


def test_a_pod_with_gpus_is_scheduled_on_a_node_with_a_device_plugin(region: LocalRegion) -> None:
    api, ref = region.api(CLUSTER), ObjectRef("v1", "Pod", "gpus", "default")
    pod = gpu_job(ref, "")
    pod["spec"] = {"containers": pod["spec"]["containers"]}
    api.create(pod, field_manager="somebody")

    def running() -> bool:
        return (api.get(ref) or {}).get("status", {}).get("phase") == "Running"

    wait_until(running, timeout_seconds=60, what="a pod runs that asks for GPUs")
    node = api.get(ObjectRef("v1", "Node", (api.get(ref) or {})["spec"]["nodeName"])) or {}
    plain = api.list("v1", "Node", label_selector="node-restriction.kubernetes.io/pool=system")
    api.delete(ref)

    assert node["metadata"]["labels"]["node-restriction.kubernetes.io/pool"] == "infer", "the others are tainted"
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    assert [one["metadata"]["name"] for one in plain if "nvidia.com/gpu" in one["status"]["allocatable"]] == []


def test_without_egress_images_are_pulled_from_the_registry_only(region: LocalRegion) -> None:
    """The rules of the VPC's DPUs are edited manually to those of ``egress: none``, with and without a registry."""
    management, api = region.api(), region.api(CLUSTER)
    [node, *_] = api.list("v1", "Node", label_selector="node-restriction.kubernetes.io/pool=system")
    registry = load_environment(ENVIRONMENT, region.environments).region.registry
    assert registry is not None
    before = rules_of_hosts(management)
    without_egress = denied(before, "0.0.0.0/0")

    edit_rules(management, without_egress)
    mirrored = RunningPod(api, node["metadata"]["name"], "mirrored", PUBLIC[0])
    wait_until(mirrored.runs, timeout_seconds=60, what="a pod runs with an image of the registry")
    edit_rules(management, denied(without_egress, f"{registry.address}/32"))
    late = RunningPod(api, node["metadata"]["name"], "late", PUBLIC[1])
    # A kubelet creates the event after it writes the status.
    wait_until(lambda: ("Normal", "BackOff") in late.events(), timeout_seconds=60, what="an image is not pulled")
    message, events = late.waiting()["message"], late.events()
    edit_rules(management, before)
    wait_until(late.runs, timeout_seconds=60, what="the pod runs once the registry is reached again")
    for pod in (mirrored, late):
        pod.delete()

    url = f"https://{registry.mirror}/v2/registry.k8s.io/pause/manifests/3.10.1?ns=registry.k8s.io"
    cause = f'failed to do request: Head "{url}": dial tcp {registry.address}:443: i/o timeout'
    assert message.startswith(f'Back-off pulling image "{PUBLIC[1]}": ErrImagePull: rpc error: code = Unknown desc = ')
    assert message.endswith(f'failed to resolve reference "{PUBLIC[1]}": {cause}')
    assert events >= {("Warning", "Failed"), ("Normal", "BackOff")}


def test_a_host_without_credentials_is_not_registered(region: LocalRegion) -> None:
    api = region.api()
    host = host_with_image("by-nobody", None, login="of-nobody")
    api.apply(host, field_manager="test")

    wait_until(
        lambda: status_of(api, "by-nobody").get("errorType") == "registration error",
        timeout_seconds=60,
        what="the host says that it lacks its login",
    )

    status = status_of(api, "by-nobody")
    assert status["errorMessage"] == "The BMC secret inventory/of-nobody does not exist"
    assert status["provisioning"]["state"] == "registering"
    api.delete(ObjectRef.of(host))


def test_an_image_is_only_written_to_a_disk_that_matches_all_hints(region: LocalRegion) -> None:
    api = region.api()
    hosts = {
        "by-default": None,
        "other-model": {"model": "KIOXIA"},
        "too-small": {"model": "mz1l", "minSizeGigabytes": 900},
    }
    for name, hints in hosts.items():
        api.apply(host_with_image(name, hints), field_manager="test")

    def failed() -> bool:
        return all(status_of(api, name).get("errorType") == "provisioning error" for name in hosts)

    wait_until(failed, timeout_seconds=60, what="no host finds a disk")
    for name in hosts:
        api.apply(host_with_image(name, {"model": "MZ1L2960"}), field_manager="test", force=True)
    wait_until(
        lambda: all(dig(status_of(api, name), "provisioning", "state") == "provisioned" for name in hosts),
        timeout_seconds=120,
        what="the right hint lets all of them be provisioned at the next attempt",
    )
    assert {status_of(api, name)["errorMessage"] for name in hosts} == {""}
    for name in hosts:
        api.delete(ObjectRef.of(host_with_image(name, None)))


@pytest.mark.skipif(not CRDS.is_dir(), reason=f"no published CRDs at {CRDS}; set CRDS_DIR to a folder that has them")
def test_every_object_is_accepted_strictly_with_the_published_crds(region: LocalRegion) -> None:
    environment = load_environment(ENVIRONMENT, region.environments)
    refused = []
    for piece in slices(environment):
        for manifest in objects(manifests(environment, piece)):
            try:
                region.api(manifest.cluster).apply(manifest.body, field_manager="strict", dry_run=True, force=True)
            except ApiError as error:
                refused.append(f"{manifest.key}: {error}")

    assert refused == []


def test_a_second_up_changes_nothing(region: LocalRegion) -> None:
    before = machines(region)

    outcome = region.jacquard("up", ENVIRONMENT)

    assert outcome.code == 0, outcome.text
    assert "no changes" in outcome.stdout
    assert machines(region) == before


def test_plain_pulumi_with_the_policy_pack_sees_no_change(region: LocalRegion) -> None:
    outcome = region.pulumi("preview", "-s", ENVIRONMENT, "--policy-pack", "policies", "--expect-no-changes")

    assert outcome.code == 0, outcome.text


def test_state_holds_no_credential(region: LocalRegion) -> None:
    outcome = region.pulumi("stack", "export", "-s", ENVIRONMENT)

    assert outcome.code == 0, outcome.text
    for trace in (
        "PRIVATE KEY",
        base64.b64encode(b"-----BEGIN ").decode()[:14],
    ):  # As text, and in the encoding of kubeconfigs
        assert trace not in outcome.stdout


def test_a_manually_edited_host_is_reported_as_drift_by_refresh(region: LocalRegion) -> None:
    api = region.api()
    host = api.list("metal3.io/v1alpha1", "BareMetalHost", namespace=CLUSTER)[0]
    body = {
        "apiVersion": host["apiVersion"],
        "kind": host["kind"],
        "metadata": {"name": host["metadata"]["name"], "namespace": CLUSTER},
        "spec": {"online": False},
    }
    api.apply(body, field_manager="somebody", force=True)

    drift = region.pulumi("refresh", "-s", ENVIRONMENT, "--preview-only", "--diff", "--expect-no-changes")
    # With another field manager: an apply by the set's manager with such a short body would remove all other fields.
    api.apply(body | {"spec": {"online": True}}, field_manager="somebody", force=True)

    assert drift.code != 0, drift.text
    assert host["metadata"]["name"] in drift.text


def test_an_impact_reports_the_running_jobs(region: LocalRegion, tmp_path: Path) -> None:
    api, facts = region.api(CLUSTER), tmp_path / "facts.json"
    [node, *_] = api.list("v1", "Node", label_selector=f"node-restriction.kubernetes.io/pool={BUMPED}")
    ref = ObjectRef("v1", "Pod", "job", "default")
    api.create(gpu_job(ref, str(node["metadata"]["name"])), field_manager="somebody")
    commit(region)

    taken = region.jacquard("facts", ENVIRONMENT, "--out", str(facts))
    with promoted(region, f"{CLUSTER}/{BUMPED}", NEW_IMAGE):
        impact = region.jacquard("impact", ENVIRONMENT, "--facts", str(facts), "--format", "json")
    api.delete(ref)

    assert taken.stdout.startswith(f"{ENVIRONMENT}: 1 of 20 nodes occupied by 1 pod on 4 GPUs, as of "), taken.text
    [found] = json.loads(impact.stdout)
    jobs = [{"tenant": "acme", "nodes": 1, "pods": 1, "gpus": 4}]
    assert found["occupancy"] == {"tenants": jobs, "unknown": None}
    domain = node["metadata"]["labels"]["node-restriction.kubernetes.io/failure-domain"]
    occupied = [row["part"] for row in found["rows"] if row["occupancy"] and row["occupancy"]["tenants"]]
    assert occupied == [f"{CLUSTER}/{BUMPED}/{domain}"]


def test_a_manual_edit_is_reported_with_its_owner_until_it_is_reverted(region: LocalRegion) -> None:
    api = region.api()
    host = ObjectRef.of(api.list("metal3.io/v1alpha1", "BareMetalHost", namespace=CLUSTER)[0])

    before = region.jacquard("drift", ENVIRONMENT)
    api.patch(host, {"spec": {"online": False}}, field_manager="kubectl-edit")
    edited = region.jacquard("drift", ENVIRONMENT, "--format", "json")
    api.patch(host, {"spec": {"online": True}}, field_manager="kubectl-edit")
    after = region.jacquard("drift", ENVIRONMENT)

    assert before.code == 0, before.text
    assert edited.code == ExitCode.DRIFTED, edited.text
    [found] = json.loads(edited.stdout)["objects"]
    assert (found["cluster"], found["kind"]) == ("management", "metal3.io/BareMetalHost")
    assert (found["name"], found["what"]) == (f"{CLUSTER}/{host.name}", "differs")
    [field] = found["fields"]
    difference = tuple(field[name] for name in ("path", "declared", "live", "by", "manager"))
    assert difference == ("spec.online", "true", "false", "by hand", "kubectl-edit")
    assert after.code == 0, after.text


def test_an_image_promotion_only_creates_templates_of_its_pool(region: LocalRegion) -> None:
    with promoted(region, f"{CLUSTER}/{BUMPED}", NEW_IMAGE):
        planned = planned_steps(region.pulumi("preview", "-s", ENVIRONMENT, "--json"))

    assert planned["update"]
    assert all(name.startswith("MachineDeployment ") and f"-{BUMPED}-" in name for name in planned["update"])
    created = planned["create"]
    assert all(name.split(" ")[0] in {"Metal3MachineTemplate", "KubeadmConfigTemplate"} for name in created)
    assert all(f"-{BUMPED}-" in name for name in created)
    assert set(planned) <= {"create", "update", "delete"}


def test_one_of_two_parallel_ups_is_rejected(region: LocalRegion) -> None:
    first = region.start(*UP)
    second = region.start(*UP)
    outputs = [process.communicate(timeout=300) for process in (first, second)]
    codes = sorted(process.returncode for process in (first, second))

    assert codes[0] == 0, outputs
    assert codes[1] != 0, outputs
    assert any("another" in "".join(output) or "lock" in "".join(output) for output in outputs)


@pytest.mark.nightly
def test_an_image_promotion_replaces_exactly_the_machines_of_its_pool(running: LocalRegion) -> None:
    before, pool = machines(running), f"{CLUSTER}/{BUMPED}"
    edited(running, "promote", ENVIRONMENT, pool, "--to", NEW_IMAGE)

    running.up()

    assert changed(before, machines(running)) == {f"{pool}/a03": (4, 4)}
    assert images(running.status())[pool] == {NEW_IMAGE: 4}


@pytest.mark.nightly
def test_garbage_collection_only_keeps_referenced_templates(region: LocalRegion) -> None:
    outcome = region.jacquard("gc", ENVIRONMENT, "--format", "json")
    assert outcome.code == 0, outcome.text

    api = region.api()
    users = [body for kind in USERS for body in api.list(*kind)]
    named = {body["spec"]["template"]["spec"]["infrastructureRef"]["name"] for body in users}
    assert {body["metadata"]["name"] for body in api.list(*metal3.MACHINE_TEMPLATE)} == named
