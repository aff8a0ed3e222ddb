"""Flux Kustomizations of a layout: order, readiness, deletion marks, and paths."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from components.render.manifest import Manifest, Readiness
from components.render.objects import LABEL_LIMIT, manifest
from components.specs.struct import replace
from jacquard.delivery import flux
from jacquard.delivery.layout import Deletion, Layout, Phase, deletion, layout
from tests.support.data.environment_data import reference

NAMES = ("laptop", "us-east-04a")


@cache
def parts_of(name: str) -> Layout:
    return layout(reference(name))


@cache
def kustomizations(name: str) -> dict[tuple[str, str], Any]:
    items = flux.delivery(parts_of(name), flux.DEFAULT_SOURCE, f"regions/{name}")
    return {(str(item.namespace), item.name): item.body["spec"] for _, item in items}


def spec_of(name: str, path: str) -> Any:
    [spec] = [spec for spec in kustomizations(name).values() if spec["path"] == f"./regions/{name}/{path}"]
    return spec


@pytest.mark.parametrize("name", NAMES)
def test_each_part_has_a_kustomization_that_depends_on_those_of_its_needs(name: str) -> None:
    parts, specs = parts_of(name), kustomizations(name)
    paths = {key: spec["path"].removeprefix(f"./regions/{name}/") for key, spec in specs.items()}

    assert set(parts.by_path) < set(paths.values())
    for key, spec in specs.items():
        if part := parts.by_path.get(paths[key]):
            needed = [(entry["namespace"], entry["name"]) for entry in spec.get("dependsOn", ())]
            assert [paths[key] for key in needed] == list(part.needs)
            assert (spec["prune"], spec["deletionPolicy"]) == (True, "Orphan")


@pytest.mark.parametrize("name", NAMES)
def test_names_are_unique_and_fit_into_the_label_that_flux_sets(name: str) -> None:
    listed = [(item.namespace, item.name) for _, item in flux.delivery(parts_of(name), flux.DEFAULT_SOURCE, ".")]

    assert len(set(listed)) == len(listed)
    assert max(len(own) for _, own in listed) <= LABEL_LIMIT


def test_objects_of_a_tenant_cluster_are_applied_with_its_kubeconfig_from_its_namespace() -> None:
    spec = kustomizations("laptop")["acme-train", "inside-cluster-acme-train-objects"]

    assert spec["kubeConfig"] == {"secretRef": {"name": "acme-train-kubeconfig"}}
    assert spec["sourceRef"] == {"kind": "GitRepository", "name": "flux-system", "namespace": "flux-system"}


def test_kustomizations_in_namespaces_of_clusters_follow_those_namespaces() -> None:
    inside = kustomizations("laptop")["flux-system", "laptop-inside"]
    folders = {item.namespace: folder for folder, item in flux.delivery(parts_of("laptop"), flux.DEFAULT_SOURCE, ".")}

    assert inside["dependsOn"] == [{"name": "foundation-base"}]
    assert inside["path"] == "./regions/laptop/delivery-inside"
    assert folders == {"flux-system": "delivery", "acme-train": "delivery-inside", "globex-lab": "delivery-inside"}


def test_a_control_plane_is_ready_under_the_conditions_of_up() -> None:
    spec = spec_of("laptop", "tenant-acme/management/objects")

    assert spec["healthChecks"] == [
        {
            "apiVersion": "controlplane.cluster.x-k8s.io/v1alpha2",
            "kind": "KamajiControlPlane",
            "name": "acme-train",
            "namespace": "acme-train",
        }
    ]
    assert spec["healthCheckExprs"] == [
        {
            "apiVersion": "controlplane.cluster.x-k8s.io/v1alpha2",
            "kind": "KamajiControlPlane",
            "current": (
                "has(status.initialization) && has(status.initialization.controlPlaneInitialized)"
                " && string(status.initialization.controlPlaneInitialized) == 'true'"
                " && has(status.conditions)"
                " && status.conditions.exists(c, c.type == 'Available' && c.status == 'True')"
                " && has(status.version) && string(status.version) == 'v1.35.2'"
            ),
        }
    ]


def test_objects_of_a_kind_with_several_versions_are_distinguished_by_name() -> None:
    parts = parts_of("laptop")
    versions = ("jsonpath={.status.version}=v1", "jsonpath={.status.version}=v2", "condition=Idle=False")
    items = tuple(
        replace(made("Plane", name), readiness=Readiness(conditions=(condition,), timeout_seconds=60))
        for name, condition in zip("abc", versions, strict=True)
    )
    one = replace(parts.parts[0], awaited=items)

    [*_, (_, item)] = flux.delivery(replace(parts, parts=(one,)), flux.DEFAULT_SOURCE, ".")

    assert item.body["spec"]["healthCheckExprs"] == [
        {
            "apiVersion": "x.io/v1",
            "kind": "Plane",
            "current": (
                "(metadata.name in ['a'] && has(status.version) && string(status.version) == 'v1')"
                " || (metadata.name in ['b'] && has(status.version) && string(status.version) == 'v2')"
                " || (metadata.name in ['c'] && has(status.conditions)"
                " && status.conditions.exists(c, c.type == 'Idle' && c.status == 'False'))"
            ),
        }
    ]


def test_a_failed_job_ends_the_wait() -> None:
    parts = parts_of("laptop")
    job = Manifest(
        body={"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "restore", "namespace": "n"}},
        readiness=Readiness(conditions=("condition=Complete",), timeout_seconds=60),
    )
    one = replace(parts.parts[0], awaited=(job,))

    [*_, (_, item)] = flux.delivery(replace(parts, parts=(one,)), flux.DEFAULT_SOURCE, ".")

    [expressions] = item.body["spec"]["healthCheckExprs"]
    exists = "has(status.conditions) && status.conditions.exists(c, c.type == '{}' && c.status == 'True')"
    assert (expressions["current"], expressions["failed"]) == (exists.format("Complete"), exists.format("Failed"))


def test_a_condition_without_an_expression_is_refused() -> None:
    parts = parts_of("laptop")
    item = replace(made("Plane", "a"), readiness=Readiness(conditions=("jsonpath={.status}",), timeout_seconds=60))

    with pytest.raises(ValueError, match="has no expression") as error:
        list(flux.delivery(replace(parts, parts=(replace(parts.parts[0], awaited=(item,)),)), "x", "."))

    assert str(error.value) == (
        "condition 'jsonpath={.status}' has no expression; write condition=TYPE or jsonpath={.path}=VALUE"
    )


def made(kind: str, name: str) -> Manifest:
    return manifest("x.io/v1", kind, name, namespace="x", annotations={"a": "1"})


@pytest.mark.parametrize("name", NAMES)
def test_flux_only_prunes_objects_that_up_deletes_without_confirmation(name: str) -> None:
    items = [item for part in parts_of(name).parts for item in part.objects]

    for before, after in zip(items, flux.marked(items), strict=True):
        disabled = after.body["metadata"].get("annotations", {}).get("kustomize.toolkit.fluxcd.io/prune")
        assert disabled == (None if deletion(before) is Deletion.PRUNED else "disabled"), before.key
        assert {**after.body, "metadata": None} == {**before.body, "metadata": None}


def test_a_mark_keeps_the_other_annotations() -> None:
    [item] = flux.marked([replace(made("Plane", "a"), protect=True)])

    assert item.body["metadata"]["annotations"] == {"a": "1", "kustomize.toolkit.fluxcd.io/prune": "disabled"}


def test_the_power_of_hosts_is_left_to_cluster_api() -> None:
    ignoring = [spec["path"] for spec in kustomizations("laptop").values() if "ignore" in spec]

    assert ignoring == ["./regions/laptop/inventory-a/management/objects"]


def test_a_layout_in_the_root_of_its_source_has_short_paths() -> None:
    paths = [item.body["spec"]["path"] for _, item in flux.delivery(parts_of("laptop"), "OCIRepository/laptop", ".")]

    assert paths[:3] == ["./delivery", "./delivery-inside", "./foundation/management/base"]


@pytest.mark.parametrize("text", ["flux-system", "Bucket/x", "GitRepository/Flux", "GitRepository/", ""])
def test_another_source_is_refused(text: str) -> None:
    assert flux.source_problem(text) == (
        f"must be the GitRepository or OCIRepository in namespace flux-system (got '{text}'); "
        "write KIND/NAME, such as GitRepository/flux-system"
    )


def test_sources_of_flux_are_accepted() -> None:
    assert [flux.source_problem(text) for text in ("GitRepository/flux-system", "OCIRepository/laptop")] == [None, None]


def awaited_inside(name: str) -> Iterator[str]:
    for part in parts_of(name).parts:
        if part.is_inside and part.phase is Phase.OBJECTS:
            yield from (item.kind for item in part.awaited)


def test_readiness_inside_a_cluster_is_read_there() -> None:
    assert sorted(awaited_inside("laptop")) == ["CDI", "KubeVirt"]
