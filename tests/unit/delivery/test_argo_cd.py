"""Argo CD Applications of a layout: slices in waves, destinations, and deletion marks."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from components.lookups.slices import SliceKind, needs
from components.render.objects import manifest
from components.specs.struct import replace
from jacquard.delivery import argo_cd
from jacquard.delivery.layout import Deletion, Layout, deletion, layout
from tests.support.data.environment_data import reference

NAMES = ("laptop", "us-east-04a")
URL = "ssh://git@git.example.com/regions.git"
WAVE, SYNC = "argocd.argoproj.io/sync-wave", "argocd.argoproj.io/sync-options"


@cache
def parts_of(name: str) -> Layout:
    return layout(reference(name))


@cache
def applications(name: str) -> dict[str, Any]:
    return {item.name: item.body for _, item in argo_cd.delivery(parts_of(name), URL, f"regions/{name}")}


@pytest.mark.parametrize("name", NAMES)
def test_each_folder_of_a_slice_has_an_application_after_those_of_the_slices_it_needs(name: str) -> None:
    parts, bodies = parts_of(name), applications(name)
    waves: dict[str, int] = {}
    for folder, slice_name in {(part.folder, part.slice_name) for part in parts.parts}:
        [body] = [body for body in bodies.values() if body["spec"]["source"]["path"] == f"regions/{name}/{folder}"]
        assert body["spec"]["source"]["directory"] == {"recurse": True}
        waves[slice_name] = int(body["metadata"]["annotations"][WAVE])

    assert len(bodies) == len({part.folder for part in parts.parts}) + 1
    for slice_name, needed in needs(reference(name)).items():
        assert slice_name == SliceKind.ENGINE or all(waves[other] < waves[slice_name] for other in needed)


def test_waves_are_as_few_as_the_order_of_slices_allows() -> None:
    waves = {name: body["metadata"]["annotations"].get(WAVE) for name, body in applications("laptop").items()}

    assert waves == {
        "laptop": None,
        "laptop-foundation": "0",
        "laptop-inventory-a": "1",
        "laptop-tenant-acme": "2",
        "laptop-tenant-globex": "2",
        "laptop-cluster-acme-train": "3",
        "laptop-cluster-acme-train-inside": "3",
        "laptop-cluster-globex-lab": "3",
        "laptop-cluster-globex-lab-inside": "3",
    }


def test_objects_go_to_the_cluster_to_which_they_belong() -> None:
    destinations = {name: body["spec"]["destination"] for name, body in applications("laptop").items()}

    assert destinations["laptop-cluster-acme-train"] == {"server": "https://kubernetes.default.svc"}
    assert destinations["laptop-cluster-acme-train-inside"] == {"name": "acme-train"}


def test_an_application_retries_until_operators_have_installed_their_kinds_and_deletes_nothing_with_itself() -> None:
    body = applications("laptop")["laptop-foundation"]

    assert body["spec"]["syncPolicy"]["syncOptions"] == [
        "ServerSideApply=true",
        "SkipDryRunOnMissingResource=true",
        "RespectIgnoreDifferences=true",
    ]
    assert body["spec"]["syncPolicy"]["retry"]["limit"] == -1
    assert "finalizers" not in body["metadata"]
    assert body["metadata"]["annotations"]["argocd.argoproj.io/compare-options"] == "ServerSideDiff=true"


@pytest.mark.parametrize("name", NAMES)
def test_argo_cd_only_prunes_objects_that_up_deletes_without_confirmation(name: str) -> None:
    items = [item for part in parts_of(name).parts for item in part.objects]
    expected = {
        Deletion.NEVER: "Prune=false,Delete=false",
        Deletion.CONFIRMED: "Prune=confirm,Delete=confirm",
        Deletion.PRUNED: None,
    }

    marks = {item.key: item.body["metadata"].get("annotations", {}).get(SYNC) for item in argo_cd.marked(items)}

    assert marks == {item.key: expected[deletion(item)] for item in items}
    assert set(marks.values()) == set(expected.values())


def test_a_mark_keeps_the_other_annotations() -> None:
    item = manifest("v1", "Namespace", "a", annotations={"a": "1"})

    [marked] = argo_cd.marked([replace(item, retain=True)])

    assert marked.body["metadata"]["annotations"] == {"a": "1", SYNC: "Prune=false,Delete=false"}


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("", "''"),
        ("git.example.com/x", "'git.example.com/x'"),
        ("https://user:word@git.example.com/x", "'https://[secret]@git.example.com/x'"),
        ("GitRepository/x", "'GitRepository/x'"),
    ],
)
def test_another_source_is_refused(text: str, got: str) -> None:
    assert argo_cd.source_problem(text) == (
        f"must be the URL of a Git repository by HTTPS or SSH, without a password (got {got}); "
        "write such as ssh://git@git.example.com/regions.git"
    )


def test_urls_of_repositories_are_accepted() -> None:
    assert [argo_cd.source_problem(text) for text in (URL, "https://git.example.com/regions.git")] == [None, None]
