"""Snapshots of virtual machines: a ring of as many as there are days, each replaced when its day comes again.

KubeVirt takes a snapshot of all that a machine keeps at once, stops writing meanwhile where the guest runs its agent,
and has what brings it back; when to take one, and which one goes, it leaves to others. A CronJob a day asks for it by
kubectl, whose ``replace --force`` deletes, waits and makes anew: no program of ours has to tell how old one is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from components.render import labels as keys
from components.render.manifest import Json, Manifest
from components.render.objects import manifest
from components.render.vms.vm_images import NAMESPACE
from components.render.vms.vm_placement import services_placement
from components.render.workloads import KUBECTL, cron_job, pod, role_for, service_account
from components.specs.storage.snapshots import VmSnapshotsSpec
from components.specs.times import Weekday

GROUP = "snapshot.kubevirt.io"
NAME = "vm-snapshots"
_MOUNT = "/snapshots"
_GONE_SECONDS = 600
"""How many seconds a former snapshot may take to go; its storage system deletes it first."""
_RUN_SECONDS = 2 * _GONE_SECONDS
_LATE_SECONDS = 6 * 3600
"""How many seconds late a run may begin and still be that of its day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VmSnapshots:
    """When snapshots are taken, and what takes them."""

    spec: VmSnapshotsSpec
    image: str
    """Container image of kubectl, by digest."""
    machines: tuple[str, ...]
    """Names of the virtual machines that are taken snapshots of, at least one."""


def vm_snapshots(cluster: str, snapshots: VmSnapshots, *, system_pool: bool) -> Iterator[Manifest]:
    """Yield the CronJobs in ``cluster``, what they ask for, and what lets them do this and nothing else.

    Args:
        cluster: runs the VMs.
        snapshots: when, and of which VMs.
        system_pool: whether the cluster has nodes for its own services.
    """
    rule = {
        "apiGroups": [GROUP],
        "resources": ["virtualmachinesnapshots"],
        "verbs": ["get", "list", "watch", "create", "delete"],
    }
    account = service_account(NAMESPACE, NAME)
    days = snapshots.spec.days
    asked = {_file(name, day): json.dumps(_asked(name, day)) for day in days for name in snapshots.machines}
    yield manifest("v1", "ServiceAccount", NAME, namespace=NAMESPACE, cluster=cluster)
    yield from role_for(NAME, [rule], subject=account, namespace=NAMESPACE, cluster=cluster)
    yield manifest("v1", "ConfigMap", NAME, namespace=NAMESPACE, cluster=cluster, data=asked)
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
    """Return the name of the snapshot of a virtual machine that is taken on ``day``."""
    return f"{machine}-{day}"


def _file(machine: str, day: Weekday) -> str:
    return f"{snapshot_name(machine, day)}.json"


def _asked(machine: str, day: Weekday) -> Json:
    """Return the snapshot that KubeVirt is asked for."""
    return manifest(
        f"{GROUP}/v1beta1",
        "VirtualMachineSnapshot",
        snapshot_name(machine, day),
        namespace=NAMESPACE,
        labels={keys.VIRTUAL_MACHINE: machine},
        spec={"source": {"apiGroup": "kubevirt.io", "kind": "VirtualMachine", "name": machine}},
    ).body


def _job(snapshots: VmSnapshots, day: Weekday, *, system_pool: bool) -> dict[str, Any]:
    """Return the job of one day. A container a machine: a snapshot that does not go holds up no other machine's."""
    containers = [_container(name, day, snapshots.image) for name in snapshots.machines]
    files = [{"name": "asked", "configMap": {"name": NAME}}]
    placement = services_placement(system_pool=system_pool)
    tolerations = [{"key": "CriticalAddonsOnly", "operator": "Exists"}]
    spec = pod(NAME, containers, volumes=files, **placement, tolerations=tolerations)
    # Tried again, it would replace those that were just taken, too.
    return {"backoffLimit": 0, "activeDeadlineSeconds": _RUN_SECONDS, "template": {"spec": spec}}


def _container(machine: str, day: Weekday, image: str) -> dict[str, Any]:
    return {
        "name": machine,
        "image": image,
        "command": [KUBECTL],
        "args": ["replace", "--force", f"--timeout={_GONE_SECONDS}s", f"--filename={_MOUNT}/{_file(machine, day)}"],
        "volumeMounts": [{"name": "asked", "mountPath": _MOUNT, "readOnly": True}],
    }
