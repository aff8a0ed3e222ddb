"""Objects in namespaces of teams, except the policies, which tests/property evaluates."""

from __future__ import annotations

import pytest

from components.inputs.cluster_namespaces import of_cluster, platform_namespaces
from components.inputs.manifests import everything
from components.lookups.pools import PlacedCluster, clusters
from components.render.manifest import Manifest
from components.specs.control_planes.api_server import OidcSpec
from components.specs.control_planes.cluster_namespaces import NamespaceSpec
from components.specs.environment import Environment
from components.specs.struct import replace
from tests.support.data.environment_data import REFERENCES, reference

PROVIDER = OidcSpec(issuer_url="https://login.example", client_id="lab", groups_claim="groups", groups_prefix="g:")
LEVEL = "pod-security.kubernetes.io"


def lab(environment: Environment, **fields: object) -> PlacedCluster:
    [placed] = [placed for placed in clusters(environment) if placed.cluster.name == "globex-lab"]
    return replace(placed, cluster=placed.cluster.model_copy(update=fields))


def rendered(environment: Environment, spec: NamespaceSpec) -> dict[str, Manifest]:
    [found] = of_cluster(environment, lab(environment, namespaces=(spec,), oidc=PROVIDER))
    return {f"{item.kind} {item.name}": item for item in found.render()}


def test_a_cluster_that_lists_no_namespaces_has_none(laptop: Environment) -> None:
    assert list(of_cluster(laptop, lab(laptop, namespaces=()))) == []


def test_a_level_is_rendered_with_its_version_and_the_strictest_one_warns(laptop: Environment) -> None:
    spec = NamespaceSpec(name="team", pod_security="baseline", pod_security_version="v1.35")
    labels = rendered(laptop, spec)["Namespace team"].body["metadata"]["labels"]

    assert {key.removeprefix(f"{LEVEL}/"): value for key, value in labels.items() if key.startswith(LEVEL)} == {
        "enforce": "baseline",
        "enforce-version": "v1.35",
        "audit": "restricted",
        "audit-version": "latest",
        "warn": "restricted",
        "warn-version": "latest",
    }


def test_groups_have_kubernetes_own_roles_in_their_namespace_by_the_name_that_it_sees(laptop: Environment) -> None:
    made = rendered(laptop, NamespaceSpec(name="team", edit_group="makers", view_group="guests"))
    bindings = {item.name: item for item in made.values() if item.kind == "RoleBinding"}

    assert {item.namespace for item in bindings.values()} == {"team"}
    assert {item.body["roleRef"]["name"]: item.body["subjects"][0]["name"] for item in bindings.values()} == {
        "edit": "g:makers",
        "view": "g:guests",
    }


def test_a_namespace_without_policies_quota_and_groups_is_only_a_namespace(laptop: Environment) -> None:
    assert [*rendered(laptop, NamespaceSpec(name="team", isolation="none"))] == ["Namespace team"]


@pytest.mark.parametrize("name", REFERENCES)
def test_each_namespace_of_the_platform_in_a_cluster_is_known_as_such(name: str) -> None:
    environment = reference(name)
    made = {(item.cluster, item.name) for item in everything(environment) if item.kind == "Namespace"}
    for placed in clusters(environment):
        listed = {one.name for one in placed.cluster.namespaces}
        ours = {space for cluster, space in made if cluster == placed.cluster.name} - listed
        assert ours <= platform_namespaces(environment, placed)
