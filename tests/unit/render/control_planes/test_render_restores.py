"""Restores of data stores: what each step renders, and in which order it is applied."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from components.inputs.hosted_control_plane import of_tenant
from components.inputs.node_pool import of_tenant as pools_of
from components.render.control_planes.etcd_backup import saved_at
from components.render.control_planes.kamaji_etcd import EVENTS_STORE, MAIN_STORE, STOPPED
from components.render.labels import RESTORED_TO
from components.render.manifest import Manifest
from components.render.region.operators import ANY
from components.specs.base import DEDICATED
from components.specs.control_planes.data_stores import DedicatedDataStoreSpec, RestoreSpec, RestoreStep
from components.specs.control_planes.hosted_control_plane import Events
from components.specs.environment import Environment
from tests.support.data.environment_data import reference
from tests.support.data.small_region import changed
from tests.support.objects.rendered_objects import objects_of
from tests.support.storage.restored_store import BACKUP, ETCD, SNAPSHOT, rendered, restored

STOP, START, DONE = RestoreStep
JOBS = [f"{ETCD}-restore-8cdb82-{index}" for index in range(3)]


def release(items: list[Manifest]) -> dict[str, Any]:
    [found] = [item for item in items if item.kind == "HelmRelease"]
    spec: dict[str, Any] = found.body["spec"]
    return spec


def order(items: list[Manifest]) -> list[str]:
    """Return the names of the release and of the Jobs, in the order in which they are applied."""
    return [item.name for item in items if item.kind in ("HelmRelease", "Job")]


def merged(items: list[Manifest], kind: str = "StatefulSet") -> list[dict[str, Any]]:
    """Return the partial objects that are merged into the objects of a kind of the chart."""
    [renderer] = release(items)["postRenderers"]
    patches = [json.loads(entry["patch"]) for entry in renderer["kustomize"]["patches"]]
    return [patch for patch in patches if isinstance(patch, dict) and patch["kind"] == kind]


def annotations(environment: Environment) -> dict[str, Any]:
    """Return the annotations of the pods of each cluster's API servers."""
    planes = [
        item
        for tenant in environment.tenants
        for plane in of_tenant(environment, tenant)
        for item in objects_of(plane)
        if item.kind == "KamajiControlPlane"
    ]
    return {
        plane.name: plane.body["spec"]["deployment"].get("podAdditionalMetadata", {}).get("annotations")
        for plane in planes
    }


def brakes(environment: Environment) -> set[int]:
    """Return the limits of unhealthy nodes up to which nodes of all clusters are replaced."""
    items = [
        item for tenant in environment.tenants for pool in pools_of(environment, tenant) for item in objects_of(pool)
    ]
    checks = [item.body["spec"]["remediation"] for item in items if item.kind == "MachineHealthCheck"]
    return {check["triggerIf"]["unhealthyLessThanOrEqualTo"] for check in checks}


def in_own_store(restore: RestoreSpec | None) -> tuple[Environment, str]:
    """Return laptop with backups, whose first cluster has a dedicated data store and separate events; its name."""
    laptop = reference("laptop")
    [tenant, *others] = laptop.tenants
    [cluster, *further] = tenant.clusters
    plane = changed(cluster.control_plane, data_store=DEDICATED, events=Events.APART, restore=restore)
    tenant = changed(tenant, clusters=(changed(cluster, control_plane=plane), *further))
    dedicated = DedicatedDataStoreSpec(storage_class="fast", backup=BACKUP)
    region = changed(laptop.region, control_planes=changed(laptop.region.control_planes, dedicated=dedicated))
    pins = laptop.image_pins.control_planes
    pins = {**pins, cluster.name: changed(pins[cluster.name], data_store=DEDICATED)}
    image_pins = changed(laptop.image_pins, control_planes=pins)
    return changed(laptop, region=region, tenants=(tenant, *others), image_pins=image_pins), cluster.name


