"""A region without the real controllers of add-ons: simulated ones give Services addresses, and write their names."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal.operators.network.dns import NAMES
from jacquard.lab.toolchain.families import CONTROLLERS
from jacquard.machine import paths
from jacquard.providers.kube import ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, deleted_at_exit, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

CLUSTER = "acme-train"
SERVICE = ObjectRef("v1", "Service", "web", "default")


@pytest.fixture
def region(tmp_path: Path) -> Iterator[LocalRegion]:
    """Start a region with a cache that has all built programs except the controllers of add-ons."""
    for folder in paths.cache().iterdir():
        for entry in folder.iterdir() if folder.name in {"binaries", "plugins"} else ():
            link = tmp_path / "cache" / folder.name / entry.name
            if not entry.name.startswith(tuple(f"{family.name}-" for family in CONTROLLERS)):
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(entry)
    local = LocalRegion(tmp_path)
    local.variables["JACQUARD_CACHE"] = str(tmp_path / "cache")
    with deleted_at_exit(local):
        local.up()
        yield local


def test_services_have_addresses_and_names_without_real_controllers(region: LocalRegion) -> None:
    environment = load_environment(ENVIRONMENT, region.environments)
    assert environment.region.dns is not None
    name = f"web.{CLUSTER}.{environment.region.dns.zone}"
    api, zone = region.api(CLUSTER), region.home / "regions" / ENVIRONMENT / NAMES
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": SERVICE.name,
            "namespace": SERVICE.namespace,
            "annotations": {"external-dns.alpha.kubernetes.io/hostname": name},
        },
        "spec": {"type": "LoadBalancer", "selector": {"app": "web"}, "ports": [{"port": 80}]},
    }
    api.apply(body, field_manager="test", force=True)

    def addresses() -> list[str]:
        return [entry["ip"] for entry in dig(api.get(SERVICE), "status", "loadBalancer", "ingress") or ()]

    wait_until(lambda: bool(addresses()), timeout_seconds=60, what="the Service has an address")
    wait_until(lambda: name in json.loads(zone.read_text()), timeout_seconds=90, what=f"{name} is written")

    assert json.loads(zone.read_text())[name]["addresses"] == addresses()
    status = region.run(sys.executable, "-m", "jacquard.lab.rehearsal", "status", ENVIRONMENT, "--format", "json")
    running = {part["name"].rpartition("/")[2] for part in json.loads(status.stdout)["parts"] if part["alive"]}
    assert not running & {binary.name for family in CONTROLLERS for binary in family.binaries}
