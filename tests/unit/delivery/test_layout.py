"""Parts of an environment for GitOps controllers: each object once, in dependency order, with deletion protection."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import SliceKind, needs, slices
from components.render.manifest import MANAGEMENT, Manifest, created, patched
from jacquard.delivery.layout import HOSTS, Deletion, Layout, Part, Phase, deletion, layout
from jacquard.providers.objectset.claims import DEPENDENTS, USES
from tests.support.data.environment_data import reference
from tests.support.data.workbench import Workbench
from tests.support.objects.published_crds import BUILT_IN

NAMES = ("laptop", "us-east-04a")
ETCD_BYTES = 1_500_000
"""Size of a request that etcd rejects; Flux lists the objects of a Kustomization in its status."""


@cache
def parts_of(name: str) -> Layout:
    return layout(reference(name))


def closure(parts: Layout, part: Part) -> set[str]:
    """Return the paths of all parts that are applied before ``part``."""
    found: set[str] = set()
    waiting = list(part.needs)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += parts.by_path[path].needs
    return found


def find(name: str, kind: str) -> Manifest:
    return next(item for part in parts_of(name).parts for item in part.objects if item.kind == kind)


@pytest.mark.parametrize("name", NAMES)
def test_each_object_is_in_one_part_of_its_slice(name: str) -> None:
    environment, parts = reference(name), parts_of(name)
    delivered = (piece for piece in slices(environment) if piece.kind is not SliceKind.ENGINE)
    expected = {piece.name: manifests(environment, piece) for piece in delivered}

    for slice_name, rendered in expected.items():
        listed = [item.key for part in parts.parts if part.slice_name == slice_name for item in part.objects]
        assert sorted(listed) == sorted(item.key for item in created(rendered))
    assert {part.slice_name for part in parts.parts} == set(expected)


@pytest.mark.parametrize("name", NAMES)
def test_objects_that_are_only_patched_are_omitted_and_counted(name: str) -> None:
    environment = reference(name)
    kinds = [item.kind for piece in slices(environment) for item in patched(manifests(environment, piece))]

    assert kinds
    assert parts_of(name).omitted == {kind: kinds.count(kind) for kind in sorted(set(kinds))}


@pytest.mark.parametrize("name", NAMES)
def test_a_part_follows_all_parts_of_the_slices_that_its_slice_needs(name: str) -> None:
    parts, order = parts_of(name), [part.path for part in parts_of(name).parts]
    by_slice: dict[str, set[str]] = {}
    for part in parts.parts:
        by_slice.setdefault(part.slice_name, set()).add(part.path)

    for place, part in enumerate(parts.parts):
        assert set(part.needs) <= set(order[:place]), "the order has a cycle"
        for needed in needs(reference(name))[part.slice_name]:
            assert by_slice[needed] <= closure(parts, part)


@pytest.mark.parametrize("name", NAMES)
def test_a_part_needs_no_kind_that_its_own_objects_install(name: str) -> None:
    for part in parts_of(name).parts:
        versions = {item.api_version for item in part.objects}
        if part.phase is Phase.BASE:
            assert all(one in BUILT_IN or (".fluxcd.io/" in one and not part.is_inside) for one in versions)
        else:
            assert not versions & BUILT_IN
    places = {item.kind: part for part in parts_of(name).parts for item in part.objects}
    for installer, installed in (("KubeVirt", "VirtualMachineClusterInstancetype"), ("CoreProvider", "Cluster")):
        assert places[installer].path in closure(parts_of(name), places[installed])


@pytest.mark.parametrize("name", NAMES)
def test_no_part_of_a_slice_waits_until_objects_of_its_slice_are_ready(name: str) -> None:
    parts = parts_of(name)
    waiting = {part.path: part for part in parts.parts if part.awaited}

    for part in parts.parts:
        assert [path for path in part.needs if path in waiting and waiting[path].slice_name == part.slice_name] == []
    assert sorted(item.key for part in waiting.values() for item in part.awaited) == sorted(
        item.key for part in parts.parts for item in part.objects if item.readiness is not None
    )


def test_releases_follow_the_namespaces_inside_their_cluster() -> None:
    parts = parts_of("laptop")
    releases = parts.by_path["cluster-acme-train/management/base"]

    assert releases.needs == ("tenant-acme/management/objects", "cluster-acme-train/acme-train/base")


def test_an_object_keeps_its_part_when_others_are_removed(laptop: Workbench) -> None:
    """An object that changes its part would be deleted by one Kustomization, and created by the other."""
    before = places(layout(laptop.load()))
    laptop.edit("tenants/acme.yaml", "storage: [shared-nfs, shared-vast]", "storage: [shared-vast]")
    laptop.edit("tenants/acme.yaml", "storage_class: shared-nfs", "storage_class: shared-vast")

    after = places(layout(laptop.load()))

    assert len(after) < len(before)
    assert {key: before[key] for key in after} == after


def places(parts: Layout) -> Mapping[str, str]:
    return {item.key: part.path for part in parts.parts for item in part.objects}


@pytest.mark.parametrize("name", NAMES)
def test_objects_that_up_protects_or_retains_are_never_deleted(name: str) -> None:
    items = [item for part in parts_of(name).parts for item in part.objects]
    kept = [item for item in items if item.protect or item.retain or item.kind == "BareMetalHost"]

    assert {item.kind for item in kept} >= {"BareMetalHost", "Cluster", "KamajiControlPlane", "Metal3MachineTemplate"}
    assert {deletion(item) for item in kept} == {Deletion.NEVER}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Namespace", Deletion.CONFIRMED),
        ("MachineDeployment", Deletion.CONFIRMED),
        ("DPUDeployment", Deletion.CONFIRMED),
        ("StorageClass", Deletion.CONFIRMED),
        ("DataSource", Deletion.CONFIRMED),
        ("HelmRelease", Deletion.CONFIRMED),
        ("CronJob", Deletion.PRUNED),
        ("IPPool", Deletion.PRUNED),
        ("PrometheusRule", Deletion.PRUNED),
    ],
)
def test_objects_that_need_confirmation_are_only_deleted_after_it(kind: str, expected: Deletion) -> None:
    assert deletion(find("laptop", kind)) is expected


def test_hosts_are_the_kinds_whose_use_the_provider_of_object_sets_checks() -> None:
    assert {f"{group}/{kind}" for group, kind in {*USES, *DEPENDENTS}} == HOSTS


@pytest.mark.parametrize("name", NAMES)
def test_the_inventory_of_a_part_fits_into_an_object(name: str) -> None:
    """Flux stores ``namespace_name_group_kind`` and version of each object in the status of the Kustomization."""
    for part in parts_of(name).parts:
        entries = [entry(item) for item in part.objects]
        assert len(json.dumps({"inventory": {"entries": entries}})) < ETCD_BYTES / 2, part.path


def entry(item: Manifest) -> dict[str, str]:
    group, _, version = item.api_version.rpartition("/")
    return {"id": "_".join((item.namespace or "", item.name, group, item.kind)), "v": version}


def test_slices_without_objects_inside_have_parts_of_the_management_cluster_only() -> None:
    folders = {part.folder for part in parts_of("laptop").parts if part.slice_name.startswith("tenant-")}

    assert folders == {f"tenant-acme/{MANAGEMENT}", f"tenant-globex/{MANAGEMENT}"}
