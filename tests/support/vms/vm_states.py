"""Status of a region's VMs from KubeVirt's controller, and the wait until one runs."""

from __future__ import annotations

from typing import Any

from jacquard.providers.kube import ApiServer, ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.local_regions.local_region import wait_until

VM = ("kubevirt.io/v1", "VirtualMachine")


def machine(api: ApiServer, name: str, namespace: str) -> dict[str, Any]:
    return api.get(ObjectRef(*VM, name, namespace)) or {}


def state(api: ApiServer, name: str, namespace: str) -> tuple[str, str]:
    """Return status and reason of a VM from KubeVirt's controller."""
    body = machine(api, name, namespace)
    conditions = {one["type"]: one.get("message", "") for one in dig(body, "status", "conditions") or ()}
    return str(dig(body, "status", "printableStatus")), conditions.get("Ready", "")


def running(api: ApiServer, name: str, namespace: str) -> bool:
    return state(api, name, namespace)[0] == "Running"


def runs(api: ApiServer, name: str, namespace: str) -> None:
    wait_until(lambda: running(api, name, namespace), timeout_seconds=90, what=f"VM {name} runs")
