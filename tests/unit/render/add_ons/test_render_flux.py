"""The repository that delivers a cluster: objects and their content."""

from __future__ import annotations

import json
from typing import Any

from components.inputs.manifests import everything
from components.render.add_ons.flux import FluxInput
from components.render.manifest import MANAGEMENT, objects
from components.specs.add_ons.flux import FluxSpec
from components.specs.reading.loader import load_environment
from jacquard.machine import paths

URL = "https://git.acme.example/platform/train"


def specs(**fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the specs of GitRepository and Kustomization for a repository in the data."""
    given = FluxInput(name="c1", cluster="c1", spec=FluxSpec(url=URL, **fields), placement={})
    *_, repository, applied = objects(given.render())
    return repository.body["spec"], applied.body["spec"]


def test_the_management_cluster_knows_nothing_of_a_repository() -> None:
    environment = load_environment("eu-south-03a", paths.ROOT / "environments")
    [placed] = [cluster for tenant in environment.tenants for cluster in tenant.clusters if cluster.flux]
    assert placed.flux
    assert placed.flux.secret

    items = list(everything(environment))

    sources = [item for item in items if placed.flux.url in json.dumps(dict(item.body))]
    assert [(item.cluster, item.kind) for item in sources] == [(placed.name, "GitRepository")]
    logins = [item for item in items if f'"{placed.flux.secret}"' in json.dumps(dict(item.body))]
    assert {item.cluster for item in logins} == {placed.name}


def test_objects_of_flux_reference_no_other_namespace_and_no_other_cluster() -> None:
    environment = load_environment("eu-south-03a", paths.ROOT / "environments")
    found = [item for item in everything(environment) if item.cluster != MANAGEMENT and "toolkit" in item.api_version]

    assert {item.kind for item in found} == {"GitRepository", "Kustomization"}
    for item in found:
        assert not {"kubeConfig", "serviceAccountName", "targetNamespace"} & item.body["spec"].keys()
        assert "namespace" not in item.body["spec"].get("sourceRef", {})


def test_a_range_of_versions_is_followed_as_well_as_a_branch() -> None:
    repository, applied = specs(semver=">=1.0.0 <2.0.0", interval_minutes=1)

    assert repository == {"url": URL, "ref": {"semver": ">=1.0.0 <2.0.0"}, "interval": "1m"}
    assert (applied["path"], applied["interval"]) == ("./", "1m")


def test_the_end_of_a_hand_over_keeps_the_tenants_objects() -> None:
    given = FluxInput(name="c1", cluster="c1", spec=FluxSpec(url=URL, branch="main"), placement={})
    place, *_, repository, applied = objects(given.render())

    # Flux finalizes both, but its pods do not run after the deletion of the nodes or of Flux.
    assert [(item.kind, item.retain) for item in (place, repository, applied)] == [
        ("Namespace", True),
        ("GitRepository", True),
        ("Kustomization", True),
    ]
    assert applied.body["spec"]["deletionPolicy"] == "Orphan"
