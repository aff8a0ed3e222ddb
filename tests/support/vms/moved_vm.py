"""The VM `loom` with its prerequisites, in another namespace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.support.vms.vm_states import VM


def moved_vm(objects: Sequence[Any], namespace: str) -> dict[str, list[dict[str, Any]]]:
    """Return the VM and its prerequisites among ``objects``, under other names and in ``namespace``."""
    text = json.dumps(objects)
    machines = [body for body in json.loads(text) if body["kind"] == VM[1]]
    [size] = [body["spec"]["instancetype"]["name"] for body in machines if body["metadata"]["name"] == "loom"]
    for old, new in (("virtual-machines", namespace), (size, "loom-size"), ("shared-vast", "loom-class")):
        text = text.replace(f'"{old}"', f'"{new}"')
    bodies = json.loads(text)

    def named(kind: str, *names: str) -> list[dict[str, Any]]:
        found = [body for body in bodies if body["kind"] == kind and body["metadata"]["name"] in names]
        assert len(found) == len(names), (kind, names)
        return found

    [vm] = named(VM[1], "loom")
    vm["spec"]["template"]["spec"]["nodeSelector"] = {"loom-pool": "here"}
    return {
        "vm": [vm],
        "size": named("VirtualMachineClusterInstancetype", "loom-size"),
        "claims": named("DataVolume", "loom-patterns", "loom-yarn"),
        "image": named("DataVolume", "weaver-1-80gi"),
        "class": named("StorageClass", "loom-class"),
    }
