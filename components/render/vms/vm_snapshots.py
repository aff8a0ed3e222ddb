"""Snapshots of virtual machines: one per configured weekday, replaced on the same day of the next week.

KubeVirt takes a snapshot of all persistent volumes of a VM simultaneously, quiesces a guest that runs the agent, and
supports restore. Scheduling and retention are not part of KubeVirt. One CronJob per day runs ``kubectl replace
--force``, which deletes and recreates snapshots. No program has to track the age of snapshots.
"""

import json
from collections.abc import Iterator
from typing import Any

from components.render import labels as keys
from components.render.manifest import Json, Manifest
from components.render.objects import manifest
from components.render.platform_pods import KUBECTL, cron_job, pod, role_for, service_account
from components.render.vms.vm_images import NAMESPACE
from components.render.vms.vm_placement import services_placement
from components.specs.storage.snapshots import VmSnapshotsSpec
from components.specs.struct import Struct
from components.specs.times import Weekday

GROUP = "snapshot.kubevirt.io"
NAME = "vm-snapshots"
_MOUNT = "/snapshots"
_GONE_SECONDS = 600
"""Timeout in seconds for the deletion of the old snapshot, including deletion by the storage system."""
_RUN_SECONDS = 2 * _GONE_SECONDS
_LATE_SECONDS = 6 * 3600
"""Maximum delay of a run in seconds. A later run is skipped."""


class VmSnapshots(Struct):
    """Snapshot schedule with image and machines."""

    spec: VmSnapshotsSpec
    image: str
    """Container image of kubectl, by digest."""
    machines: tuple[str, ...]
    """Names of the virtual machines with snapshots, at least one."""


def vm_snapshots(cluster: str, snapshots: VmSnapshots, *, system_pool: bool) -> Iterator[Manifest]:
    """Yield the CronJobs in ``cluster``, the snapshot objects for the CronJobs, and minimal RBAC.

    Args:
        cluster: cluster of the VMs.
        snapshots: schedule and VMs.
        system_pool: whether the cluster has a pool with role system.
    """
    rule = {
        "apiGroups": [GROUP],
        "resources": ["virtualmachinesnapshots"],
        "verbs": ["get", "list", "watch", "create", "delete"],
    }
    account = service_account(NAMESPACE, NAME)
    days = snapshots.spec.days
    files = {_file(name, day): json.dumps(_snapshot(name, day)) for day in days for name in snapshots.machines}
    yield manifest("v1", "ServiceAccount", NAME, namespace=NAMESPACE, cluster=cluster)
    yield from role_for(NAME, [rule], subject=account, namespace=NAMESPACE, cluster=cluster)
    yield manifest("v1", "ConfigMap", NAME, namespace=NAMESPACE, cluster=cluster, data=files)
    for day in days:
        yield cron_job(
            f"{NAME}-{day}",
            _job(snapshots, day, system_pool=system_pool),
            namespace=NAMESPACE,
            labels={},
            schedule=f"{snapshots.spec.at.minute} {snapshots.spec.at.hour} * * {day}",
            time_zone="Etc/UTC",
            late_seconds=_LATE_SECONDS,
            cluster=cluster,
        )


def snapshot_name(machine: str, day: Weekday) -> str:
    """Return the name of a virtual machine's snapshot of ``day``."""
    return f"{machine}-{day}"


def _file(machine: str, day: Weekday) -> str:
    return f"{snapshot_name(machine, day)}.json"


def _snapshot(machine: str, day: Weekday) -> Json:
    """Return the VirtualMachineSnapshot of ``machine`` on ``day``."""
    return manifest(
        f"{GROUP}/v1beta1",
        "VirtualMachineSnapshot",
        snapshot_name(machine, day),
        namespace=NAMESPACE,
        labels={keys.VIRTUAL_MACHINE: machine},
        spec={"source": {"apiGroup": "kubevirt.io", "kind": "VirtualMachine", "name": machine}},
    ).body


def _job(snapshots: VmSnapshots, day: Weekday, *, system_pool: bool) -> dict[str, Any]:
    """Return the job of one day. Each machine has a container, so that a stuck deletion affects only one machine."""
    containers = [_container(name, day, snapshots.image) for name in snapshots.machines]
    files = [{"name": "asked", "configMap": {"name": NAME}}]
    spec = pod(NAME, containers, volumes=files, **services_placement(system_pool=system_pool))
    # A retry would also replace snapshots of the current run.
    return {"backoffLimit": 0, "activeDeadlineSeconds": _RUN_SECONDS, "template": {"spec": spec}}


def _container(machine: str, day: Weekday, image: str) -> dict[str, Any]:
    return {
        "name": machine,
        "image": image,
        "command": [KUBECTL],
        "args": ["replace", "--force", f"--timeout={_GONE_SECONDS}s", f"--filename={_MOUNT}/{_file(machine, day)}"],
        "volumeMounts": [{"name": "asked", "mountPath": _MOUNT, "readOnly": True}],
    }
