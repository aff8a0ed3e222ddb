"""Services of type LoadBalancer in tenant clusters get addresses from the real MetalLB, and names from ExternalDNS.

The real helm renders their charts with the values of our releases. Each program runs for the simulated pod of its
Deployment, with the permissions that its chart or we grant.
"""

from __future__ import annotations

import json
import sys
from ipaddress import ip_address
from typing import Any

import pytest

from components.render.add_ons.load_balancers import VPC_POOL
from components.render.platform_pods import address_request
from components.render.vms.virtual_machine import PUBLIC_POOL
from components.specs.reading.loader import load_environment
from jacquard.providers.kube import ApiServer, ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, wait_until
from tests.support.network.zone_files import addresses_of

pytestmark = pytest.mark.e2e

ACME, GLOBEX = "acme-train", "globex-lab"
ADD_ONS = "add_ons: [cilium, node-features, gpus]"
ORDERED = ADD_ONS.replace("]", ", metallb]")
TENANT = f"{ENVIRONMENT}/tenants/globex.yaml"
WEB = ObjectRef("v1", "Service", "web", "default")


NAMED = ObjectRef("v1", "Service", "named", "default")
HOST_NAME = "external-dns.alpha.kubernetes.io/hostname"


def serve(api: ApiServer, ref: ObjectRef = WEB, **annotations: str) -> None:
    spec = {"type": "LoadBalancer", "selector": {"app": "web"}, "ports": [{"port": 80}]}
    metadata = {"name": ref.name, "namespace": ref.namespace, "annotations": annotations}
    body = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, "spec": spec}
    api.apply(body, field_manager="somebody", force=True)


def order(region: LocalRegion) -> None:
    """Add the add-on to the cluster that lacks it, unless an earlier test did."""
    if ORDERED not in (region.environments / TENANT).read_text():
        region.edit(TENANT, ADD_ONS, ORDERED)
        region.up()


def addresses(api: ApiServer, ref: ObjectRef = WEB) -> list[str]:
    return [entry["ip"] for entry in dig(api.get(ref), "status", "loadBalancer", "ingress") or ()]


def await_address(api: ApiServer, ref: ObjectRef = WEB) -> str:
    wait_until(lambda: bool(addresses(api, ref)), timeout_seconds=60, what="a load balancer has an address")
    [address] = addresses(api, ref)
    return address


def controllers(region: LocalRegion) -> set[str]:
    """Return the clusters with a running MetalLB controller."""
    result = region.run(sys.executable, "-m", "jacquard.lab.rehearsal", "status", ENVIRONMENT, "--format", "json")
    names = [part["name"].split("/") for part in json.loads(result.stdout)["parts"] if part["alive"]]
    return {name[0] for name in names if name[-1] == "metallb-controller"}


def belongs_to(region: LocalRegion, address: str) -> list[str]:
    """Return the VPCs whose load balancer range contains an address."""
    vpcs: dict[str, Any] = load_environment(ENVIRONMENT, region.environments).allocations.vpcs
    return [name for name, vpc in vpcs.items() if ip_address(address) in vpc.load_balancers]


def test_a_load_balancer_gets_an_address_of_its_vpc_from_the_real_metallb(running: LocalRegion) -> None:
    api = running.api(ACME)
    serve(api)

    address = await_address(api)

    live, [state] = api.get(WEB) or {}, api.list("metallb.io/v1beta1", "ConfigurationState")
    assert belongs_to(running, address) == ["acme"]
    assert "metallb-controller" in {one["manager"] for one in live["metadata"]["managedFields"]}
    valid = {one["type"]: one["status"] for one in state["status"]["conditions"]}
    assert valid["poolReconcilerValid"] == "True"


def test_an_empty_request_replaces_the_request_of_an_address_that_the_cluster_does_not_have(
    running: LocalRegion,
) -> None:
    """As for login nodes of Slurm that lose their public address."""
    api, login = running.api(ACME), ObjectRef("v1", "Service", "login", "default")
    serve(api, login, **address_request(PUBLIC_POOL, "198.51.100.77"))

    def refused() -> bool:
        events = api.list("v1", "Event", namespace=login.namespace)
        return any((item["reason"], item["involvedObject"]["name"]) == ("AllocationFailed", "login") for item in events)

    wait_until(refused, timeout_seconds=60, what="MetalLB reports that it has no such address")
    assert addresses(api, login) == []

    serve(api, login, **address_request(VPC_POOL, ""))
    assert belongs_to(running, await_address(api, login)) == ["acme"]
    api.delete(login)


def test_a_load_balancer_only_gets_requested_names_below_its_clusters_domain(
    running: LocalRegion,
) -> None:
    """The cluster's ExternalDNS writes them, and the region's one writes the name of its API."""
    api, folder = running.api(ACME), running.home / "regions" / ENVIRONMENT
    region = load_environment(ENVIRONMENT, running.environments).region
    assert region.dns is not None
    zone, vips = region.dns.zone, region.networks.control_plane_vips
    serve(api, NAMED, **{HOST_NAME: f"web.{ACME}.{zone}, web.{GLOBEX}.{zone}, web.elsewhere.example"})
    address = await_address(api, NAMED)

    def names() -> dict[str, list[str]]:
        return addresses_of(folder, zone)

    own = f"web.{ACME}"
    wait_until(lambda: own in names(), timeout_seconds=90, what=f"{own} is written, and not only {names()}")
    assert names()[own] == [address]
    assert not {f"web.{GLOBEX}", "web.elsewhere.example"} & names().keys()
    [of_api] = names()[f"{ACME}.api"]
    assert ip_address(of_api) in vips

    api.delete(NAMED)
    wait_until(lambda: own not in names(), timeout_seconds=90, what=f"{own} is gone")


def test_a_load_balancer_waits_for_the_add_on_and_then_gets_an_address_of_its_vpc(
    running: LocalRegion,
) -> None:
    api, acme = running.api(GLOBEX), running.api(ACME)
    for server in (acme, api):
        serve(server)
    await_address(acme)
    assert (addresses(api), controllers(running)) == ([], {ACME})

    order(running)
    address = await_address(api)
    assert belongs_to(running, address) == ["globex"]
    assert address != await_address(acme)


@pytest.mark.nightly
def test_removal_of_an_add_on_reports_its_users_and_deletes_its_controller(
    running: LocalRegion,
) -> None:
    api, acme = running.api(GLOBEX), running.api(ACME)
    order(running)
    for server in (acme, api):
        serve(server)
        await_address(server)
    running.edit(TENANT, ORDERED, ADD_ONS)
    preview = running.jacquard("preview", ENVIRONMENT, "--format", "json")
    held = json.loads(preview.stdout)["stacks"][0]["held"]
    assert {one["object"]: (one["reason"], one["users"]) for one in held["objects"]} == {
        f"HelmRelease {GLOBEX}/metallb": ("it is in use", ["Service default/web"]),
        "Namespace metallb-system": ("its kind is guarded", []),
    }

    outcome = running.jacquard("up", ENVIRONMENT, "--confirm", held["accept"])
    assert outcome.code == 0, outcome.text
    wait_until(lambda: controllers(running) == {ACME}, timeout_seconds=60, what="the controller is gone")
    for server in (api, acme):
        server.delete(WEB)
        serve(server)

    assert belongs_to(running, await_address(acme)) == ["acme"]
    assert addresses(api) == []
    assert [
        one["metadata"]["name"]
        for one in api.list("rbac.authorization.k8s.io/v1", "ClusterRole")
        if "metallb" in one["metadata"]["name"]
    ] == []
