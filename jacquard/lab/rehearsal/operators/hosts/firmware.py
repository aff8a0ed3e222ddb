"""Simulated firmware of hosts: the objects of each host, and the updates that precede its image.

As the bare-metal operator does: it creates the objects, compares ``spec.updates`` of HostFirmwareComponents with
``status.updates`` before it writes an image, and reads the versions from the BMC afterwards
(BMO:internal/controller/metal3.io/baremetalhost_controller.go actionPreparing). A simulated BMC reports the number in
the name of the file.

Conditions of HostFirmwareSettings are written only if their status changes, not if only the generation does. A host
whose settings have no conditions for their generation is not provisioned
(BMO:internal/controller/metal3.io/hostfirmwaresettings_controller.go setCondition, metal3-io/baremetal-operator#3143).
"""

import re

from jacquard.lab.rehearsal.operators.view import Object, View, conditions, deleting, owned_by
from jacquard.providers.kube.objects import dig

API = "metal3.io/v1alpha1"
_SETTINGS, _COMPONENTS = "HostFirmwareSettings", "HostFirmwareComponents"
SPECS: dict[str, Object] = {_SETTINGS: {"settings": {}}, _COMPONENTS: {"updates": []}}
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


def compare(view: View, host: Object, first: dict[str, str]) -> None:
    """Compare the settings of a host with those that its BMC reports; a new host reports ``first``."""
    existing = view.find(API, _SETTINGS, host["metadata"]["name"], host["metadata"].get("namespace"))
    if existing is None:
        return
    current: dict[str, str] = dig(existing, "status", "settings") or first
    wanted = _wanted(existing)
    found = {
        "ChangeDetected": any(current.get(name) != value for name, value in wanted.items()),
        "Valid": wanted.keys() <= current.keys(),
    }
    if found != {name: item["status"] == "True" for name, item in _conditions(existing).items()}:
        report = conditions(existing, **{name: (str(holds), "Success", "") for name, holds in found.items()})
        view.status(existing, {"settings": current, **report})


def _conditions(existing: Object) -> dict[str, Object]:
    return {item["type"]: item for item in dig(existing, "status", "conditions") or ()}


def _wanted(existing: Object) -> dict[str, str]:
    return {name: str(value) for name, value in (dig(existing, "spec", "settings") or {}).items()}


def _apply_settings(view: View, host: Object) -> bool:
    """Apply the valid settings of a host, and return whether Metal3 knows that none are left."""
    existing = view.find(API, _SETTINGS, host["metadata"]["name"], host["metadata"].get("namespace"))
    known = _conditions(existing) if existing else {}
    if existing is None or not known:
        return True
    if known["ChangeDetected"].get("observedGeneration") != existing["metadata"].get("generation"):
        return False
    if any(known[name]["status"] != "True" for name in ("ChangeDetected", "Valid")):
        return True
    settings = {**dig(existing, "status", "settings"), **_wanted(existing)}
    return view.patch(existing, {"status": {"settings": settings}}, "status")


def update(view: View, host: Object) -> bool:
    """Update the firmware of a host before its image is written, and return whether the image may be written."""
    if not _apply_settings(view, host):
        return False
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
