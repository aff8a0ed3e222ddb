"""Pods of two tenants on one InfiniBand fabric start only in their own partition of the fabric manager.

The region has a small UFM, and simulates ib-kubernetes, Multus and the CNI plug-in of the ports from the rendered
objects (docs/lab/rehearsal.md). No packet is sent. The fabric is added to a running region, as for users.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.render.network.infiniband import RESOURCE, attachment_of
from components.render.network.port_functions import NETWORKS
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal.images import PUBLIC
from jacquard.lab.rehearsal.operators.network.fabric_manager import PARTITIONS
from jacquard.providers.kube import ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, wait_until
from tests.support.local_regions.region_steps import edited

pytestmark = pytest.mark.e2e

ACME, GLOBEX = "acme-train", "globex-lab"
FABRIC, UFM = "ib-desk", "ufm-ib-desk"
DATA = f"""fabrics:
  - name: {FABRIC}
    kind: infiniband
    pkeys: 0x10-0x1f
    guids: "0x0200000000000000-0x020000000000ffff"
    ufm_secret: {UFM}
    max_hosts: 24
"""
LISTED = f"    fabrics: [{FABRIC}]\n    egress: public"


@pytest.fixture(scope="module")
def on_fabric(region: LocalRegion) -> LocalRegion:
    """The running region with a fabric on which both VPCs have partitions."""
    region.edit(f"{ENVIRONMENT}/region.yaml", "control_planes:\n", f"{DATA}control_planes:\n")
    for tenant in ("acme", "globex"):
        region.edit(f"{ENVIRONMENT}/tenants/{tenant}.yaml", "    egress: public", LISTED)
    edited(region, "allocate", ENVIRONMENT)
    region.up()
    return region


def job(name: str, ports: int = 1, network: str = FABRIC) -> dict[str, Any]:
    """Return a pod that requests ports, with one attachment for each."""
    container = {
        "name": "work",
        "image": PUBLIC[0],
        "resources": {"limits": {RESOURCE: str(ports)}},
    }
    networks = ",".join([attachment_of(network)] * ports)
    metadata = {"name": name, "namespace": "default", "annotations": {NETWORKS: networks}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


def pod_of(region: LocalRegion, name: str, cluster: str = ACME) -> dict[str, Any]:
    return region.api(cluster).get(ObjectRef("v1", "Pod", name, "default")) or {}


def runs(region: LocalRegion, name: str, cluster: str = ACME) -> bool:
    return dig(pod_of(region, name, cluster), "status", "phase") == "Running"


def refusal(region: LocalRegion, name: str) -> str:
    """Return the kubelet's reason for the missing sandbox of a pod of acme; empty if it has reported none."""
    events = region.api(ACME).list("v1", "Event", namespace="default")
    messages = [one["message"] for one in events if one["involvedObject"]["name"] == name]
    return next((message for message in messages if "sandbox" in message), "")


def partitions(region: LocalRegion) -> dict[str, list[str]]:
    """Return the members of each non-empty partition."""
    path = region.home / "regions" / ENVIRONMENT / PARTITIONS
    there = json.loads(path.read_text()) if path.exists() else {}
    return {pkey: sorted(members) for pkey, members in there.items() if members}


def guids(region: LocalRegion, name: str, cluster: str = ACME) -> list[str]:
    networks = json.loads(pod_of(region, name, cluster)["metadata"]["annotations"][NETWORKS])
    return sorted(one["cni-args"]["guid"].replace(":", "") for one in networks)