def test_members_stop_before_the_jobs_and_start_after_them() -> None:
    assert order(rendered(None)) == [ETCD]
    assert order(rendered(STOP)) == [ETCD, *JOBS]
    assert order(rendered(START)) == [*JOBS, ETCD]
    assert order(rendered(DONE)) == [ETCD]
    for step in (STOP, START):
        awaited = {(item.kind, item.readiness.conditions) for item in rendered(step) if item.readiness}
        assert awaited == {("HelmRelease", ("condition=Ready",)), ("Job", ("condition=Complete",))}


def test_members_are_stopped_by_a_patch_that_keeps_the_endpoints_of_the_data_store() -> None:
    before, stopped = rendered(None), rendered(STOP)

    assert merged(before) == []
    assert merged(stopped) == [STOPPED | {"metadata": ANY}]
    assert release(stopped)["values"] == release(before)["values"]
    assert [release(rendered(step)) for step in (START, DONE)] == [release(before)] * 2


def test_only_the_ca_of_an_etcd_keeps_its_key() -> None:
    [patch] = merged(rendered(None), "Certificate")
    [renderer] = release(rendered(None))["postRenderers"]

    assert patch["spec"] == {"privateKey": {"rotationPolicy": "Never"}}
    target = {"group": "cert-manager.io", "kind": "Certificate", "name": f"{ETCD}-ca"}
    assert target in [entry["target"] for entry in renderer["kustomize"]["patches"]]
    environment, cluster = in_own_store(None)
    [items] = [
        objects_of(plane)
        for tenant in environment.tenants
        for plane in of_tenant(environment, tenant)
        if plane.name == cluster
    ]
    releases = [item for item in items if item.kind == "HelmRelease"]
    # The etcd of separate events has the CA of the main etcd.
    assert {item.name: len(merged([item], "Certificate")) for item in releases} == {
        f"{cluster}-{MAIN_STORE}": 1,
        f"{cluster}-{EVENTS_STORE}": 0,
    }


def test_jobs_are_the_same_until_the_restore_is_done() -> None:
    jobs = [[item.body for item in rendered(step) if item.kind == "Job"] for step in (STOP, START)]

    assert jobs[0] == jobs[1]
    pods = [job["spec"]["template"]["spec"] for job in jobs[0]]
    claims = [pod["volumes"][1]["persistentVolumeClaim"]["claimName"] for pod in pods]
    assert claims == [f"data-{ETCD}-{index}" for index in range(3)]
    peers = ",".join(
        f"{ETCD}-{index}=https://{ETCD}-{index}.{ETCD}.data-stores.svc.cluster.local:2380" for index in range(3)
    )
    [restore] = [container for container in pods[2]["initContainers"] if container["command"] == ["etcdutl"]]
    assert restore["args"] == [
        "snapshot",
        "restore",
        f"/snapshots/{SNAPSHOT}",
        "--data-dir=/data/restoring",
        "--bump-revision=1000000000",
        "--mark-compacted",
        f"--name={ETCD}-2",
        f"--initial-cluster={peers}",
        f"--initial-cluster-token={SNAPSHOT.removesuffix('.db')}",
        f"--initial-advertise-peer-urls=https://{ETCD}-2.{ETCD}.data-stores.svc.cluster.local:2380",
    ]
    download = pods[2]["initContainers"][0]["env"]
    assert download[0] == {"name": "SOURCE", "value": f":s3:etcd/data-stores/shared-a/{SNAPSHOT}"}


def test_nothing_is_saved_verified_or_defragmented_while_members_are_stopped() -> None:
    suspended = {
        step: {item.name: item.body["spec"].get("suspend") for item in rendered(step) if item.kind == "CronJob"}
        for step in (STOP, START)
    }

    assert suspended == {
        STOP: {f"{ETCD}-defrag": True, f"{ETCD}-backup": True, f"{ETCD}-verify": True},
        START: {f"{ETCD}-defrag": None, f"{ETCD}-backup": None, f"{ETCD}-verify": None},
    }


