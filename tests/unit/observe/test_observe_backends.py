"""Observation of a region in the terms of its backends: equal results for all backends."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from components.inputs.manifests import manifests
from components.lookups.pools import PlacedPool, pools
from components.lookups.slices import slices
from components.render.manifest import MANAGEMENT, objects
from components.rollout.soak import shortcomings
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.locks import Wave
from components.specs.reading.loader import load_environment
from components.specs.region.evidence import read_evidence
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import asdict
from jacquard.machine import paths
from jacquard.observe.backends import BARE_METAL, CONTROL_PLANES
from jacquard.observe.observation import Observation, observe
from jacquard.observe.region_status import assemble
from jacquard.providers.kube import ApiServer
from tests.support.data.second_backends import with_backends
from tests.support.objects.backend_objects import (
    CONTROL_PLANE,
    TEMPLATE,
    conditions,
    ironcore_host,
    ironcore_template,
    k0smotron,
    of_kind,
)
from tests.support.objects.settled_region import settled_region

Object = dict[str, Any]
CLUSTER = "vireo-train"
GROUP = "vireo-train-h100-a"
IMAGE = "eth-2026.11.1"
COMBINATIONS = list(product(ControlPlaneBackend, BareMetalBackend))


@pytest.fixture
def south_seen(south: Environment) -> Observation:
    return settled_region(south)


def find(seen: Observation, kind: str, name: str) -> Object:
    return next(body for body in seen.of(kind) if body["metadata"]["name"] == name)


def test_every_backend_has_an_entry() -> None:
    assert (set(CONTROL_PLANES), set(BARE_METAL)) == (set(ControlPlaneBackend), set(BareMetalBackend))


@pytest.mark.parametrize(("control_planes", "bare_metal"), COMBINATIONS)
def test_observed_objects_equal_rendered_ones(
    laptop: Environment, control_planes: ControlPlaneBackend, bare_metal: BareMetalBackend
) -> None:
    spec = with_backends(laptop, control_planes=control_planes, bare_metal=bare_metal)
    ordered = {(item.api_version, item.kind) for part in slices(spec) for item in objects(manifests(spec, part))}
    metal = BARE_METAL[bare_metal]

    assert {CONTROL_PLANES[control_planes].kind, metal.template, metal.hosts[0]} <= ordered


@pytest.mark.parametrize(("control_planes", "bare_metal"), COMBINATIONS)
def test_a_region_of_any_backends_settles(
    laptop: Environment, control_planes: ControlPlaneBackend, bare_metal: BareMetalBackend
) -> None:
    spec = with_backends(laptop, control_planes=control_planes, bare_metal=bare_metal)

    status = assemble(spec, settled_region(spec))

    assert (status.why, status.settled) == ([], True)
    assert {cluster.running_version for cluster in status.clusters} == {"v1.35.2"}
    assert {group.name: set(group.images) for pool in status.pools for group in pool.groups} == {
        key.replace("/", "-"): {spec.image_pins.node(key).image} for key in spec.image_pins.groups
    }


def test_the_reference_region_of_second_backends_settles(south: Environment, south_seen: Observation) -> None:
    status = assemble(south, south_seen)

    assert (status.why, status.settled) == ([], True)
    assert status.hosts == {"Reserved": sum(pool.total for pool in status.pools)}


READ = {
    "laptop": {
        "KamajiControlPlane controlplane.cluster.x-k8s.io/v1alpha2",
        "Metal3Machine infrastructure.cluster.x-k8s.io/v1beta2",
        "Metal3MachineTemplate infrastructure.cluster.x-k8s.io/v1beta2",
        "BareMetalHost metal3.io/v1alpha1",
    },
    "eu-south-03a": {
        "K0smotronControlPlane controlplane.cluster.x-k8s.io/v1beta2",
        "IroncoreMetalMachine infrastructure.cluster.x-k8s.io/v1alpha1",
        "IroncoreMetalMachineTemplate infrastructure.cluster.x-k8s.io/v1alpha1",
        "BMC metal.ironcore.dev/v1alpha1",
        "Server metal.ironcore.dev/v1alpha1",
    },
}
NEUTRAL = {
    *(f"{kind} cluster.x-k8s.io/v1beta2" for kind in ("Cluster", "MachineDeployment", "MachineSet", "Machine")),
    "DPU provisioning.dpu.nvidia.com/v1alpha1",
    "DPUDeployment svc.dpu.nvidia.com/v1alpha1",
    "HelmRelease helm.toolkit.fluxcd.io/v2",
}


@pytest.mark.parametrize("name", READ)
def test_only_kinds_of_the_regions_backends_are_requested(name: str) -> None:
    asked: dict[str, set[str]] = {}

    class Server(ApiServer):
        def __init__(self, cluster: str) -> None:
            self.cluster = cluster

        def each(self, api_version: str, kind: str, **_: Any) -> list[Object]:
            asked.setdefault(self.cluster, set()).add(f"{kind} {api_version}")
            return []

    observe(load_environment(name, paths.ROOT / "environments"), lambda _, cluster: Server(cluster))

    assert asked[MANAGEMENT] == NEUTRAL | READ[name]


@pytest.mark.parametrize(
    ("backend", "version", "kubernetes"),
    [
        (ControlPlaneBackend.KAMAJI, "v1.35.2", "v1.35.2"),
        (ControlPlaneBackend.K0SMOTRON, "v1.35.2-k0s.0", "v1.35.2"),
        (ControlPlaneBackend.K0SMOTRON, "v1.35.2+k0s.1", "v1.35.2"),
        (ControlPlaneBackend.K0SMOTRON, "v1.35.2+k0s", "v1.35.2"),
        (ControlPlaneBackend.K0SMOTRON, "v1.35.2", "v1.35.2"),
    ],
)
def test_versions_are_reported_in_the_terms_of_the_data(
    backend: ControlPlaneBackend, version: str, kubernetes: str
) -> None:
    assert CONTROL_PLANES[backend].kubernetes(version) == kubernetes


CONTROL_PLANE_STATES = {
    "another version still runs": (lambda body: body["status"].update(version="v1.34.6-k0s.0"), "v1.34.6"),
    "no pod has run yet": (lambda body: body["status"].pop("version"), None),
    "no controller has looked yet": (lambda body: body.pop("status"), None),
}


@pytest.mark.parametrize("case", CONTROL_PLANE_STATES)
def test_a_control_plane_of_k0smotron_is_not_ready_while(
    south: Environment, south_seen: Observation, case: str
) -> None:
    spoil, running = CONTROL_PLANE_STATES[case]
    spoil(find(south_seen, "K0smotronControlPlane", CLUSTER))

    status = assemble(south, south_seen)

    [plane] = [cluster for cluster in status.clusters if cluster.name == CLUSTER]
    assert (plane.ready, plane.running_version, plane.version) == (False, running, "v1.35.2")
    assert status.why == [f"control plane {CLUSTER} is not ready"]


def test_a_control_plane_is_ready_only_if_cluster_api_reports_it(south: Environment, south_seen: Observation) -> None:
    find(south_seen, "Cluster", CLUSTER)["status"]["conditions"] = conditions(ControlPlaneAvailable="False")

    assert assemble(south, south_seen).why == [f"control plane {CLUSTER} is not ready"]


def test_machines_of_ironcore_are_counted_by_the_digest_of_their_template(
    south: Environment, south_seen: Observation
) -> None:
    other = next(image for image in south.images.images if image.version != IMAGE)
    tagged = ironcore_template(CLUSTER, "tagged", other.sha256)
    tagged["spec"]["template"]["spec"]["image"] = f"registry.example/node:{other.version}"
    bare = ironcore_template(CLUSTER, "bare", other.sha256)
    del bare["spec"]["template"]["spec"]["image"]
    south_seen.of("IroncoreMetalMachineTemplate").extend(
        [ironcore_template(CLUSTER, "old", other.sha256), tagged, bare]
    )
    for number, template in enumerate(("old", "tagged", "bare", "gone")):
        annotations = find(south_seen, "IroncoreMetalMachine", f"{GROUP}-{number}")["metadata"]["annotations"]
        annotations["cluster.x-k8s.io/cloned-from-name"] = template

    status = assemble(south, south_seen)

    [group] = [group for pool in status.pools for group in pool.groups if group.name == GROUP]
    assert group.images == {IMAGE: group.total - 4, other.version: 1, "unknown": 3}
    assert set(group.why) == {
        f"1 machines run {other.version}, pinned is {IMAGE}",
        f"3 machines run unknown, pinned is {IMAGE}",
    }


def test_hosts_of_ironcore_are_counted_by_their_server_or_else_their_bmc(south: Environment) -> None:
    hosts = [
        *ironcore_host("free", state="Available"),
        *ironcore_host("taken", state="Reserved", claim=(CLUSTER, "x")),
        *ironcore_host("broken", bmc="Error", state="Error"),
        *ironcore_host("in-repair", state="Maintenance"),
        *ironcore_host("new", state="Discovery"),
        *ironcore_host("silent", bmc="Pending"),
        *ironcore_host("wrong-login", bmc="Error"),
    ]
    del of_kind(hosts, "Server")[-1]["status"]
    fresh, *_ = ironcore_host("fresh")
    del fresh["status"]
    seen = {(MANAGEMENT, kind): of_kind([*hosts, fresh], kind) for kind in ("BMC", "Server")}

    assert assemble(south, Observation(objects=seen)).hosts == {
        "Available": 1,
        "BMC Error": 1,
        "BMC Pending": 1,
        "BMC unknown": 1,
        "Error": 1,
        "Maintenance": 1,
        "Reserved": 1,
        "unknown": 1,
    }


def test_the_status_of_a_region_with_second_backends_is_evidence_of_a_wave(
    south: Environment, south_seen: Observation
) -> None:
    for body in south_seen.of("Machine"):
        for item in body["status"]["conditions"]:
            item["lastTransitionTime"] = "2026-11-21T08:00:00Z"
    placed, wave = h100(south), Wave(groups=("a", "b"))

    def lacks(image: str, soak_minutes: int) -> list[str]:
        answer = asdict(assemble(south, south_seen)) | {"observed_at": "2026-11-21T09:00:00Z"}
        # An image that the lock file does not name is compared as if it had been applied.
        intent = south.image_pins.node(f"{CLUSTER}/h100/a").model_copy(update={"image": image})
        for pool in answer["pools"]:
            for group in pool["groups"]:
                group["fingerprint"] = intent.fingerprint
        evidence = read_evidence("seen.json", json.dumps(answer).encode())
        return list(shortcomings(south.name, placed, wave, intent, soak_minutes, evidence))

    assert lacks(IMAGE, 60) == []
    assert lacks(IMAGE, 90) == [
        f"{CLUSTER}/h100/{hall} was settled for 60 of 90 minutes; check again at 2026-11-21T09:30:00+00:00 or later"
        for hall in ("a", "b")
    ]
    assert lacks("eth-2026.12.1", 60) == [
        f"{CLUSTER}/h100/{hall} runs {IMAGE} (36), not only eth-2026.12.1" for hall in ("a", "b")
    ]


def h100(environment: Environment) -> PlacedPool:
    return next(placed for placed in pools(environment) if placed.key == f"{CLUSTER}/h100")


def test_the_objects_of_these_tests_cover_all_queries_of_each_backend() -> None:
    plane = k0smotron(CLUSTER, "v1.35.2")

    assert {backend: (body["apiVersion"], body["kind"]) for backend, body in made(CONTROL_PLANE, "v1").items()} == {
        backend: entry.kind for backend, entry in CONTROL_PLANES.items()
    }
    assert {backend: (body["apiVersion"], body["kind"]) for backend, body in made(TEMPLATE, "x", "ab").items()} == {
        backend: entry.template for backend, entry in BARE_METAL.items()
    }
    assert plane["status"]["version"] == plane["spec"]["version"]


def made(makers: Any, *arguments: str) -> dict[Any, Object]:
    return {backend: make(CLUSTER, *arguments) for backend, make in makers.items()}
