"""Operators delivered by manifests: Flux objects, their order, and the takeover from a chart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from components.render.manifest import Manifest
from components.render.region.kustomizations import ByManifests, installed, installed_in, repository
from components.render.region.operators import Operator, release, tenant_release
from components.specs.region.versions import ManifestArtefact

DIGEST = f"sha256:{1:064x}"
ARTEFACT = ManifestArtefact(
    name="driver",
    url="oci://registry.cloud.example/manifests/driver",
    version="v1.2.0",
    digest=DIGEST,
    made_from="driver.yaml of some/driver v1.2.0",
)
CERTIFICATES = Operator(chart="certificates", namespace="certificates")
DRIVER = Operator(chart="driver", namespace="driver-system", depends_on=("certificates",))
AGENT = Operator(chart="agent", namespace="agent", depends_on=("certificates", "driver"), values={"a": 1})
BY_MANIFESTS = ByManifests(artefacts={"driver": ARTEFACT})
HANDED_OVER = ByManifests(artefacts={"driver": ARTEFACT}, handed_over=frozenset({"driver"}))
SPEC = {
    "sourceRef": {"kind": "OCIRepository", "name": "driver", "namespace": "operators"},
    "path": "./",
    "targetNamespace": "driver-system",
    "interval": "1h",
    "retryInterval": "2m",
    "timeout": "600s",
    "prune": True,
    "wait": True,
}


def of_kind(items: Any, kind: str) -> dict[str, Manifest]:
    return {item.name: item for item in items if item.kind == kind}


def without_patches(item: Manifest) -> dict[str, Any]:
    return {key: value for key, value in item.body["spec"].items() if key != "patches"}


def patches(item: Manifest) -> list[tuple[Mapping[str, str], Any]]:
    return [(patch["target"], json.loads(patch["patch"])) for patch in item.body["spec"]["patches"]]


def test_a_digest_decides_which_manifests_are_fetched() -> None:
    found = repository(ARTEFACT)

    assert found.body["spec"] == {
        "url": ARTEFACT.url,
        "ref": {"tag": "v1.2.0", "digest": DIGEST},
        "interval": "24h",
    }
    assert found.body["metadata"]["annotations"] == {"jacquard.dev/manifests-of": ARTEFACT.made_from}


def test_manifests_are_awaited_at_their_digest_with_all_that_they_bring() -> None:
    found = of_kind(installed((CERTIFICATES, DRIVER), BY_MANIFESTS), "Kustomization")["driver"]

    assert (found.namespace, without_patches(found)) == ("operators", SPEC)
    assert found.readiness is not None
    assert found.readiness.conditions == ("condition=Ready", f"jsonpath={{.status.lastAppliedRevision}}={DIGEST}")


def test_in_a_tenants_cluster_flux_waits_for_no_pods() -> None:
    [found] = installed_in((DRIVER,), BY_MANIFESTS, "acme-train", {})

    assert (found.namespace, found.cluster) == ("acme-train", "management")
    assert without_patches(found) == {
        **SPEC,
        "timeout": "300s",
        "wait": False,
        "kubeConfig": {"secretRef": {"name": "acme-train-kubeconfig"}},
    }


def test_neither_a_namespace_nor_a_kind_is_deleted_with_the_manifests() -> None:
    operator = Operator(chart="driver", namespace="driver-system", flags=("--fast",), without=("a.b/C",))
    [found] = installed((operator,), BY_MANIFESTS)

    assert patches(found) == [
        (
            {"kind": "Namespace"},
            {"$patch": "delete", "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "any"}},
        ),
        (
            {"group": "apiextensions.k8s.io", "kind": "CustomResourceDefinition"},
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": "any", "annotations": {"kustomize.toolkit.fluxcd.io/prune": "disabled"}},
            },
        ),
        (
            {"group": "a.b", "kind": "C"},
            {"$patch": "delete", "apiVersion": "a.b/v1", "kind": "C", "metadata": {"name": "any"}},
        ),
        (
            {"group": "apps", "kind": "Deployment"},
            [{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--fast"}],
        ),
    ]


def test_objects_without_a_flux_dependency_are_applied_after_the_other_kind() -> None:
    found = tuple(installed((CERTIFICATES, DRIVER, AGENT), BY_MANIFESTS))

    assert [(item.kind, item.name) for item in found] == [
        ("HelmRelease", "certificates"),
        ("Kustomization", "driver"),
        ("HelmRelease", "agent"),
    ]
    assert found[1].after == (("HelmRelease", "certificates"),)
    assert found[2].body["spec"]["dependsOn"] == [{"name": "certificates"}]
    assert found[2].after == (("Kustomization", "driver"),)


def test_without_manifests_everything_is_a_release_as_before() -> None:
    operators = (CERTIFICATES, DRIVER, AGENT)

    assert tuple(installed(operators, ByManifests())) == tuple(map(release, operators))
    assert tuple(installed_in(operators, ByManifests(), "acme", {})) == tuple(
        tenant_release(one, "acme", {}, awaited=True) for one in operators
    )


@pytest.mark.parametrize(
    ("delivered", "former"),
    [
        (tuple(installed((CERTIFICATES, DRIVER), HANDED_OVER)), release(DRIVER)),
        (tuple(installed_in((DRIVER,), HANDED_OVER, "acme", {})), tenant_release(DRIVER, "acme", {}, awaited=True)),
    ],
    ids=["management", "tenant"],
)
def test_a_release_that_is_handed_over_rests_before_the_manifests_take_over(
    delivered: tuple[Manifest, ...], former: Manifest
) -> None:
    rests, takes_over = delivered[0], delivered[-1]

    # Otherwise unchanged, so that helm-controller sees the same release; its deletion uninstalls nothing.
    assert rests.body == {**former.body, "spec": {**former.body["spec"], "suspend": True}}
    assert rests.readiness is None
    assert ("HelmRelease", "driver") in takes_over.after