def test_pods_of_two_tenants_are_in_separate_partitions_with_separate_guids(on_fabric: LocalRegion) -> None:
    on_fabric.api(ACME).create(job("collective", ports=2), field_manager="somebody")
    on_fabric.api(GLOBEX).create(job("collective"), field_manager="somebody")

    wait_until(
        lambda: runs(on_fabric, "collective") and runs(on_fabric, "collective", GLOBEX),
        timeout_seconds=60,
        what="pods that ask for ports run",
    )

    locked = load_environment(ENVIRONMENT, on_fabric.environments).allocations
    ours, theirs = guids(on_fabric, "collective"), guids(on_fabric, "collective", GLOBEX)
    keys = [hex(locked.vpcs[vpc].pkeys[FABRIC]) for vpc in ("acme", "globex")]
    assert partitions(on_fabric) == dict(zip(keys, (ours, theirs), strict=True))
    for cluster, found in ((ACME, ours), (GLOBEX, theirs)):
        numbers = locked.clusters[cluster].guids[FABRIC]
        assert all(numbers.first <= int(guid, 16) <= numbers.last for guid in found)
    node = ObjectRef("v1", "Node", pod_of(on_fabric, "collective")["spec"]["nodeName"])
    assert (on_fabric.api(ACME).get(node) or {})["status"]["allocatable"][RESOURCE] == "128"


def test_members_leave_their_partition_with_their_pods(on_fabric: LocalRegion) -> None:
    for cluster in (ACME, GLOBEX):
        on_fabric.api(cluster).delete(ObjectRef("v1", "Pod", "collective", "default"))

    wait_until(lambda: not partitions(on_fabric), timeout_seconds=60, what="UFM has no members any more")


def test_a_pod_in_a_rejected_partition_waits_and_reports_the_reason(on_fabric: LocalRegion) -> None:
    api = on_fabric.api(ACME)
    ref = ObjectRef("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", FABRIC, "default")
    ours = api.get(ref) or {}
    config = json.dumps({**json.loads(ours["spec"]["config"]), "pkey": "0x7fff"})
    metadata = {"name": "everybody", "namespace": "default", "annotations": ours["metadata"]["annotations"]}
    theirs = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, "spec": {"config": config}}
    api.create(theirs, field_manager="somebody")
    api.create(job("curious", network="everybody"), field_manager="somebody")

    wait_until(lambda: bool(refusal(on_fabric, "curious")), timeout_seconds=60, what="the pod says why it waits")

    assert 'is not "configured" please check mellanox ib-kubernetes' in refusal(on_fabric, "curious")
    assert (runs(on_fabric, "curious"), partitions(on_fabric)) == (False, {})
    for one in (job("curious"), theirs):
        api.delete(ObjectRef.of(one))


def test_with_wrong_credentials_ib_kubernetes_fails_and_pods_wait(on_fabric: LocalRegion) -> None:
    management, secret = on_fabric.api(), ObjectRef("v1", "Secret", UFM, ACME)
    labels = f"jacquard.dev/fabric={FABRIC}"

    def daemon() -> dict[str, Any]:
        return next(iter(management.list("v1", "Pod", namespace=ACME, label_selector=labels)), {})

    def waits_for() -> str:
        [status] = dig(daemon(), "status", "containerStatuses") or [{}]
        return dig(status, "state", "waiting", "reason") or ""

    management.patch(secret, {"data": {"UFM_PASSWORD": "b3RoZXI="}}, kind="merge", field_manager="somebody")
    management.delete(ObjectRef.of(daemon()))
    on_fabric.api(ACME).create(job("patient"), field_manager="somebody")
    wait_until(lambda: waits_for() == "CrashLoopBackOff", timeout_seconds=60, what="ib-kubernetes ends by its login")
    wait_until(lambda: bool(refusal(on_fabric, "patient")), timeout_seconds=60, what="the pod says why it waits")
    waited = runs(on_fabric, "patient")
    management.delete(secret)  # The platform sets the correct one.

    wait_until(lambda: runs(on_fabric, "patient"), timeout_seconds=60, what="the pod runs once the login is right")
    assert (waited, waits_for()) == (False, "")
    on_fabric.api(ACME).delete(ObjectRef("v1", "Pod", "patient", "default"))
    wait_until(lambda: not partitions(on_fabric), timeout_seconds=60, what="its GUID is taken out")
