"""Exports that the list of prerequisites asks for, made at a real NFS server, and read from hosts of each tenant."""

from __future__ import annotations

import re
from contextlib import ExitStack
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
from environment_data import ENVIRONMENTS
from nfs_server import network, read, serving, tools

from components.inputs.manifests import manifests
from components.lookups.references.table import references_table
from components.lookups.references.walk import missing_targets
from components.lookups.slices import slices
from components.render.manifest import objects
from components.specs.reading.loader import load_environment

pytestmark = pytest.mark.e2e
STRANGER = IPv4Address("192.0.2.7")
_ASKED = re.compile(r"(?P<server>[0-9.]+):(?P<path>/\S+) for (?P<networks>\S+)")


def asked(name: str) -> tuple[IPv4Address, dict[str, tuple[IPv4Network, ...]]]:
    """Return the NFS server of a region, and who may mount what, as the list of prerequisites tells it."""
    environment = load_environment(name, ENVIRONMENTS)
    rendered = [item for part in slices(environment) for item in objects(manifests(environment, part))]
    listed = [str(one.target) for one in missing_targets(rendered, references_table()).values() if one.form == "nfs"]
    found = [match for text in listed if (match := _ASKED.search(text))]
    assert len(found) == len(listed)
    [server] = {match["server"] for match in found}
    return IPv4Address(server), {
        match["path"]: tuple(IPv4Network(one) for one in match["networks"].split(",")) for match in found
    }


def test_hosts_of_a_tenant_read_its_export_and_no_other(tmp_path: Path) -> None:
    tools()
    address, exports = asked("eu-south-03a")
    with ExitStack() as stack:
        server = stack.enter_context(network(address))
        homes = {path: networks[0][5] for path, networks in exports.items()}
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
    refused = [(text, said) for own, found in seen.items() for path, (text, said) in found.items() if path != own]
    assert all(text == "" and "NFS4ERR" in said for text, said in refused)
