"""Restarts of pods that read a cluster's kubeconfig only when they start: affected Deployments, schedule, and role."""

from __future__ import annotations

from typing import Any

from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.control_planes.kubeconfig_readers import NAME, schedule
from components.render.manifest import MANAGEMENT, Manifest, objects
from components.render.platform_pods import KUBECTL
from components.render.region.region import RegionInput
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.region.region import ControlPlaneBackend
from jacquard.machine import paths
from tests.support.network.on_infiniband import on_infiniband


def concepts(environment: Environment) -> list[Any]:
    """Return the inputs of all slices."""
    return [item for part in slices(environment) for item in inputs(environment, part)]


def jobs(environment: Environment) -> dict[str, Manifest]:
    """Return the CronJob of each cluster that has one."""
    planes = [item for item in concepts(environment) if isinstance(item, HostedControlPlaneInput)]
    every = [item for plane in planes for item in objects(plane.render())]
    return {item.namespace or "": item for item in every if item.kind == "CronJob" and item.name == NAME}


def restarted(job: Manifest) -> set[str]:
    """Return the Deployments that a CronJob restarts."""
    [container] = job.body["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["args"][:3] == ["rollout", "restart", "deployments"]
    return {word for word in container["args"][3:] if not word.startswith("--")}


def reads(cluster: str, values: Any) -> bool:
    """Return whether ``values``, of a chart or of a Deployment, contain the name of the cluster's kubeconfig."""
    if isinstance(values, dict):
        return any(reads(cluster, value) for value in values.values())
    if isinstance(values, list):
        return any(reads(cluster, value) for value in values)
    return bool(values == f"{cluster}-kubeconfig")


def readers(environment: Environment) -> dict[str, set[str]]:
    """Return the Deployments and releases of the management cluster whose pods mount a kubeconfig, by namespace."""
    found: dict[str, set[str]] = {}
    for concept in concepts(environment):
        for item in objects(concept.render()):
            spec = item.body.get("spec") or {}
            pods = {"Deployment": spec.get("template"), "HelmRelease": spec.get("values")}.get(item.kind)
            if item.cluster == MANAGEMENT and reads(item.namespace or "", pods):
                found.setdefault(item.namespace or "", set()).add(item.name)
    return found


def test_every_pod_that_keeps_a_kubeconfig_is_restarted(laptop: Environment) -> None:
    large = load_environment("us-east-04a", paths.ROOT / "environments")
    regions = (laptop, large, on_infiniband(laptop))

    found = [{cluster: restarted(job) for cluster, job in jobs(region).items()} for region in regions]

    assert found == [readers(region) for region in regions]
    names = {name for clusters in found for deployments in clusters.values() for name in deployments}
    assert names >= {"cluster-autoscaler", "external-dns", "ib-kubernetes-ib-north"}


def test_a_restart_may_change_only_the_deployments_that_it_names(laptop: Environment) -> None:
    [plane, *_] = [item for item in concepts(laptop) if isinstance(item, HostedControlPlaneInput) and item.readers]
    [role] = [item for item in objects(plane.render()) if item.kind == "Role" and item.name == NAME]

    assert plane.readers is not None
    assert role.body["rules"] == [
        {
            "apiGroups": ["apps"],
            "resources": ["deployments"],
            "resourceNames": list(plane.readers.deployments),
            "verbs": ["get", "patch"],
        }
    ]


def test_restarts_are_weekly_and_much_more_frequent_than_kamajis_renewal(inputs_with: Any) -> None:
    [region] = inputs_with(RegionInput, control_planes=ControlPlaneBackend.KAMAJI)
    [release] = [item for item in objects(region.render()) if item.kind == "HelmRelease" and item.name == "kamaji"]
    flags = dict(flag.split("=") for flag in release.body["spec"]["values"]["extraArgs"])

    hours = int(flags["--certificate-expiration-deadline"].removesuffix("h"))

    # Two weekly runs may fail.
    assert hours > 3 * 7 * 24


def test_clusters_restart_at_different_times_of_the_week() -> None:
    times = [schedule(f"cluster-{number}") for number in range(20)]

    fields = [time.split() for time in times]
    assert len(set(times)) > 15
    assert all(rest == ["*", "*"] for _, _, *rest, _ in fields)
    assert {int(day) for *_, day in fields} <= set(range(7))
    assert {int(hour) for _, hour, *_ in fields} <= set(range(24))
    assert {int(minute) for minute, *_ in fields} <= set(range(60))


def test_a_region_without_the_tool_restarts_nothing(laptop: Environment) -> None:
    tools = tuple(tool for tool in laptop.versions.tools if tool.name != KUBECTL)
    without = laptop.model_copy(update={"versions": laptop.versions.model_copy(update={"tools": tools})})

    assert jobs(without) == {}
