"""Simulated firmware of hosts: the objects of each host, and the updates that precede its image.

As the bare-metal operator does: it creates the objects, compares ``spec.updates`` of HostFirmwareComponents with
``status.updates`` before it writes an image, and reads the versions from the BMC afterwards
(BMO:internal/controller/metal3.io/baremetalhost_controller.go actionPreparing). A simulated BMC reports the number in
the name of the file.
"""

import re

from jacquard.lab.rehearsal.operators.view import Object, View, deleting, owned_by
from jacquard.providers.kube.objects import dig

API = "metal3.io/v1alpha1"
_COMPONENTS = "HostFirmwareComponents"
SPECS: dict[str, Object] = {"HostFirmwareSettings": {"settings": {}}, _COMPONENTS: {"updates": []}}
"""Kinds created for each host, with their initial spec."""
_FACTORY = "0.0.0"
"""Version of a new simulated host, older than every baseline."""
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)+")
"""Number in the name of a firmware file."""


def create(view: View, host: Object) -> None:
    """Create the missing firmware objects of a registered host; the objects are deleted with the host."""
    name, namespace = host["metadata"]["name"], host["metadata"].get("namespace")
    if deleting(host) or dig(host, "status", "provisioning", "state") in {None, "", "registering", "unmanaged"}:
        return
    for kind, spec in SPECS.items():
        existing = view.find(API, kind, name, namespace)
        if existing is None:
            metadata = {"name": name, "namespace": namespace, "ownerReferences": owned_by(host)}
            view.create({"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec})
        elif kind == _COMPONENTS and not existing.get("status"):
            view.status(existing, _reported())


def update(view: View, host: Object) -> bool:
    """Update the firmware of a host before its image is written, and return whether the image may be written."""
    metadata = host["metadata"]
    existing = view.find(API, _COMPONENTS, metadata["name"], metadata.get("namespace"))
    if existing is None:
        return True
    updates = dig(existing, "spec", "updates") or []
    status = existing.get("status") or _reported()
    if updates == (status.get("updates") or []):
        return True
    written = {item["component"]: _VERSION.search(item["url"].rpartition("/")[2]) for item in updates}
    components = [
        {**item, "currentVersion": found[0]} if (found := written.get(item["component"])) else item
        for item in status["components"]
    ]
    return view.patch(existing, {"status": {**status, "updates": updates, "components": components}}, "status")


def _reported() -> Object:
    """Return the status of a host whose firmware was never updated."""
    versions = {"initialVersion": _FACTORY, "currentVersion": _FACTORY}
    return {"components": [{"component": name, **versions} for name in ("bios", "bmc")]}
