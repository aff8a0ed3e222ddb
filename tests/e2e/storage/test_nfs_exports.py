"""Exports from the list of prerequisites, created at a real NFS server, and used from hosts of each tenant."""

from __future__ import annotations

import re
from contextlib import ExitStack
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest

from components.inputs.manifests import manifests
from components.lookups.references.table import references_table
from components.lookups.references.walk import missing_targets
from components.lookups.slices import slices
from components.render.manifest import objects
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.storage.nfs_server import Export, as_root, network, read, serving, tools, write

pytestmark = pytest.mark.e2e
STRANGER = IPv4Address("192.0.2.7")
_ASKED = re.compile(r"(?P<server>[0-9.]+):(?P<path>/\S+) for (?P<networks>\S+)(?: with (?P<options>\S+))?")
_POD = 107
"""User and group of virtual machines and of the pods that fill their disks (KubeVirt and CDI)."""
_VOLUME = ("/cluster", "/cluster/namespace", "/cluster/namespace/claim-volume")
_MADE, _GROUPED = 0o755, 0o2775
"""Modes of a directory: as created by the driver, and after the kubelet has set its group."""


def required_exports(name: str) -> tuple[IPv4Address, dict[str, Export]]:
    """Return the NFS server of a region, and the exports in the list of prerequisites."""
    environment = load_environment(name, ENVIRONMENTS)
    rendered = [item for part in slices(environment) for item in objects(manifests(environment, part))]
    assert not any("mountPermissions" in item.body["parameters"] for item in rendered if item.kind == "StorageClass")
    listed = [str(one.target) for one in missing_targets(rendered, references_table()).values() if one.form == "nfs"]
    found = [match for text in listed if (match := _ASKED.search(text))]
    assert len(found) == len(listed)
    [server] = {match["server"] for match in found}
    return IPv4Address(server), {
        match["path"]: Export(
            networks=tuple(IPv4Network(one) for one in match["networks"].split(",")),
            options=tuple((match["options"] or "").split(",")),
        )
        for match in found
    }


def test_hosts_of_a_tenant_only_read_its_export(tmp_path: Path) -> None:
    tools()
    address, exports = required_exports("eu-south-03a")
    with ExitStack() as stack:
        server = stack.enter_context(network(address))
        homes = {path: export.networks[0][5] for path, export in exports.items()}
        hosts = {path: stack.enter_context(network(home)) for path, home in {**homes, "": STRANGER}.items()}
        for number, host in enumerate(hosts.values()):
            server.connect(host, f"host{number}")
        stack.enter_context(serving(server, exports, tmp_path))

        seen = {own: {path: read(host, server, f"{path}/owner") for path in exports} for own, host in hosts.items()}

    assert len(exports) > 1
    assert {own: [path for path, (text, _) in found.items() if text == path] for own, found in seen.items()} == {
        **{path: [path] for path in exports},
        "": [],
    }
    refused = [(text, error) for own, found in seen.items() for path, (text, error) in found.items() if path != own]
    assert all(text == "" and "NFS4ERR" in error for text, error in refused)


def written(folder: Path, address: IPv4Address, path: str, export: Export, *, groups: bool = True) -> str:
    """Create a volume as csi-driver-nfs and the kubelet do, and write to it as a pod; return the error output.

    Args:
        folder: Folder for the files of the server.
        address: Address of the server.
        path: Path of the export.
        export: Networks and options of the export.
        groups: Whether the kubelet changes the group of the volume to the pod's ``fsGroup``.
    """
    content = folder / "content"
    content.write_text("cloth")
    # CreateVolume creates the directory without mountPermissions, NodePublishVolume mounts it, and the kubelet changes
    # its group to that of the pod (K8S:pkg/volume/volume_linux.go).
    steps: list[tuple[str | int, ...]] = [(at, "mkdir", _MADE) for at in _VOLUME]
    steps += [(_VOLUME[-1], "setattr", _POD, _GROUPED)] if groups else []
    with ExitStack() as stack:
        server, host = (stack.enter_context(network(one)) for one in (address, export.networks[0][5]))
        server.connect(host, "host")
        stack.enter_context(serving(server, {path: export}, folder))
        for at, *step in steps:
            if refused := as_root(host, server, f"{path}{at}", *map(str, step)):
                return refused
        file = f"{path}{_VOLUME[-1]}/content"
        refused = write(host, server, file, content, _POD)
        return refused or ("" if read(host, server, file, _POD)[0] == "cloth" else "another content")


def test_an_unprivileged_pod_writes_to_a_volume_of_the_required_export(tmp_path: Path) -> None:
    tools()
    address, exports = required_exports("eu-south-03a")
    [(path, export), *_] = exports.items()

    assert written(tmp_path, address, path, export) == ""


def test_volume_creation_fails_with_root_squash(tmp_path: Path) -> None:
    tools()
    address, exports = required_exports("eu-south-03a")
    [(path, export), *_] = exports.items()

    assert written(tmp_path, address, path, export._replace(options=("rw",))) == "mkdir: error 13 of NFS\n"


def test_a_pod_that_is_not_root_needs_the_group_of_its_volume(tmp_path: Path) -> None:
    tools()
    address, exports = required_exports("eu-south-03a")
    [(path, export), *_] = exports.items()

    assert "NFS4ERR_ACCESS" in written(tmp_path, address, path, export, groups=False)