def test_api_servers_restart_once_when_members_start() -> None:
    mark = {RESTORED_TO: SNAPSHOT}
    by_step = {step: annotations(restored(step)) for step in (None, *RestoreStep)}

    assert by_step[None] == by_step[STOP]
    assert set(by_step[None].values()) == {None}
    assert by_step[START] == by_step[DONE] == dict.fromkeys(by_step[None], mark)


def test_nodes_are_not_replaced_until_the_restore_is_done() -> None:
    by_step = {step: brakes(restored(step)) for step in (None, *RestoreStep)}

    assert 0 not in by_step[None]
    assert by_step == {None: by_step[None], STOP: {0}, START: {0}, DONE: by_step[None]}


@pytest.mark.parametrize("step", [STOP, START])
def test_a_dedicated_data_store_is_restored_without_its_separate_events(step: RestoreStep) -> None:
    environment, cluster = in_own_store(None)
    snapshot = f"{cluster}-etcd-backup-29384756-x2x4q.db"
    environment, _ = in_own_store(RestoreSpec(snapshot=snapshot, step=step))
    planes = [plane for tenant in environment.tenants for plane in of_tenant(environment, tenant)]

    [items] = [objects_of(plane) for plane in planes if plane.name == cluster]

    main = f"{cluster}-{MAIN_STORE}"
    jobs = [item for item in items if item.kind == "Job"]
    assert [item.name.partition("-restore-")[0] for item in jobs] == [main] * 3
    assert {item.namespace for item in jobs} == {cluster}
    releases = [item for item in items if item.kind == "HelmRelease"]
    stopped = [item.name for item in releases if merged([item])]
    assert stopped == ([main] if step is STOP else [])
    env = jobs[0].body["spec"]["template"]["spec"]["initContainers"][0]["env"]
    assert env[0]["value"] == f":s3:etcd/{cluster}/{snapshot}"
    marked = annotations(environment)
    assert [name for name, mark in marked.items() if mark] == ([] if step is STOP else [cluster])


def test_a_restore_to_another_snapshot_has_other_jobs() -> None:
    environment = restored(STOP)
    [shared, *others] = environment.region.control_planes.data_stores
    again = changed(shared, restore=RestoreSpec(snapshot=SNAPSHOT.replace("756", "757"), step=STOP))
    control_planes = changed(environment.region.control_planes, data_stores=(again, *others))
    environment = changed(environment, region=changed(environment.region, control_planes=control_planes))

    assert len(order(rendered(STOP, environment))) == len(JOBS) + 1
    assert not {*order(rendered(STOP, environment))} & {*JOBS}


@pytest.mark.parametrize(
    ("snapshot", "etcd", "minutes"),
    [
        (SNAPSHOT, ETCD, 29384756),
        ("shared-b-etcd-backup-29384756-x2x4q.db", ETCD, None),
        ("shared-a-etcd-backup-29384756-x2x4q", ETCD, None),
        ("shared-a-etcd-backup-2938475-x2x4q.db", ETCD, None),
        ("shared-a-etcd-backup-yesterday-x2x4q.db", ETCD, None),
        ("shared-a-etcd-backup-29384756-x2x4q.db", "shared", None),
        # 40 + len("-etcd-backup-") = 53: five digits remain before the random characters.
        (f"{'a' * 40}-etcd-backup-29384x2x4q.db", f"{'a' * 40}-etcd", 29384000),
        (f"{'a' * 40}-etcd-backup-29384756-x2x4q.db", f"{'a' * 40}-etcd", None),
    ],
)
def test_the_name_of_a_snapshot_has_its_time(snapshot: str, etcd: str, minutes: int | None) -> None:
    wanted = None if minutes is None else dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(minutes=minutes)

    assert saved_at(snapshot, etcd) == wanted
